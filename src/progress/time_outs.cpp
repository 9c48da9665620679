// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/time_outs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "model/activity.h"
#include "model/function_numbers.h"

namespace offwait {

namespace {

/// By ActorId: the times at which the thread did something for others, in order. Only some threads have any.
using Deeds = std::vector<std::vector<Nanos>>;

bool may_time_out(const Trace& trace, const WaitSite& site) {
  return site.waker != kNoActor && trace.actors[site.waker].kind == ActorKind::timer &&
         site.wait_class != WaitClass::sleep;
}

std::vector<bool> threads_with_time_outs(const Trace& trace) {
  std::vector<bool> out(trace.actors.size());
  for (const WaitSite& site : trace.sites) {
    if (may_time_out(trace, site)) out[site.thread] = true;
  }
  return out;
}

/// Tells waits for locks: those at the site of a lock, and those for an object that is waited for at such a
/// site. The mutex of a condition is taken again inside of the wait for the condition, so that no function's
/// name shows it.
class ForLocks {
 public:
  ForLocks(const Trace& trace, const std::vector<bool>& sites)
      : sites_(sites), objects_(trace.objects.size()) {
    for (const Wait& wait : trace.waits) {
      if (sites_[wait.site] && wait.object != kNoObject) objects_[wait.object] = true;
    }
  }
  bool operator()(const Wait& wait) const {
    return sites_[wait.site] || (wait.object != kNoObject && objects_[wait.object]);
  }

 private:
  const std::vector<bool>& sites_;
  std::vector<bool> objects_;
};

/// When each thread ended waits of others (except waits for locks) and sent requests to disks.
Deeds deeds_of(const Trace& trace, const std::vector<bool>& threads, const ForLocks& is_for_lock) {
  Deeds out(trace.actors.size());
  for (const Wait& wait : trace.waits) {
    if (is_for_lock(wait)) continue;
    const ActorId waker = trace.sites[wait.site].waker;
    if (waker != kNoActor && threads[waker] && wait.wake != kNever) out[waker].push_back(wait.wake);
  }
  for (const DiskIo& io : trace.disk_ios) {
    if (io.thread != kNoActor && threads[io.thread]) out[io.thread].push_back(io.issue);
  }
  for (std::vector<Nanos>& deeds : out) std::sort(deeds.begin(), deeds.end());
  return out;
}

/// By ActorId.
std::vector<bool> threads_that_sleep(const Trace& trace) {
  std::vector<bool> out(trace.actors.size());
  for (const WaitSite& site : trace.sites) {
    if (site.wait_class == WaitClass::sleep && site.wait_stack != kNoStack) out[site.thread] = true;
  }
  return out;
}

/// By ActorId.
std::vector<std::uint64_t> responses_of_threads(const Trace& trace) {
  std::vector<std::uint64_t> out(trace.actors.size());
  for (const Responses& counted : trace.responses) out[counted.thread] += counted.count;
  return out;
}

/// By StackId: the innermost functions of the program; two are enough to tell places apart, and few enough to
/// stay the same when a loop is reached in several ways.
using Innermost = std::vector<std::array<std::uint32_t, 2>>;

Innermost innermost_functions(const Trace& trace) {
  const std::vector<std::uint32_t> function_of_frame = functions_of_frames(trace);
  Innermost out;
  for (const Stack& stack : trace.stacks) {
    std::array<std::uint32_t, 2> innermost{UINT32_MAX, UINT32_MAX};
    auto next = innermost.begin();
    for (const FrameId id : stack.frames) {
      if (trace.frames[id].kind == Frame::Kind::user && next != innermost.end())
        *next++ = function_of_frame[id];
    }
    out.push_back(innermost);
  }
  return out;
}

/// Whether both waits are for the same thing. Where the object of one is not known, the place decides.
bool is_same_thing(const Trace& trace, const Innermost& innermost, const Wait& one, const Wait& other) {
  if (one.object != kNoObject && other.object != kNoObject) return one.object == other.object;
  const WaitSite& a = trace.sites[one.site];
  const WaitSite& b = trace.sites[other.site];
  if (a.wait_class != b.wait_class) return false;
  return a.wait_stack == kNoStack || b.wait_stack == kNoStack ||
         innermost[a.wait_stack] == innermost[b.wait_stack];
}

/// The time-outs of one thread that may turn out to have come to nothing.
struct Run {
  std::vector<std::uint32_t> waits;
  Nanos since = 0;       ///< when the last one ended
  std::size_t deed = 0;  ///< index of the thread's first deed after that; up to here they were looked at
};

/// What is waited for: the object or, where that is not known, the site of the last time-out of a run.
using Thing = std::pair<ObjectId, SiteId>;
Thing thing_of(const Wait& wait) { return {wait.object, wait.object == kNoObject ? wait.site : SiteId{0}}; }

/// How runs of time-outs for one thing ended.
struct Ends {
  struct ByOther {
    std::vector<std::uint32_t> time_outs;
    std::uint32_t wait = 0;  ///< the wait that something else ended
  };
  std::vector<ByOther> by_others;
  std::uint64_t by_waiters = 0;  ///< how many of by_others are ended by threads that wait for the thing
  Nanos timed_ns = 0;            ///< lengths of the last time-outs before these waits, added up
  Nanos ended_ns = 0;            ///< lengths of these waits, added up
  std::vector<std::vector<std::uint32_t>> by_looking;  ///< time-outs of runs that ended in finding it free

