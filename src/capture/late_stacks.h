// SPDX-License-Identifier: GPL-2.0-or-later
// Walks the user stacks that the BPF programs leave to user space (offwait_blocked): those of threads that
// were blocked before the recording began, and of threads that blocked while a mapping was still unknown, as
// happens right after an exec.
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

  /// Walks the stacks of the threads that are still blocked, with the present tables, and finds the holders
  /// of the mutexes for which threads were blocked before the recording. A thread whose stack meets an
  /// unknown mapping is tried once more at the next call; before that, the caller should refresh the tables
  /// of the processes returned.
  std::set<std::int32_t> look(UnwindTables& tables);

  /// Adds the stacks found; they get ids that the kernel has not used.
  void add_to(KernelRecording& recording) const;

 private:
  struct Unwalked;
  std::vector<Unwalked> read_unwalked() const;
  bool still_blocked(const Unwalked& one, offwait_thread& thread) const;

  struct Found {
    WaitBegin wait;
    BlockedThread thread;  ///< its stack has no id yet
    offwait_stack stack;
  };

  Maps maps_;
  std::vector<Found> found_;
  std::set<WaitBegin> tried_;  ///< tried once, and met an unknown mapping
};

}  // namespace offwait
