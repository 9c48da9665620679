// SPDX-License-Identifier: GPL-2.0-or-later
// The sums of each second while it is recorded, from the kernel's records as they come. Each record costs a
// look-up by its thread: no stack, object or waker is looked at, and nothing is ordered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/nanos.h"
#include "event/recording.h"
#include "model/second.h"

namespace offwait {

class Seconds {
 public:
  /// The recording begins at `begin`.
  explicit Seconds(Nanos begin) : begin_(begin), part_end_(begin) {}

  /// Takes what RecordingSource::take() has returned since the last call, in order. With `has_counters` (of
  /// Taken::counters and Taken::tables) a second ends with it, and is returned: then the table of threads
  /// says what is still open, so the sums are whole.
  std::optional<Second> add(const KernelRecording& taken, bool has_counters);

 private:
  struct Thread {
    ThreadSecond sums{};
    std::uint64_t start_ns = 0;   ///< as offwait_thread_record::start_ns
    Nanos from = 0;               ///< recorded from this time on
    std::uint64_t last_left = 0;  ///< when its last interval began, as the record says
    bool recorder = false;
  };
  /// A part of a record that lies after the end of the part that it came with.
  struct Rest {
    std::uint32_t tid = 0;
    WaitClass wait_class = WaitClass::other;
    Nanos block = 0;
    Nanos wake = 0;
    Nanos run = 0;
  };
  using ResponsesKey = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;

  void add(const offwait_wait& record);
  void add(const offwait_preemption& record);
  void add(const offwait_gap& record);
  void add(const offwait_thread_record& record);
  template <class Other>
  void add(const Other&) {}
  void add_interval(Rest interval, std::uint64_t left);
  void add_clipped(Thread& thread, const Rest& interval);
  void add_open(std::uint32_t tid, const offwait_thread& open);
  SecondCounts counts_of(const KernelRecording& taken);
  Second close(const KernelRecording& taken);

  Nanos begin_;     ///< of the second
  Nanos part_end_;  ///< of the part that is added
  std::uint64_t waits_ = 0;
  std::unordered_map<std::uint32_t, Thread> threads_;  ///< by tid
  std::vector<ThreadSecond> exited_;                   ///< in this second, with tids that others have now
  std::vector<Rest> rest_;
  // The counters when the last second ended:
  SecondCounts counted_;
  std::map<ResponsesKey, std::uint64_t> responses_;
  std::map<ThreadKey, std::uint64_t> calls_;
};

}  // namespace offwait
