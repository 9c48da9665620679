// SPDX-License-Identifier: GPL-2.0-or-later
// User stacks that the BPF programs leave to user space (offwait_blocked): of threads that were blocked
// before the recording began, and of those that blocked where nothing was known of a mapping yet, as they do
// right after an exec.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "capture/unwind_tables.h"
#include "event/recording.h"

namespace offwait {

class LateStacks {
 public:
  /// Descriptors of the loaded maps; they stay the caller's.
  struct Maps {
    int unwalked = -1;
    int threads = -1;
  };

  explicit LateStacks(Maps maps) : maps_(maps) {}

  /// Walks the stacks of those that still are blocked there, by the tables as they are now, and looks for who
  /// holds the mutexes of those that were blocked before the recording. A thread that meets an unknown
  /// mapping is tried once more the next time: before, the tables of the processes returned should be
  /// refreshed.
  std::set<std::int32_t> look(UnwindTables& tables);

  /// Adds what was found; the stacks get ids that the kernel has not used.
  void add_to(KernelRecording& recording) const;

 private:
  struct Unwalked;
  std::vector<Unwalked> read_unwalked() const;
  bool still_blocked(const Unwalked& one, offwait_thread& thread) const;

  struct Found {
    WaitBegin wait;
    BlockedThread thread;  ///< whose stack has no id yet
    offwait_stack stack;
  };

  Maps maps_;
  std::vector<Found> found_;
  std::set<WaitBegin> tried_;  ///< once, and an unknown mapping was met
};

}  // namespace offwait
