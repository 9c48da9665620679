// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/sweep.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/wait_events.h"
#include "graph/wait_forest.h"
#include "model/histories.h"

namespace offwait {

namespace {

using Indices = std::span<const std::uint32_t>;

// kOnDisk and kAsleep are parts of blocked.
enum State : std::uint8_t { kRunning, kRunnable, kBlocked, kOnDisk, kAsleep, kUnknown };
using StateTimes = std::array<Nanos, 6>;

/// Adds up the states of one thread, from the begin of its lifetime in the window to an instant that only
/// moves forward. It is told of the waits, at their times.
class StateClock {
 public:
  StateClock(const Trace& trace, const Actor& actor, const History& history)
      : preemptions_(history.preemptions),
        gaps_(history.gaps),
        since_(std::max(actor.start, trace.window.begin)),
        end_(std::max(since_, std::min(actor.exit, trace.window.end))) {
    find_next(trace);
    until_ = std::min(actor.seen, next_);
    if (history.waits.empty()) return;
    until_ = std::min(until_, trace.waits[history.waits.front()].block);
    // The runnable time after the last wait before the window may reach into it.
    const auto first = std::partition_point(
        history.waits.begin(), history.waits.end(),
        [&trace](std::uint32_t index) { return trace.waits[index].block < trace.window.begin; });
    if (first != history.waits.begin()) run_ = trace.waits[*(first - 1)].run;
  }

  const StateTimes& at(const Trace& trace, Nanos time) {
    const Nanos to = std::min(time, end_);
    while (until_ <= to) {
      if (until_ > since_) {
        spend(until_);
      }
      next_state(trace);
    }
    if (to > since_) {
      spend(to);
    }
    return times_;
  }

  /// A wait of the class begins. The clock was last read at this instant.
  void block(WaitClass wait_class) {
    enter(wait_class == WaitClass::disk    ? kOnDisk
          : wait_class == WaitClass::sleep ? kAsleep
                                           : kBlocked,
          kNever);
  }

  /// The wait ends, or an empty one that is followed by runnable time. The clock was last read at this
  /// instant.
  void wake(Nanos run) {
    run_ = run;
    until_ = since_;
  }

 private:
  void spend(Nanos to) {
    times_[state_] += to - since_;
    since_ = to;
  }

  void enter(State state, Nanos until) {
    state_ = state;
    until_ = until;
  }

  Nanos next_out(const Trace& trace) const {
    return preemptions_.empty() ? kNever : trace.preemptions[preemptions_.front()].out;
  }
  Nanos next_gap(const Trace& trace) const { return gaps_.empty() ? kNever : trace.gaps[gaps_.front()].from; }
  void find_next(const Trace& trace) { next_ = std::min(next_out(trace), next_gap(trace)); }

  /// Goes to the state after the one that ended at since_ or, for records from before the window, earlier.
  void next_state(const Trace& trace) {
    if (run_ > since_) {
      return enter(kRunnable, run_);
    }
    if (next_ > since_) {
      return enter(kRunning, next_);
    }
    if (next_out(trace) == next_) {
      enter(kRunnable, trace.preemptions[preemptions_.front()].run);
      preemptions_ = preemptions_.subspan(1);
    } else {
      enter(kUnknown, trace.gaps[gaps_.front()].to);
      gaps_ = gaps_.subspan(1);
    }
    find_next(trace);
  }

  Indices preemptions_;  ///< those to come
  Indices gaps_;         ///< those to come
  StateTimes times_{};
  Nanos since_;
  Nanos end_;
  Nanos next_ = kNever;   ///< when the next preemption or gap begins
  Nanos until_ = kNever;  ///< when state_ ends, unless a wait begins or ends before
  Nanos run_ = 0;         ///< when the runnable time after the last wait ends
  State state_ = kUnknown;
};

struct Sleeper {
  StateClock clock;
  std::uint32_t wait = 0;  ///< index of the current wait, or of the last one
  Nanos exit = kNever;
  bool kernel = false;
  Nanos from = 0;  ///< begin of the current wait, clipped
  Nanos blocked_until = kNotBlocked;
  StateTimes waker_before{};    ///< the waker's clock at `from`
  Nanos let_go = 0;             ///< when a thread last ended a wait of it that was not for a disk
  StateTimes at_let_go{};       ///< its own clock then
  Nanos behind_disk = 0;        ///< length of its last wait behind another's disk wait, until it is known
  SiteId behind_disk_site = 0;  ///< whether it goes to the disk as well; and that wait's site

