// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/like_a_lock.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graph/false_wakeups.h"

namespace offwait {

namespace {

/// With fewer waits that ended chance decides.
constexpr std::uint64_t kFewestPassed = 16;
/// Not all waits need to be like those for a lock: some threads come by seldom, such as a checkpointer, or
/// the main thread at the end.
constexpr double kMostly = 0.8;
/// When a wait for a contended lock ends, other threads still wait for it: at least in this part of all
/// cases.
constexpr double kOfTen = 0.1;

/// The first waits tell as well as all.
constexpr std::size_t kMostWaits = 50'000;

struct Event {
  Nanos at = 0;
  bool ends = false;
  std::uint32_t wait = 0;
  bool operator<(const Event& other) const {
    // A wait that ends when another one begins makes room for it.
    return std::tuple(at, !ends, wait) < std::tuple(other.at, !other.ends, other.wait);
  }
};

/// What each wait's thread waits for next of the same thing.
class NextWaits {
 public:
  /// `events` are in order, and outlive this.
  NextWaits(const Trace& trace, const std::vector<Event>& events) {
    std::unordered_map<ActorId, std::uint32_t> last;  // wait, by thread
    for (const Event& event : events) {
      if (event.ends) continue;
      const ActorId thread = trace.sites[trace.waits[event.wait].site].thread;
      const auto [before, added] = last.try_emplace(thread, event.wait);
      if (!added) next_[std::exchange(before->second, event.wait)] = &event;
    }
  }
  /// The start of that wait; null if the thread does not wait for the thing again.
  const Event* after(std::uint32_t wait) const {
    const auto found = next_.find(wait);
    return found == next_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::uint32_t, const Event*> next_;
};

/// Where another thread has just found the thing free, a thread that is woken finds nothing and waits again
/// at once, as after a false wakeup (graph/false_wakeups.h). Its wait began at `begin`.
bool is_in_vain(const Trace& trace, Nanos begin, const Wait& wait, const Event& again) {
  if (again.at < wait.run) return false;
  const Nanos waited =
      wait.wake - begin + std::min(trace.waits[again.wait].wake, trace.window.end) - again.at;
  const Nanos between = again.at - wait.run;
  return between <= kLongestFalseRun && between <= waited / kWaitsPerFalseRun;
}

}  // namespace

Passing passing_of(const Trace& trace, const TimeOuts& time_outs, std::vector<std::uint32_t> waits) {
  if (waits.size() > kMostWaits) {
    const auto end = waits.begin() + static_cast<std::ptrdiff_t>(kMostWaits);
    std::nth_element(waits.begin(), end, waits.end(), [&trace](std::uint32_t a, std::uint32_t b) {
      return trace.waits[a].block < trace.waits[b].block;
    });
    waits.erase(end, waits.end());
  }
  std::vector<Event> events;
  std::unordered_set<ActorId> waiters;
  for (const std::uint32_t id : waits) {
    const Wait& wait = trace.waits[id];
    waiters.insert(trace.sites[wait.site].thread);
    events.push_back({time_outs.begin_of(id, trace), false, id});
    if (wait.wake != kNever) events.push_back({wait.wake, true, id});
  }
  std::sort(events.begin(), events.end());
  const NextWaits next_waits(trace, events);
  std::unordered_map<std::uint32_t, Nanos> went_on;  // waits that go on after a wake-up in vain: since when
  const auto begin_of = [&](std::uint32_t wait) {
    const auto found = went_on.find(wait);
    return found == went_on.end() ? time_outs.begin_of(wait, trace) : found->second;
  };
  Passing out;
  out.threads = waiters.size();
  std::size_t waiting = 0;
  std::set<ActorId> have;       // threads that got the thing, and have not passed it on or waited again since
  ActorId found_it = kNoActor;  // the last one of these that looked and found it free
  std::unordered_map<ActorId, Nanos> passed;  // when the thread last ended a wait
  Nanos last_end = kNever;                    // of any wait
  for (const Event& event : events) {
    const Wait& wait = trace.waits[event.wait];
    const WaitSite& site = trace.sites[wait.site];
    if (!event.ends) {
      if (went_on.contains(event.wait)) continue;
      ++waiting;
      have.erase(site.thread);
      continue;
    }
    const ActorId from = site.waker;
    // The thread that had it let it go unseen.
    if (time_outs.ended_by_looking(event.wait)) {
      have = {site.thread};
      found_it = site.thread;
    }
    if (from == kNoActor || trace.actors[from].kind != ActorKind::thread) {
      --waiting;
      continue;
    }
    const bool got = have.erase(from) > 0;
    const Nanos begin = begin_of(event.wait);
    if (const Event* const again = next_waits.after(event.wait);
        have.contains(found_it) && again != nullptr && is_in_vain(trace, begin, wait, *again)) {
      passed[from] = event.at;
      went_on[again->wait] = begin;
      continue;
    }
    --waiting;
    ++out.ended;
    out.by_waiters += waiters.contains(from) ? 1U : 0U;
    out.others_stay += waiting > 0 ? 1U : 0U;
    out.looked += time_outs.begin_of(event.wait, trace) < wait.block ? 1U : 0U;
    const auto before = passed.find(from);
    out.passed_on += got || before == passed.end() || begin >= before->second ? 1U : 0U;
    out.shared += have.empty() ? 0U : 1U;
    if (last_end != kNever && begin < last_end) {
      ++out.in_line;
      out.in_line_by_holder += got ? 1U : 0U;
    }
    last_end = event.at;
    passed[from] = event.at;
    have.insert(site.thread);
  }
  return out;
}

bool passes_like_a_lock(const Passing& passing) {
  // A resource that several threads have, or that lets several go at once, is shared nearly all the time. A
  // lock only seems to be shared when it was let go unseen: no thread waited at that moment, or one was on
  // its way to look.
  const auto most = [&passing](std::uint64_t part) {
    return static_cast<double>(part) >= kMostly * static_cast<double>(passing.ended);
  };
  const bool others_stay = passing.threads >= 3 && static_cast<double>(passing.others_stay) >=
                                                       kOfTen * static_cast<double>(passing.ended);
  return passing.threads >= 2 && passing.ended >= kFewestPassed && most(passing.by_waiters) &&
         most(passing.passed_on) && (others_stay || 2 * passing.looked >= passing.ended) &&
         2 * passing.shared <= passing.ended && 2 * passing.in_line_by_holder >= passing.in_line;
}

}  // namespace offwait