  /// With fewer ends chance decides.
  static constexpr std::size_t kFewestEnds = 16;

  /// Whether the threads that wait for the thing let each other go.
  bool is_passed_on() const { return by_waiters >= kFewestEnds && 2 * by_waiters > by_others.size(); }
  /// Whether the thread asks for the time of its time-outs. What others end comes at any time. Where it comes
  /// right after a time-out, again and again, the thread asked for that time, and then waited for something
  /// else: Ruby's threads sleep on the condition on which they wait for the interpreter's lock. A thing that
  /// is passed on may be let go because a time-out has shown that it is wanted (CPython's lock).
  bool asks_for_time() const {
    constexpr Nanos kRightAfter = 10;
    return by_others.size() >= kFewestEnds && kRightAfter * ended_ns <= timed_ns && !is_passed_on();
  }
  /// Whether a thread that goes on after a time-out has found the thing free. It has if the thing is passed
  /// on, or if others end most runs. Otherwise the time-out itself is what lets the thread go on.
  bool finds() const { return by_others.size() > by_looking.size() || is_passed_on(); }
};

}  // namespace

void TimeOuts::add_parts(const Trace& trace, const std::vector<std::uint32_t>& parts, std::uint32_t of) {
  if (parts.empty()) return;
  for (const std::uint32_t part : parts) all_.emplace_back(part, trace.waits[of].site);
  began_.try_emplace(of, 0).first = trace.waits[parts.front()].block;
}

TimeOuts::TimeOuts(const Trace& trace, const std::vector<bool>& sites_of_locks) {
  const std::vector<bool> threads = threads_with_time_outs(trace);
  if (std::find(threads.begin(), threads.end(), true) == threads.end()) return;
  const ForLocks is_for_lock(trace, sites_of_locks);
  const Deeds deeds = deeds_of(trace, threads, is_for_lock);
  const Innermost innermost = innermost_functions(trace);
  std::vector<Run> runs(trace.actors.size());
  NumberMap<bool> waiters;  // by object and thread
  const auto waiter = [](ActorId thread, const Wait& wait) {
    return std::uint64_t{wait.object} << 32 | thread;
  };
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (wait.object != kNoObject && may_time_out(trace, site))
      waiters.try_emplace(waiter(site.thread, wait), true);
  }
  const auto waits_for = [&](ActorId thread, const Wait& wait) {
    return wait.object != kNoObject && waiters.find(waiter(thread, wait)) != nullptr;
  };
  std::map<Thing, Ends> ends;
  const auto ends_of = [&](const Run& run) -> Ends& { return ends[thing_of(trace.waits[run.waits.back()])]; };
  const auto break_off = [&](Run& run) {
    if (!run.waits.empty()) ends_of(run).by_looking.push_back(std::move(run.waits));
    run.waits.clear();
  };
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    const WaitSite& site = trace.sites[wait.site];
    if (!threads[site.thread] || is_for_lock(wait)) continue;
    Run& run = runs[site.thread];
    if (!run.waits.empty()) {
      const std::vector<Nanos>& own = deeds[site.thread];
      while (run.deed < own.size() && own[run.deed] < run.since) ++run.deed;
      const bool did = run.deed < own.size() && own[run.deed] < wait.block;
      if (did || !is_same_thing(trace, innermost, trace.waits[run.waits.back()], wait)) break_off(run);
    }
    if (may_time_out(trace, site)) {
      run.waits.push_back(id);
      run.since = wait.wake;
    } else if (site.waker != kNoActor && wait.wake != kNever) {
      if (!run.waits.empty()) {
        Ends& here = ends_of(run);
        const Wait& last = trace.waits[run.waits.back()];
        here.timed_ns += last.wake - last.block;
        here.ended_ns += wait.wake - wait.block;
        here.by_waiters += waits_for(site.waker, wait) ? 1U : 0U;
        here.by_others.push_back({std::move(run.waits), id});
      }
      run.waits.clear();
    }
  }
  for (auto& [thing, here] : ends) {
    if (here.asks_for_time()) continue;
    for (const Ends::ByOther& end : here.by_others) add_parts(trace, end.time_outs, end.wait);
    if (!here.finds()) continue;
    for (std::vector<std::uint32_t>& waits : here.by_looking) {
      const std::uint32_t last = waits.back();
      waits.pop_back();
      add_parts(trace, waits, last);
      by_looking_.insert(last);
    }
  }
  if (all_.empty()) return;
  nothing_.resize(trace.waits.size());
  for (const auto& [wait, site] : all_) nothing_[wait] = true;
}

