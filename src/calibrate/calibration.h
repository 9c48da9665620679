// SPDX-License-Identifier: GPL-2.0-or-later
// What `offwait calibrate` has measured of disks, and the file that keeps it for later recordings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

inline constexpr const char* kStateDirectory = "/var/lib/offwait";

/// What a disk did at most.
struct Throughput {
  double bytes_per_s = 0;
  double ios_per_s = 0;
};

struct Calibration {
  std::string identity;     ///< disk_identity() (capture/block_devices.h): printable ASCII, not empty
  std::string disk;         ///< its name at that time, for people; printable ASCII
  std::string measured_on;  ///< the day, UTC: 2026-11-21
  Throughput read;
  std::optional<Throughput> write;  ///< none: only read, as devices are

  /// Whichever is more.
  Throughput most() const;
};

/// The stored form, JSON `"schema": "offwait-disks/1"`. Parsing takes nothing for granted: what is not as
/// to_json() writes it (a number that is not finite and above 0, a day that is none, an identity that is
/// empty, not printable or there twice, more than 4096 disks) is an error. Unknown keys are skipped.
std::string to_json(const std::vector<Calibration>& calibrations);
Result<std::vector<Calibration>> parse_calibrations(std::string_view json);

/// What is stored; nothing when nothing is. An error names the file and says how to replace it.
Result<std::vector<Calibration>> stored_calibrations(const std::string& directory = kStateDirectory);

/// Could be stored: makes the directory if there is none.
Status prepare_store(const std::string& directory = kStateDirectory);

/// Replaces what was stored of the disk of this identity, and a file that cannot be read. Either the old or
/// the new content is in the file at any time, and two that store at the same time both are heard.
Status store_calibration(const Calibration& calibration, const std::string& directory = kStateDirectory);

}  // namespace offwait
