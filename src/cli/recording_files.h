// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings in a directory: how they are called, and which of them is the newest.
#pragma once

#include <cstddef>
#include <string>

#include "base/nanos.h"
#include "base/result.h"
#include "session/recording_options.h"

namespace offwait::cli {

/// `offwait-mariadbd-20261123T044312.345Z.offwait`, of a recording that is made now (ns since 1970).
std::string file_name_for(const TargetOptions& target, Nanos now);

struct NewestRecording {
  std::string path;
  std::size_t recordings = 0;  ///< that the directory has
};

/// The recording in the directory that was written to last. Recordings are files that end in .offwait, as
/// those of a flight recorder do.
Result<NewestRecording> newest_recording(const std::string& directory);

}  // namespace offwait::cli
