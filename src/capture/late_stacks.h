// SPDX-License-Identifier: GPL-2.0-or-later
// Walks the user stacks that the BPF programs leave to user space (offwait_blocked): those of threads that
// were blocked before the recording began, and of threads that blocked while a mapping was still unknown, as
// happens right after an exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_set>
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
    __u64* added = nullptr;  ///< counts the entries that were added to `unwalked`, after each
  };

  explicit LateStacks(Maps maps) : maps_(maps) {}

  /// Walks the stacks of the threads that are still blocked, with the present tables, and finds the holders
  /// of the mutexes for which threads were blocked before the recording. A thread whose stack meets an
  /// unknown mapping is tried once more at the next call; before that, the caller should refresh the tables
  /// of the processes returned.
  std::set<std::int32_t> look(UnwindTables& tables);

  /// How many stacks were left out because there are too many.
  std::size_t left_out() const { return left_out_; }

  /// Adds the stacks found; they get ids that none of the recording's stacks has.
  void add_to(KernelRecording& recording) const;

  /// Whether a stack was found of a thread of this process.
  bool knows(std::int32_t tgid) const { return processes_.contains(tgid); }

  /// Drops what was found of waits that were over at `begin`.
  void forget_before(Nanos begin);

 private:
  struct Unwalked;
  std::vector<Unwalked> read_unwalked() const;
  /// Whether the thread is still in the wait that began at `since_ns`, as offwait_blocked has it.
  bool still_blocked(std::uint32_t tid, std::uint64_t start_ns, std::uint64_t since_ns,
                     offwait_thread& thread) const;

  struct Found {
    WaitBegin wait;
    BlockedThread thread;  ///< its stack has no id yet
    offwait_stack stack;
    std::optional<Nanos> over_at{};  ///< when forget_before() saw that the wait was over
  };

  Maps maps_;
  std::vector<Found> found_;
  std::unordered_set<std::int32_t> processes_;  ///< of `found_`; with forget_before() perhaps a few more
  std::size_t left_out_ = 0;
  std::set<WaitBegin> tried_;  ///< tried once, and met an unknown mapping
  __u64 seen_added_ = 0;       ///< when look() last read all entries
};

}  // namespace offwait