  static constexpr Nanos kNotBlocked = -1;
};

/// The latest release by a thread (SiteSum::releases).
struct Release {
  struct EndedWait {
    Nanos length = 0;
    Nanos disk = 0;  ///< part of it in which the releasing thread waited for a disk
    SiteId site = 0;
  };
  Nanos last = 0;  ///< its last waking so far
  std::vector<EndedWait> waits;
};

/// Waits of kernel threads grow by their dependents only (SiteSum::weight_ns).
std::vector<std::uint32_t> own_sizes(const Trace& trace) {
  std::vector<std::uint32_t> sizes;
  sizes.reserve(trace.actors.size());
  for (const Actor& actor : trace.actors) {
    sizes.push_back(actor.kernel ? 0 : 1);
  }
  return sizes;
}

class Sweeper {
 public:
  explicit Sweeper(const Trace& trace)
      : trace_(trace), histories_(trace), forest_(own_sizes(trace)), releases_(trace.actors.size()) {
    result_.sites.resize(trace.sites.size());
    result_.actors.resize(trace.actors.size());
    for (const WaitSite& site : trace.sites) {
      wakers_.push_back(is_thread(site.waker) ? site.waker : kNoActor);
    }
    sleepers_.reserve(trace.actors.size());
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      const Actor& actor = trace.actors[id];
      sleepers_.push_back(
          {.clock = StateClock(trace, actor, histories_.of(id)), .exit = actor.exit, .kernel = actor.kernel});
    }
  }

  std::optional<Error> run() {
    WaitEvents events(trace_, histories_);
    for (std::span batch = events.next(); !batch.empty(); batch = events.next()) {
      for (const WaitEvent& event : batch) {
        const Nanos now = trace_.window.begin + event.time();
        const bool ends = sleepers_[event.thread].blocked_until != Sleeper::kNotBlocked;
        if (!(ends ? wake(event.thread, now) : block(event.thread, event.wait, now))) {
          return error_;
        }
      }
    }
    const std::vector<std::uint64_t> open = forest_.weights(offset(trace_.window.end));
    for (ActorId id = 0; id < sleepers_.size(); ++id) {
      if (sleepers_[id].blocked_until != Sleeper::kNotBlocked) {
        add_wait(id, open[id], forest_.waker(id), trace_.window.end);
      }
    }
    for (ActorId id = 0; id < sleepers_.size(); ++id) {
      add_states(id);
      count_release(releases_[id]);
    }
    return check_total();
  }

  Sweep result() && { return std::move(result_); }

 private:
  bool is_thread(ActorId id) const { return id != kNoActor && trace_.actors[id].kind == ActorKind::thread; }
  const Wait& current(ActorId id) const { return trace_.waits[sleepers_[id].wait]; }

  std::uint64_t offset(Nanos time) const { return static_cast<std::uint64_t>(time - trace_.window.begin); }

  void count(const Wait& wait, Nanos exit) {
    SiteSum& sum = result_.sites[wait.site];
    sum.waits += trace_.sites[wait.site].in_flight ? 0U : 1U;
    sum.resume_ns += std::max<Nanos>(
        0, std::min({wait.run, exit, trace_.window.end}) - std::max(wait.wake, trace_.window.begin));
  }

  bool block(ActorId id, std::uint32_t index, Nanos now) {
    const Wait& wait = trace_.waits[index];
    Sleeper& sleeper = sleepers_[id];
    sleeper.clock.at(trace_, now);
    if (wait.block == wait.wake) {
      if (wait.run > wait.wake) sleeper.clock.wake(wait.run);
      count(wait, sleeper.exit);
      return true;
    }
    sleeper.clock.block(trace_.sites[wait.site].wait_class);
    sleeper.wait = index;
    const ActorId waker = wait.wake == kNever ? kNoActor : wakers_[wait.site];
    sleeper.from = now;
    sleeper.blocked_until = std::min(wait.wake, sleeper.exit);
    if (waker != kNoActor) sleeper.waker_before = sleepers_[waker].clock.at(trace_, now);
    return forest_.begin_wait(id, waker, offset(now)) ||
           fail(id, "which was waiting, directly or not, for the former");
  }

