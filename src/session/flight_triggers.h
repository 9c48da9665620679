// SPDX-License-Identifier: GPL-2.0-or-later
// What makes a flight recorder write a file without being told to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/nanos.h"
#include "event/recording.h"
#include "model/trace.h"

namespace offwait {

enum class TriggerState : std::uint8_t { running, runnable, blocked };

/// One --when: either a share of a state, or the length of a wait.
struct FlightTrigger {
  std::string text;  ///< as the user wrote it

  /// `runnable>50%`: of the time that threads of the target were running or runnable in the last kShareTime,
  /// they were runnable for more than this part. `running` and `blocked` are parts of all their time.
  std::optional<TriggerState> state;
  double share = 0;

  /// `wait>500ms`: a thread of the target waited longer than this, to its end or so far, for something that
  /// works or that somebody has: for a request to a disk (but not for any of several), for a page, for a lock
  /// of the kernel, or for a mutex that another thread held. Threads that are idle wait for none of these.
  /// `wait:poll>500ms`: any wait of the class counts.
  Nanos longer_than = 0;
  std::optional<WaitClass> wait_class;
};

/// A share is of this time, which ends with the last whole second.
inline constexpr Nanos kShareTime = 5 * kSecond;

struct SeenWait;

/// Looks at what is recorded. All is plain values.
class FlightTriggers {
 public:
  /// The recording begins at `begin`.
  FlightTriggers(std::vector<FlightTrigger> triggers, Nanos begin);

  /// Takes what RecordingSource::take() has returned; nothing is left out.
  void add(const RecordBuffer& records);

  /// A trigger that applies now, or null. `taken` has the kernel's threads, and the end of the window. With
  /// `may_fire` off the answer is null, and the waits that ended are forgotten. A wait that goes on is told
  /// only once.
  const FlightTrigger* check(const KernelRecording& taken, bool may_fire);

 private:
  struct Thread {
    std::uint64_t start_ns = 0;
    bool is_target = false;
  };
  /// What threads of the target did in a second.
  struct Sums {
    Nanos blocked = 0;
    Nanos runnable = 0;
    Nanos life = 0;  ///< of those that have exited
  };

  void add(const offwait_wait& wait);
  void add(const offwait_preemption& preemption);
  void add(const offwait_spin& spin);
  void add(const offwait_thread_record& record);
  template <class Other>
  void add(const Other&) {}

  bool is_target(std::uint32_t tid) const;
  /// Adds [from, to) to a sum of each second that it touches.
  void add_time(Nanos Sums::*sum, Nanos from, Nanos to);
  void note_ended(const SeenWait& wait);
  /// Drops what no later check needs.
  void forget(const KernelRecording& taken);
  const FlightTrigger* wait_trigger(const KernelRecording& taken);
  const FlightTrigger* share_trigger(const KernelRecording& taken) const;

  std::vector<FlightTrigger> triggers_;
  Nanos begin_;
  bool wants_shares_ = false;
  std::unordered_map<std::uint32_t, Thread> threads_;  ///< by tid
  std::map<Nanos, Sums> seconds_;                      ///< by their starts
  const FlightTrigger* ended_ = nullptr;               ///< applied to a wait that ended since the last check
  std::set<WaitBegin> told_;                           ///< waits that go on
};

}  // namespace offwait
