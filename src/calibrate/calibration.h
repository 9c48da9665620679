// SPDX-License-Identifier: GPL-2.0-or-later
// The capacities of disks that `offwait calibrate` measured, and the file that keeps them for later
// recordings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

inline constexpr const char* kStateDirectory = "/var/lib/offwait";

/// The most that a disk did.
struct Throughput {
  double bytes_per_s = 0;
  double ios_per_s = 0;
};

struct Calibration {
  std::string identity;     ///< disk_identity() (capture/block_devices.h): printable ASCII, not empty
  std::string disk;         ///< its name at that time, for people; printable ASCII
  std::string measured_on;  ///< the day, UTC: 2026-11-21
  Throughput read;
  std::optional<Throughput> write;  ///< none: only reads were measured, as for whole devices

  /// The larger figure of read and write, separately for bytes and for IOs: the recorded counters of a disk
  /// do not tell reads and writes apart.
  Throughput most() const;
};

/// The stored form, JSON `"schema": "offwait-disks/1"`. The parser trusts nothing: whatever differs from what
/// to_json() writes is an error (a number that is not finite and above 0, an invalid day, an identity that is
/// empty, not printable or there twice, more than 4096 disks). Unknown keys are skipped.
std::string to_json(const std::vector<Calibration>& calibrations);
Result<std::vector<Calibration>> parse_calibrations(std::string_view json);

/// The stored calibrations; none if nothing is stored. An error names the file and says how to replace it.
Result<std::vector<Calibration>> stored_calibrations(const std::string& directory = kStateDirectory);

/// Checks that calibrations can be stored; creates the directory if there is none.
Status prepare_store(const std::string& directory = kStateDirectory);

/// Stores a calibration in place of an older one of the same disk identity; replaces a file that cannot be
/// read. The file has either the old or the new content at any time, and when two processes store at the same
/// time, both calibrations are kept.
Status store_calibration(const Calibration& calibration, const std::string& directory = kStateDirectory);

}  // namespace offwait