  bool wake(ActorId id, Nanos now) {
    const ActorId waker = forest_.waker(id);
    if (waker != kNoActor && sleepers_[waker].blocked_until > now) {
      return fail(id, "which was itself blocked until " + time_text(sleepers_[waker].blocked_until));
    }
    const Nanos disk = add_wait(id, forest_.end_wait(id, offset(now)), waker, now);
    if (waker != kNoActor) {
      note_release(waker, {now - sleepers_[id].from, disk, current(id).site}, now);
    }
    note_disk_turn(id, waker, now);
    sleepers_[id].blocked_until = Sleeper::kNotBlocked;
    sleepers_[id].clock.at(trace_, now);
    sleepers_[id].clock.wake(current(id).run);
    return true;
  }

  /// Notes that `waker` ended a wait at `now`.
  void note_release(ActorId waker, const Release::EndedWait& wait, Nanos now) {
    Release& release = releases_[waker];
    if (now - release.last > kOneRelease) {
      count_release(release);
    }
    release.last = now;
    release.waits.push_back(wait);
  }

  /// Counts a release that is over, if it woke several threads.
  void count_release(Release& release) {
    const std::size_t size = release.waits.size();
    for (const Release::EndedWait& wait : release.waits) {
      if (size == 1) {
        break;
      }
      SiteSum& sum = result_.sites[wait.site];
      sum.together_ns += wait.length;
      sum.together_disk_ns += wait.disk;
      ++sum.together_waits;
      sum.releases += 1 / static_cast<double>(size);
      sum.largest_release = std::max<std::uint64_t>(sum.largest_release, size);
    }
    release.waits.clear();
  }

  /// Notes how the wait of `id` that `waker_id` ends at `now` fits into threads taking turns at a disk
  /// (SiteSum::behind_disk_ns).
  void note_disk_turn(ActorId id, ActorId waker_id, Nanos now) {
    Sleeper& sleeper = sleepers_[id];
    const SiteId site = current(id).site;
    if (trace_.sites[site].wait_class == WaitClass::disk) {
      settle_disk_turn(sleeper, true);
      return;
    }
    if (waker_id == kNoActor || sleeper.kernel) {
      return;
    }
    Sleeper& waker = sleepers_[waker_id];
    const bool later = waker.let_go > sleeper.from;
    const StateTimes& before = later ? waker.at_let_go : sleeper.waker_before;
    const Nanos disk = waker.clock.at(trace_, now)[kOnDisk] - before[kOnDisk];
    result_.sites[site].kept_ns += now - (later ? waker.let_go : sleeper.from);
    result_.sites[site].kept_disk_ns += disk;
    if (disk > 0) {
      settle_disk_turn(sleeper, false);
      sleeper.behind_disk = now - sleeper.from;
      sleeper.behind_disk_site = site;
    }
    sleeper.let_go = now;
    sleeper.at_let_go = sleeper.clock.at(trace_, now);
  }

  void settle_disk_turn(Sleeper& sleeper, bool at_disk) {
    SiteSum& sum = result_.sites[sleeper.behind_disk_site];
    sum.behind_disk_ns += sleeper.behind_disk;
    sum.then_disk_ns += at_disk ? sleeper.behind_disk : 0;
    sleeper.behind_disk = 0;
  }

  /// Adds the current wait of `id`, up to `now`, to its site. Returns how long its waker waited for a disk
  /// meanwhile.
  Nanos add_wait(ActorId id, std::uint64_t weight, ActorId waker, Nanos now) {
    Sleeper& sleeper = sleepers_[id];
    const Nanos length = now - sleeper.from;
    const Wait& wait = current(id);
    count(wait, sleeper.exit);
    SiteSum& sum = result_.sites[wait.site];
    sum.wait_ns += length;
    sum.weight_ns += static_cast<Nanos>(weight);
    if (wait.wake > trace_.window.end) {
      result_.actors[id].open_wait_ns = length;
    }
    if (waker == kNoActor) {
      return 0;
    }
    const StateTimes& before = sleeper.waker_before;
    const StateTimes& after = sleepers_[waker].clock.at(trace_, now);
    const Nanos running = after[kRunning] - before[kRunning];
    const Nanos runnable = after[kRunnable] - before[kRunnable];
    const Nanos disk = after[kOnDisk] - before[kOnDisk];
    const Nanos asleep = after[kAsleep] - before[kAsleep];
    const Nanos blocked = after[kBlocked] - before[kBlocked] + disk + asleep;
    sum.waker_running_ns += running;
    sum.waker_runnable_ns += runnable;
    sum.waker_blocked_ns += blocked;
    // The clock's own unknown time would not do: it begins only at the birth of a waker that was born during
    // the wait.
    sum.waker_unknown_ns += length - running - runnable - blocked;
    sum.waker_disk_ns += disk;
    sum.waker_asleep_ns += asleep;
    return disk;
  }

