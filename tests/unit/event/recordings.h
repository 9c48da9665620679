// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings as they leave the kernel, written record by record, and traces as lines to compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "event/left_out_stacks.h"
#include "event/named_stacks.h"
#include "event/recording.h"
#include "model/trace.h"
#include "offwait/event.h"

namespace offwait::test {

template <class Record>
std::span<const std::byte> bytes_of(const Record& record) {
  return std::as_bytes(std::span(&record, 1));
}

struct Waker {
  offwait_waker_kind kind = OFFWAIT_WAKER_UNKNOWN;
  std::uint32_t id = 0;
};
inline Waker by_thread(std::uint32_t tid) { return {OFFWAIT_WAKER_THREAD, tid}; }
inline constexpr Waker kTimer{OFFWAIT_WAKER_TIMER, 0};

/// A wait in futex(2) without stacks.
offwait_wait wait_of(std::uint32_t tid, std::uint64_t block, std::uint64_t wake, std::uint64_t run,
                     Waker waker);
/// Each tid is a thread of its own.
inline LeftOutStacks::Threads threads_of(const offwait_wait& wait) { return {wait.tid, wait.waker_id}; }
offwait_preemption preemption_of(std::uint32_t tid, std::uint64_t out, std::uint64_t run);
offwait_gap gap_of(std::uint32_t tid, std::uint64_t from, std::uint64_t to);
offwait_io io_of(std::uint32_t tid, std::uint32_t dev, std::uint64_t issue, std::uint64_t complete,
                 std::uint32_t bytes);

/// Frames named `k<pc>` and `u<tgid>:<pc>`; pc 0 has no frame.
NamedStacks named_stacks(const KernelRecording& recording);

/// A recording that a test writes record by record. Unless the test says otherwise, threads belong to process
/// 10 and to the target.
class RecordingByHand {
 public:
  RecordingByHand(Nanos begin, Nanos end) { recording.window = {begin, end}; }

  void seen(std::uint32_t tid, std::uint64_t start, std::uint64_t at, const std::string& comm = "t");
  void seen_outside(std::uint32_t tid, std::uint64_t start, std::uint64_t at, const std::string& comm = "t");
  void seen_recorder(std::uint32_t tid, std::uint64_t start, std::uint64_t at, const std::string& comm = "t");
  void born(std::uint32_t tid, std::uint64_t start, const std::string& comm = "t", std::uint32_t parent = 0);
  void entered(std::uint32_t tid, std::uint64_t start, std::uint64_t at, const std::string& comm = "t");
  void named(std::uint32_t tid, std::uint64_t at, const std::string& comm);
  void exited(std::uint32_t tid, std::uint64_t at);
  void wait(std::uint32_t tid, std::uint64_t block, std::uint64_t wake, std::uint64_t run, Waker waker) {
    append(wait_of(tid, block, wake, run, waker));
  }
  template <class Record>
  void append(const Record& record) {
    appended = recording.records.append(bytes_of(record)) && appended;
  }
  /// Adds a thread to the kernel's table at the end; the caller may fill in more.
  offwait_thread& left(std::uint32_t tid, std::uint64_t start, offwait_state state, std::uint64_t since);
  void stack(std::uint32_t id, std::uint32_t tgid, const std::vector<std::uint64_t>& pcs);

  /// The trace that is assembled from it with named_stacks().
  Trace trace() const;

  KernelRecording recording;
  bool appended = true;

 private:
  void thread_event(offwait_thread_event event, std::uint32_t tid, std::uint64_t start, std::uint64_t at,
                    const std::string& comm, offwait_outside outside, std::uint32_t parent = 0);
};

/// Every entry of the trace, in the trace's order:
///   thread 10/11 NAME[×LIVES] [START,EXIT) seen SEEN [outside] [recorder] [child of TID]
///   disk vda
///   wait 11@START [BLOCK,WAKE,RUN) CLASS <- thread 12@START [stack leaf;root] [waker_stack leaf;root]
///     [in flight] [held by 12@START]
///   preempt 11@START [OUT,RUN)
///   gap 11@START [FROM,TO)
///   on_cpu 11@START AT [stack leaf;root]
///   responses 11@START PORT|PATH COUNT to CONNECTIONS [FIRST,LAST]
///   calls 11@START FUNCTION COUNT [FIRST,LAST]
///   sample vda AT BYTES IOS
///   io 11@START vda [ISSUE,COMPLETE) BYTES
///   loss NAME COUNT                     (only counters that are not 0)
std::vector<std::string> lines(const Trace& trace);

}  // namespace offwait::test
