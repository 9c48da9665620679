// SPDX-License-Identifier: GPL-2.0-or-later
// What to record, and how: all that a recording needs to be told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "device/capacity.h"
#include "model/thread_filter.h"

namespace offwait {

/// What the user calls the target. Exactly one member is set.
struct TargetOptions {
  std::vector<std::int32_t> pids;
  std::int32_t tid = 0;
  std::string cgroup;     ///< its directory
  std::string unit;       ///< of systemd
  std::string container;  ///< its id, or the beginning of it
  bool all = false;
  std::vector<std::string> command_line;  ///< a program to run, and its arguments
};

/// Functions between whose calls a thread waits busily: --spin LOCK[,UNLOCK].
struct SpinFunction {
  std::string lock;
  std::string unlock;  ///< empty: not given
};

struct RecordingOptions {
  TargetOptions target;
  std::optional<Nanos> duration;  ///< none: until interrupted, or until the target exits
  bool stacks = true;
  std::uint32_t sample_hz = 99;  ///< CPU samples a second on each CPU; 0: no samples
  bool java = false;             ///< ask JVMs for the names of the code that they have compiled
  bool debuginfod = false;       ///< ask debuginfod-find for debug files
  std::vector<SpinFunction> spins;
  /// Only checked here: a pattern that matches nobody when the recording begins, or a device that this host
  /// does not have, is told before the time is spent. The trace has all threads and what the host knows of
  /// its devices.
  ThreadFilter filter;
  GivenCapacities given_capacities;
  bool quiet = false;            ///< show no progress and no warnings on standard error
  std::string recorder_version;  ///< kept with the recording
};

}  // namespace offwait
