// SPDX-License-Identifier: GPL-2.0-or-later
// What this host allows of recording. Found by trying, with what the recorder itself uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace offwait {

enum class FeatureState : std::uint8_t {
  ok,
  degraded,  ///< recording is possible without it, and the worse for it
  missing,   ///< recording is impossible without it
  unknown,   ///< this process may not find out
};

struct HostFeature {
  std::string name;
  FeatureState state = FeatureState::ok;
  std::string value;    ///< what was found; may hold names of files
  std::string meaning;  ///< what is the worse for it, or what to do; empty: nothing
};

struct Host {
  std::vector<HostFeature> features;
  Status recording = success();  ///< why it is impossible
};

/// Records this process for a moment.
Host examine_host();

}  // namespace offwait
