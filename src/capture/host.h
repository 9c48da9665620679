// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out what this host allows of recording, by trying it with the recorder's own code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace offwait {

enum class FeatureState : std::uint8_t {
  ok,
  degraded,  ///< recording is possible without it, but worse
  missing,   ///< recording is impossible without it
  unknown,   ///< this process has no right to find out
};

struct HostFeature {
  std::string name;
  FeatureState state = FeatureState::ok;
  std::string value;    ///< what was found; may hold names of files
  std::string meaning;  ///< what is worse, or what to do; empty: nothing
};

struct Host {
  std::vector<HostFeature> features;
  Status recording = success();  ///< an Error says why recording is impossible
};

/// Examines the host; for that it records this process for a moment.
Host examine_host();

}  // namespace offwait
