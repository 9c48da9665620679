// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the kernel says of the CPUs while a recording runs: how busy each is, which CPUs the target's
// threads may use, and which other processes run. The sources are /proc/stat and /proc/PID/stat of all
// processes. A hook that counted the switches of threads that are not recorded would cost every switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/nanos.h"
#include "capture/kernel_names.h"
#include "event/recording.h"
#include "model/cpus.h"
#include "process/cpu_use.h"

namespace offwait {

class CpuReadings {
 public:
  CpuReadings();

  /// Takes what the kernel told of a thread. Those of the target are asked for the CPUs that they may use.
  void note(const offwait_thread_record& thread);

  /// Reads all counters at the window's start.
  void begin();
  /// Asks threads of the target for their CPUs again if a second has passed: 1000 of them at a time. What a
  /// command runs first may bind it to a CPU (taskset).
  void read_if_due();
  /// Adds what was found so far, and what the counters of CPUs say now.
  void add_to(KernelRecording& recording) const;
  /// Reads all counters at the window's end, and adds all that was found.
  void end(KernelRecording& recording);
  /// Adds what other processes used in the recording's window, by what they have used now.
  void add_processes(KernelRecording& recording) const;

  /// Drops what is known of threads and processes that have exited, because a recording has it (add_to()).
  void forget_exited();

  // For a recording whose window moves on:

  /// Reads all processes once more if the last reading is as old as this.
  void read_processes_if_older(Nanos age);
  /// The window begins at `begin` now. What only the time before needs is forgotten, and so are these
  /// processes of the target, and threads, which have exited.
  void forget(Nanos begin, const std::vector<ThreadKey>& threads, const std::vector<std::int32_t>& processes);

 private:
  /// Asks a thread; false if it has exited.
  bool ask(const ThreadKey& thread);
  void inherit(const ThreadKey& thread, std::uint32_t parent);
  void ask_again(std::size_t most);
  void end_cpus(KernelRecording& recording) const;

  std::unordered_set<std::int32_t> processes_;  ///< of the target
  std::map<ThreadKey, std::int32_t> threads_;   ///< of the target, those that live, with their processes
  std::map<ThreadKey, CpuList> allowed_;        ///< as KernelRecording::allowed_cpus
  std::vector<std::uint32_t> online_;           ///< the numbers of the CPUs
  ThreadKey last_asked_{};
  Nanos next_ = 0;
  std::string stat_at_begin_;  ///< the text of /proc/stat

  struct ProcessReading {
    Nanos at = 0;
    ProcessTable processes;
  };
  std::deque<ProcessReading> process_readings_;  ///< the first one is that of the window's start
};

}  // namespace offwait
