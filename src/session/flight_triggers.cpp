// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/flight_triggers.h"

#include <algorithm>
#include <utility>

#include "event/classify.h"

namespace offwait {

/// A wait that ended, or one that goes on.
struct SeenWait {
  WaitBegin begin;
  Nanos length = 0;
  WaitClass wait_class = WaitClass::other;
  bool any_request = false;
  bool held = false;  ///< it is known who had the lock
};

namespace {

bool applies(const FlightTrigger& trigger, const SeenWait& wait) {
  if (trigger.state || wait.length <= trigger.longer_than) return false;
  if (trigger.wait_class) return wait.wait_class == *trigger.wait_class;
  switch (wait.wait_class) {
    case WaitClass::disk:
    case WaitClass::fault:
      return !wait.any_request;
    case WaitClass::lock:
    case WaitClass::spin:
      return true;
    case WaitClass::futex:
      return wait.held;
    default:
      return false;
  }
}

const FlightTrigger* first_that_applies(const std::vector<FlightTrigger>& triggers, const SeenWait& wait) {
  const auto found = std::find_if(triggers.begin(), triggers.end(),
                                  [&wait](const FlightTrigger& trigger) { return applies(trigger, wait); });
  return found == triggers.end() ? nullptr : &*found;
}

Nanos second_of(Nanos at) { return at - at % kSecond; }

Nanos overlap(Nanos from, Nanos to, Nanos begin, Nanos end) {
  return std::max<Nanos>(0, std::min(to, end) - std::max(from, begin));
}

}  // namespace

FlightTriggers::FlightTriggers(std::vector<FlightTrigger> triggers, Nanos begin)
    : triggers_(std::move(triggers)), begin_(begin) {
  wants_shares_ = std::any_of(triggers_.begin(), triggers_.end(),
                              [](const FlightTrigger& trigger) { return trigger.state.has_value(); });
}

void FlightTriggers::add(const RecordBuffer& records) {
  if (triggers_.empty()) return;
  records.for_each([this](const auto& record) { add(record); });
}

bool FlightTriggers::is_target(std::uint32_t tid) const {
  const auto thread = threads_.find(tid);
  return thread != threads_.end() && thread->second.is_target;
}

void FlightTriggers::add_time(Nanos Sums::*sum, Nanos from, Nanos to) {
  if (!wants_shares_) return;
  // What is older has been looked at.
  from = std::max(from, second_of(to) - 2 * kShareTime);
  for (Nanos second = second_of(from); second < to; second += kSecond)
    seconds_[second].*sum += overlap(from, to, second, second + kSecond);
}

void FlightTriggers::note_ended(const SeenWait& wait) {
  if (ended_ == nullptr && !told_.contains(wait.begin)) ended_ = first_that_applies(triggers_, wait);
}

void FlightTriggers::add(const offwait_wait& wait) {
  if (!is_target(wait.tid)) return;
  const Nanos block = wait.block_ns != 0 ? nanos(wait.block_ns) : begin_;
  const Nanos wake = nanos(wait.wake_ns);
  add_time(&Sums::blocked, block, wake);
  add_time(&Sums::runnable, wake, nanos(wait.run_ns));
  const WaitFacts facts = {wait.waker_kind, wait.fd_kind, wait.flags, wait.syscall, wait.task_state};
  note_ended({{wait.tid, wait.block_ns},
              wake - block,
              classify(facts),
              waits_for_any_request(facts),
              (wait.flags & OFFWAIT_WAIT_SENT) == 0 && wait.owner != 0});
}

void FlightTriggers::add(const offwait_preemption& preemption) {
  if (is_target(preemption.tid))
    add_time(&Sums::runnable, nanos(preemption.out_ns), nanos(preemption.run_ns));
}

void FlightTriggers::add(const offwait_spin& spin) {
  if (is_target(spin.tid))
    note_ended({{spin.tid, spin.begin_ns}, nanos(spin.end_ns) - nanos(spin.begin_ns), WaitClass::spin});
}

void FlightTriggers::add(const offwait_thread_record& record) {
  Thread& thread = threads_[record.tid];
  if (record.event == OFFWAIT_THREAD_EXITED) {
    if (thread.is_target) add_time(&Sums::life, nanos(thread.start_ns), nanos(record.at_ns));
    threads_.erase(record.tid);
    return;
  }
  if (record.event != OFFWAIT_THREAD_NAMED) thread.start_ns = record.start_ns;
  thread.is_target = record.outside == OFFWAIT_TARGET;
}

const FlightTrigger* FlightTriggers::check(const KernelRecording& taken, bool may_fire) {
  const FlightTrigger* fires = std::exchange(ended_, nullptr);
  forget(taken);
  if (!may_fire) return nullptr;
  if (const FlightTrigger* goes_on = wait_trigger(taken); fires == nullptr) fires = goes_on;
  return fires != nullptr || !wants_shares_ ? fires : share_trigger(taken);
}

void FlightTriggers::forget(const KernelRecording& taken) {
  seconds_.erase(seconds_.begin(), seconds_.lower_bound(taken.window.end - 2 * kShareTime));
  // Exits may have been lost.
  constexpr std::size_t kFew = 1000;
  if (threads_.size() < 2 * taken.threads.size() + kFew) return;
  std::set<std::uint32_t> living;
  for (const auto& [tid, thread] : taken.threads) living.insert(tid);
  std::erase_if(threads_, [&living](const auto& thread) { return !living.contains(thread.first); });
}

/// Looks at the waits that go on. All that a trigger applies to are told by the file that is written now.
const FlightTrigger* FlightTriggers::wait_trigger(const KernelRecording& taken) {
  const FlightTrigger* fires = nullptr;
  std::set<WaitBegin> going_on;
  for (const auto& [tid, thread] : taken.threads) {
    const bool since_begin = thread.state == OFFWAIT_STATE_UNKNOWN && thread.seeded == OFFWAIT_STATE_BLOCKED;
    if (thread.target == 0 || thread.wake_ns != 0 || (thread.state != OFFWAIT_STATE_BLOCKED && !since_begin))
      continue;
    const WaitBegin begin{tid, since_begin ? 0 : thread.since_ns};
    const WaitFacts facts = {OFFWAIT_WAKER_UNKNOWN, thread.fd_kind, thread.flags, thread.syscall,
                             thread.task_state};
    const Nanos length = taken.window.end - (since_begin ? begin_ : nanos(thread.since_ns));
    const FlightTrigger* applied = first_that_applies(
        triggers_, {begin, length, classify(facts), waits_for_any_request(facts), thread.owner != 0});
    if (applied == nullptr) continue;
    going_on.insert(begin);
    if (fires == nullptr && !told_.contains(begin)) fires = applied;
  }
  told_ = std::move(going_on);
  return fires;
}

const FlightTrigger* FlightTriggers::share_trigger(const KernelRecording& taken) const {
  const Nanos end = second_of(taken.window.end);
  const Nanos begin = end - kShareTime;
  if (begin < begin_) return nullptr;
  Sums sums;
  for (auto second = seconds_.lower_bound(begin); second != seconds_.end() && second->first < end; ++second) {
    sums.blocked += second->second.blocked;
    sums.runnable += second->second.runnable;
    sums.life += second->second.life;
  }
  for (const auto& [tid, thread] : taken.threads) {
    if (thread.target == 0) continue;
    sums.life += overlap(nanos(thread.start_ns), end, begin, end);
    const Nanos since = nanos(thread.since_ns);
    const std::uint8_t state = thread.state == OFFWAIT_STATE_UNKNOWN ? thread.seeded : thread.state;
    const Nanos wake = state == OFFWAIT_STATE_BLOCKED && thread.wake_ns != 0 ? nanos(thread.wake_ns) : end;
    if (state == OFFWAIT_STATE_BLOCKED) {
      sums.blocked += overlap(since, wake, begin, end);
      sums.runnable += overlap(std::max(since, wake), end, begin, end);
    } else if (state == OFFWAIT_STATE_RUNNABLE) {
      sums.runnable += overlap(since, end, begin, end);
    }
  }
  const auto is_exceeded = [&sums](const FlightTrigger& trigger) {
    if (!trigger.state) return false;
    const Nanos active = std::max(sums.life - sums.blocked, sums.runnable);
    const Nanos in_state = *trigger.state == TriggerState::runnable  ? sums.runnable
                           : *trigger.state == TriggerState::blocked ? sums.blocked
                                                                     : active - sums.runnable;
    const Nanos of = *trigger.state == TriggerState::runnable ? active : std::max(sums.life, sums.blocked);
    return of > 0 && to_seconds(in_state) > trigger.share * to_seconds(of);
  };
  const auto found = std::find_if(triggers_.begin(), triggers_.end(), is_exceeded);
  return found == triggers_.end() ? nullptr : &*found;
}

}  // namespace offwait