  void add_states(ActorId id) {
    if (!is_thread(id)) {
      return;
    }
    const StateTimes& times = sleepers_[id].clock.at(trace_, trace_.window.end);
    ActorTime& sum = result_.actors[id];
    sum.running_ns = times[kRunning];
    sum.runnable_ns = times[kRunnable];
    sum.blocked_ns = times[kBlocked] + times[kOnDisk] + times[kAsleep];
    sum.unknown_ns = times[kUnknown];
    sum.lifetime_ns = sum.running_ns + sum.runnable_ns + sum.blocked_ns + sum.unknown_ns;
  }

  std::optional<Error> check_total() const {
    Nanos total = 0;
    for (const SiteSum& sum : result_.sites) {
      if (sum.weight_ns > kNever - total) {
        return Error{"the window is too long: weights do not fit 64 bits"};
      }
      total += sum.weight_ns;
    }
    return std::nullopt;
  }

  static std::string time_text(Nanos at) { return at == kNever ? "the end" : std::to_string(at); }

  bool fail(ActorId id, const std::string& why) {
    const Wait& wait = current(id);
    const ActorId waker = trace_.sites[wait.site].waker;
    error_ = Error{"thread " + std::to_string(trace_.actors[id].tid) + " cannot have waited from " +
                   time_text(wait.block) + " to " + time_text(wait.wake) + " for thread " +
                   std::to_string(trace_.actors[waker].tid) + ", " + why};
    return false;
  }

  const Trace& trace_;
  Histories histories_;
  WaitForest forest_;
  std::vector<ActorId> wakers_;    ///< by site: the waker if it is a thread, else kNoActor
  std::vector<Release> releases_;  ///< by waker
  std::vector<Sleeper> sleepers_;
  Sweep result_;
  std::optional<Error> error_;
};

}  // namespace

void add(ActorTime& sum, const ActorTime& time) {
  sum.running_ns += time.running_ns;
  sum.runnable_ns += time.runnable_ns;
  sum.blocked_ns += time.blocked_ns;
  sum.unknown_ns += time.unknown_ns;
  sum.lifetime_ns += time.lifetime_ns;
  sum.open_wait_ns += time.open_wait_ns;
}

void add(SiteSum& sum, const SiteSum& site) {
  sum.waits += site.waits;
  sum.wait_ns += site.wait_ns;
  sum.weight_ns += site.weight_ns;
  sum.waker_running_ns += site.waker_running_ns;
  sum.waker_runnable_ns += site.waker_runnable_ns;
  sum.waker_blocked_ns += site.waker_blocked_ns;
  sum.waker_unknown_ns += site.waker_unknown_ns;
  sum.waker_disk_ns += site.waker_disk_ns;
  sum.waker_asleep_ns += site.waker_asleep_ns;
  sum.resume_ns += site.resume_ns;
  sum.together_ns += site.together_ns;
  sum.together_disk_ns += site.together_disk_ns;
  sum.together_waits += site.together_waits;
  sum.releases += site.releases;
  sum.largest_release = std::max(sum.largest_release, site.largest_release);
  sum.kept_ns += site.kept_ns;
  sum.kept_disk_ns += site.kept_disk_ns;
  sum.behind_disk_ns += site.behind_disk_ns;
  sum.then_disk_ns += site.then_disk_ns;
}

Result<Sweep> sweep(const Trace& trace) {
  // A wait grows at most at the rate `actors`, so within this limit no sum of a site overflows.
  if (trace.window.length() > kNever / static_cast<Nanos>(trace.actors.size() + 1)) {
    return Error{"the window is too long: weights do not fit 64 bits"};
  }
  Sweeper sweeper(trace);
  if (std::optional<Error> error = sweeper.run()) {
    return *std::move(error);
  }
  return std::move(sweeper).result();
}

}  // namespace offwait