std::vector<bool> polling_sites(const Trace& trace) {
  constexpr std::uint64_t kFewestEnds = 3;
  constexpr std::uint64_t kOneInSo = 5;  // one sleep of this many, or more, precedes a look in vain
  constexpr Nanos kLook = 10;  // a sleep, or the work after it, takes this many times as long as a look
  constexpr Nanos kDeed = 2;   // work with a deed for others takes this many times as long as a look
  const std::vector<bool> sleeps = threads_that_sleep(trace);
  if (std::find(sleeps.begin(), sleeps.end(), true) == sleeps.end())
    return std::vector<bool>(trace.sites.size());
  const std::vector<bool> no_locks(trace.sites.size());
  const Deeds deeds = deeds_of(trace, sleeps, ForLocks(trace, no_locks));
  struct Place {
    std::uint64_t sleeps = 0;
    std::uint64_t vain = 0;
    std::uint64_t found = 0;       ///< sleeps after which the thread waited in another place
    Nanos looks_ns = 0;            ///< length of the looks that found nothing, added up
    std::vector<Nanos> work;       ///< work after the other sleeps, until the thread slept there again
    std::vector<Nanos> with_deed;  ///< work during which the thread did something for others

    std::uint64_t longer_than_looks(const std::vector<Nanos>& times, Nanos factor) const {
      return static_cast<std::uint64_t>(std::count_if(times.begin(), times.end(), [&](Nanos ns) {
        return ns * static_cast<Nanos>(vain) >= factor * looks_ns;
      }));
    }
    bool polls() const {
      return vain > 0 && kOneInSo * vain >= sleeps &&
             found + longer_than_looks(work, kLook) + longer_than_looks(with_deed, kDeed) >= kFewestEnds;
    }
  };
  std::vector<Place> places(trace.stacks.size());
  struct Last {
    StackId stack = kNoStack;  ///< of the thread's last wait, if that was a sleep
    Nanos block = 0;
    Nanos run = 0;
    std::size_t deed = 0;
  };
  std::vector<Last> last(trace.actors.size());
  const Activity activity(trace);
  const auto ignore = [](std::uint32_t, Nanos, Nanos) {};  // between two waits
  // It is not known when a thread responded to clients. Each response may be work after one of its sleeps.
  std::vector<std::uint64_t> responses = responses_of_threads(trace);
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (!sleeps[site.thread]) continue;
    const StackId stack = site.wait_class == WaitClass::sleep ? site.wait_stack : kNoStack;
    Last& before = last[site.thread];
    const std::vector<Nanos>& own = deeds[site.thread];
    while (before.deed < own.size() && own[before.deed] < before.run) ++before.deed;
    const bool did = before.deed < own.size() && own[before.deed] < wait.block;
    if (stack != kNoStack) ++places[stack].sleeps;
    const Nanos from = before.stack == kNoStack ? wait.block : before.run;
    const Activity::Times times = activity.look(site.thread, from, wait.block, ignore);
    if (before.stack != kNoStack && times.unknown_ns == 0) {
      Place& place = places[before.stack];
      if (before.stack != stack) {
        ++place.found;
      } else if (did) {
        place.with_deed.push_back(times.ran_ns);
      } else if (kLook * times.ran_ns <= before.run - before.block) {
        if (responses[site.thread] > 0) {
          --responses[site.thread];
        } else {
          ++place.vain;
          place.looks_ns += times.ran_ns;
        }
      } else {
        place.work.push_back(times.ran_ns);
      }
    }
    before.stack = stack;
    before.block = wait.block;
    before.run = wait.run;
  }
  std::vector<bool> out(trace.sites.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.wait_class != WaitClass::sleep || site.wait_stack == kNoStack) continue;
    out[id] = places[site.wait_stack].polls();
  }
  return out;
}

}  // namespace offwait
