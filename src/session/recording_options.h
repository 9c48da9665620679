// SPDX-License-Identifier: GPL-2.0-or-later
// What to record and how: everything that a recording depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "device/capacity.h"
#include "model/thread_filter.h"

namespace offwait {

/// The target in the user's words. Exactly one member is set, or `pids` and `names`.
struct TargetOptions {
  std::vector<std::int32_t> pids;
  std::vector<std::string> names;  ///< of processes, beside `pids`; each is the name of one
  std::int32_t tid = 0;
  std::string cgroup;     ///< the cgroup's directory
  std::string unit;       ///< a systemd unit
  std::string container;  ///< a container's id, or the beginning of it
  bool all = false;
  std::vector<std::string> command_line;  ///< a program to run, and its arguments
};

/// Functions between whose calls a thread waits busily: --spin LOCK[,UNLOCK].
struct SpinFunction {
  std::string lock;
  std::string unlock;  ///< empty: not given
};

/// A function whose calls count as progress: --progress-at [MODULE:]FUNCTION.
struct CountedFunction {
  std::string module;  ///< the name of a file that the target has mapped, or a path; empty: any such file
  std::string name;
};

struct RecordingOptions {
  TargetOptions target;
  std::optional<Nanos> duration;           ///< none: until interrupted, or until the target exits
  std::optional<Nanos> start_at;           ///< begin at a multiple of this time of the wall clock
  std::uint64_t max_memory = 512'000'000;  ///< bytes that records may have of memory
  bool stacks = true;
  double max_overhead = 0.03;    ///< as CaptureOptions::most_overhead; 0: all stacks are taken
  std::uint32_t sample_hz = 99;  ///< CPU samples a second on each CPU; 0: no samples
  bool java = false;             ///< ask JVMs for the names of the code that they have compiled
  bool debuginfod = false;       ///< ask debuginfod-find for debug files
  std::vector<SpinFunction> spins;
  std::optional<CountedFunction> counted;
  /// These three are only checked here, so that a pattern without a match or a device that this host does not
  /// have is reported before time is spent on the recording. The trace has all threads, and the host's own
  /// knowledge of its devices.
  ThreadFilter filter;
  std::vector<std::string> progress_threads;  ///< patterns of --progress
  GivenCapacities given_capacities;
  bool quiet = false;            ///< show no progress and no warnings on standard error
  std::string recorder_version;  ///< kept with the recording
};

}  // namespace offwait
