// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/sweep_part.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "graph/state_clock.h"
#include "graph/wait_events.h"
#include "graph/wait_forest.h"

namespace offwait {

namespace {

struct Sleeper {
  StateClock clock;
  std::uint32_t wait = 0;  ///< index of the current wait, or of the last one
  Nanos exit = kNever;
  bool kernel = false;
  bool cut = false;  ///< the wait began before the part
  ThreadInPart::Settled settled = ThreadInPart::Settled::no;
  Nanos from = 0;  ///< start of the current wait, clipped to the part
  Nanos blocked_until = kNotBlocked;
  StateClock::Times waker_before{};  ///< the waker's clock at `from`
  Nanos let_go = 0;                  ///< when a thread last ended a wait of it that was not for a disk
  Nanos disk_at_let_go = 0;          ///< by its own clock
  Nanos behind_disk = 0;        ///< length of its last wait behind another's disk wait, until it is known
  SiteId behind_disk_site = 0;  ///< whether it goes to the disk as well; and that wait's site

  static constexpr Nanos kNotBlocked = -1;
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

std::string text_of(Nanos at) { return at == kNever ? "the end" : std::to_string(at); }

class Sweeper {
 public:
  Sweeper(const Trace& trace, const Histories& histories, const std::vector<ActorId>& wakers,
          const Window& part)
      : trace_(trace),
        wakers_(wakers),
        part_(part),
        forest_(own_sizes(trace)),
        releases_(trace.actors.size()),
        has_released_(trace.actors.size()),
        result_{part.begin,
                SiteSums(trace.sites.size()),
                std::vector<ActorTime>(trace.actors.size()),
                std::vector<ThreadInPart>(trace.actors.size()),
                {},
                std::nullopt} {
    sleepers_.reserve(trace.actors.size());
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      const Actor& actor = trace.actors[id];
      sleepers_.push_back({.clock = StateClock(trace, actor, histories.of(id), part.begin),
                           .exit = actor.exit,
                           .kernel = actor.kernel});
    }
  }

  void run(WaitEvents& events) {
    if (resume(events.open()) && take(events)) finish();
  }

  SweptPart result() && { return std::move(result_); }

 private:
  const Wait& current(ActorId id) const { return trace_.waits[sleepers_[id].wait]; }
  ActorId waker_of(const Wait& wait) const { return wait.wake == kNever ? kNoActor : wakers_[wait.site]; }
  std::uint64_t offset(Nanos time) const { return static_cast<std::uint64_t>(time - trace_.window.begin); }

  /// Takes up the waits that are open at the part's start.
  bool resume(const std::vector<WaitEvents::OpenWait>& open) {
    for (const auto& [index, id] : open) {
      const Wait& wait = trace_.waits[index];
      Sleeper& sleeper = sleepers_[id];
      sleeper.wait = index;
      sleeper.cut = true;
      sleeper.from = part_.begin;
      sleeper.blocked_until = std::min(wait.wake, sleeper.exit);
      sleeper.clock.block(trace_.sites[wait.site].wait_class);
      // All clocks stand at 0, and so does waker_before.
      if (!forest_.begin_wait(id, waker_of(wait), offset(part_.begin))) {
        // Nobody reads this: the part in which the last of these waits began fails too.
        return fail(id, "which was waiting for it in an earlier part");
      }
    }
    return true;
  }

  bool take(WaitEvents& events) {
    for (std::span batch = events.next(); !batch.empty(); batch = events.next()) {
      for (const WaitEvent& event : batch) {
        const Nanos now = trace_.window.begin + event.time();
        const bool ends = sleepers_[event.thread].blocked_until != Sleeper::kNotBlocked;
        if (!(ends ? wake(event.thread, now) : block(event.thread, event.wait, now))) {
          return false;
        }
      }
    }
    return true;
  }

  /// Adds what is open at the part's end up to there.
  void finish() {
    const std::vector<std::uint64_t> open = forest_.weights(offset(part_.end));
    for (ActorId id = 0; id < sleepers_.size(); ++id) {
      const Sleeper& sleeper = sleepers_[id];
      if (sleeper.blocked_until == Sleeper::kNotBlocked) continue;
      ThreadInPart& thread = result_.threads[id];
      thread.waker_disk = add_wait(id, open[id], forest_.waker(id), part_.end);
      thread.whole_part = sleeper.cut;
      if (part_.end == trace_.window.end) count_current(id, part_.end);
    }
    for (ActorId id = 0; id < sleepers_.size(); ++id) {
      add_states(id);
      const Sleeper& sleeper = sleepers_[id];
      ThreadInPart& thread = result_.threads[id];
      thread.last = std::move(releases_[id]);
      thread.settled = sleeper.settled;
      thread.behind_disk = sleeper.behind_disk;
      thread.behind_disk_site = sleeper.behind_disk_site;
      thread.let_go = sleeper.let_go;
      thread.disk = disk_of(id, part_.end) - sleeper.disk_at_let_go;
    }
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
    sleeper.cut = false;
    const ActorId waker = waker_of(wait);
    sleeper.from = now;
    sleeper.blocked_until = std::min(wait.wake, sleeper.exit);
    if (waker != kNoActor) sleeper.waker_before = sleepers_[waker].clock.at(trace_, now);
    return forest_.begin_wait(id, waker, offset(now)) ||
           fail(id, "which was waiting, directly or not, for the former");
  }

  bool wake(ActorId id, Nanos now) {
    const ActorId waker = forest_.waker(id);
    if (waker != kNoActor && sleepers_[waker].blocked_until > now) {
      return fail(id, "which was itself blocked until " + text_of(sleepers_[waker].blocked_until));
    }
    const Nanos disk = add_wait(id, forest_.end_wait(id, offset(now)), waker, now);
    count_current(id, now);
    if (waker != kNoActor) {
      const Sleeper& sleeper = sleepers_[id];
      const std::uint32_t cut = sleeper.cut ? note_cut(id, waker, disk, now) : Release::kWhole;
      note_release(waker, {now - begin_of(sleeper), disk, current(id).site, cut}, now);
    }
    note_disk_turn(id, waker, now);
    sleepers_[id].blocked_until = Sleeper::kNotBlocked;
    sleepers_[id].clock.at(trace_, now);
    sleepers_[id].clock.wake(current(id).run);
    return true;
  }

  void count(const Wait& wait, Nanos exit) {
    SiteSum& sum = result_.sums.sites[wait.site];
    sum.waits += trace_.sites[wait.site].in_flight ? 0U : 1U;
    sum.resume_ns += std::max<Nanos>(
        0, std::min({wait.run, exit, trace_.window.end}) - std::max(wait.wake, trace_.window.begin));
  }

  /// Counts the current wait of `id`, which ends at `now` or at the window's end.
  void count_current(ActorId id, Nanos now) {
    const Wait& wait = current(id);
    count(wait, sleepers_[id].exit);
    if (wait.wake > trace_.window.end) {
      result_.actors[id].open_wait_ns = now - begin_of(sleepers_[id]);
    }
  }

  /// The start of the current wait, clipped to the window.
  Nanos begin_of(const Sleeper& sleeper) const {
    return sleeper.cut ? std::max(trace_.waits[sleeper.wait].block, trace_.window.begin) : sleeper.from;
  }

  /// Notes that `waker` ends the current wait of `id`, which is a cut one. Returns the note's index.
  std::uint32_t note_cut(ActorId id, ActorId waker, Nanos disk, Nanos now) {
    const Sleeper& sleeper = sleepers_[id];
    result_.cut_waits.push_back({.thread = id,
                                 .waker = waker,
                                 .site = current(id).site,
                                 .disk_turn = is_disk_turn(id, waker),
                                 .begin = begin_of(sleeper),
                                 .end = now,
                                 .disk = disk,
                                 .let_go = sleepers_[waker].let_go,
                                 .disk_at_let_go = sleepers_[waker].disk_at_let_go});
    return static_cast<std::uint32_t>(result_.cut_waits.size() - 1);
  }

  /// Notes that `waker` ended a wait at `now`.
  void note_release(ActorId waker, const Release::EndedWait& wait, Nanos now) {
    Release& release = releases_[waker];
    if (now - release.last > kOneRelease && !release.waits.empty()) {
      end_release(waker, release);
    }
    release.add(wait, now);
  }

  void end_release(ActorId waker, Release& release) {
    if (!has_released_[waker]) {
      has_released_[waker] = true;
      std::swap(release, result_.threads[waker].first);
      return;
    }
    if (release.waits.size() > 1) {
      result_.sums.count(release);
      for (const Release::EndedWait& wait : release.waits) {
        if (wait.cut != Release::kWhole) result_.cut_waits[wait.cut].together = true;
      }
    }
    release.waits.clear();
  }

  /// Whether the current wait, which `waker` ends, is one of those around a disk (SiteSum::kept_ns).
  bool is_disk_turn(ActorId id, ActorId waker) const {
    return waker != kNoActor && !sleepers_[id].kernel &&
           trace_.sites[current(id).site].wait_class != WaitClass::disk;
  }

  /// Notes how the wait of `id` that `waker` ends at `now` fits into threads taking turns at a disk
  /// (SiteSum::behind_disk_ns).
  void note_disk_turn(ActorId id, ActorId waker, Nanos now) {
    Sleeper& sleeper = sleepers_[id];
    if (trace_.sites[current(id).site].wait_class == WaitClass::disk) {
      settle_disk_turn(sleeper, ThreadInPart::Settled::at_disk);
      return;
    }
    if (waker == kNoActor || sleeper.kernel) {
      return;
    }
    // When the waker of a cut wait was let go may be known to the parts before only.
    if (!sleeper.cut) take_disk_turn(sleeper, sleepers_[waker], now);
    sleeper.let_go = now;
    sleeper.disk_at_let_go = disk_of(id, now);
  }

  void take_disk_turn(Sleeper& sleeper, Sleeper& waker, Nanos now) {
    const SiteId site = trace_.waits[sleeper.wait].site;
    const bool later = waker.let_go > sleeper.from;
    const Nanos before = later ? waker.disk_at_let_go : sleeper.waker_before[StateClock::on_disk];
    const Nanos disk = waker.clock.at(trace_, now)[StateClock::on_disk] - before;
    SiteSum& sum = result_.sums.sites[site];
    sum.kept_ns += now - (later ? waker.let_go : sleeper.from);
    sum.kept_disk_ns += disk;
    if (disk > 0) {
      settle_disk_turn(sleeper, ThreadInPart::Settled::behind_disk);
      sleeper.behind_disk = now - sleeper.from;
      sleeper.behind_disk_site = site;
    }
  }

  void settle_disk_turn(Sleeper& sleeper, ThreadInPart::Settled how) {
    if (sleeper.settled == ThreadInPart::Settled::no) {
      sleeper.settled = how;
      return;
    }
    SiteSum& sum = result_.sums.sites[sleeper.behind_disk_site];
    sum.behind_disk_ns += sleeper.behind_disk;
    sum.then_disk_ns += how == ThreadInPart::Settled::at_disk ? sleeper.behind_disk : 0;
    sleeper.behind_disk = 0;
  }

  /// How long a thread waited for a disk from the part's start to `now`.
  Nanos disk_of(ActorId id, Nanos now) { return sleepers_[id].clock.at(trace_, now)[StateClock::on_disk]; }

  /// Adds the time of the current wait of `id`, up to `now`, to its site. Returns how long its waker waited
  /// for a disk meanwhile.
  Nanos add_wait(ActorId id, std::uint64_t weight, ActorId waker, Nanos now) {
    const Sleeper& sleeper = sleepers_[id];
    const Nanos length = now - sleeper.from;
    SiteSum& sum = result_.sums.sites[current(id).site];
    sum.wait_ns += length;
    sum.weight_ns += static_cast<Nanos>(weight);
    if (waker == kNoActor) {
      return 0;
    }
    const StateClock::Times& before = sleeper.waker_before;
    const StateClock::Times& after = sleepers_[waker].clock.at(trace_, now);
    const auto during = [&](StateClock::State state) { return after[state] - before[state]; };
    const Nanos running = during(StateClock::running);
    const Nanos runnable = during(StateClock::runnable);
    const Nanos disk = during(StateClock::on_disk);
    const Nanos asleep = during(StateClock::asleep);
    const Nanos blocked = during(StateClock::blocked) + disk + asleep;
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
    const StateClock::Times& times = sleepers_[id].clock.at(trace_, part_.end);
    if (trace_.actors[id].kind != ActorKind::thread) return;
    ActorTime& sum = result_.actors[id];
    sum.running_ns = times[StateClock::running];
    sum.runnable_ns = times[StateClock::runnable];
    sum.blocked_ns = times[StateClock::blocked] + times[StateClock::on_disk] + times[StateClock::asleep];
    sum.unknown_ns = times[StateClock::unknown];
    sum.lifetime_ns = sum.running_ns + sum.runnable_ns + sum.blocked_ns + sum.unknown_ns;
  }

  bool fail(ActorId id, const std::string& why) {
    const Wait& wait = current(id);
    const ActorId waker = trace_.sites[wait.site].waker;
    result_.error = Error{"thread " + std::to_string(trace_.actors[id].tid) + " cannot have waited from " +
                          text_of(wait.block) + " to " + text_of(wait.wake) + " for thread " +
                          std::to_string(trace_.actors[waker].tid) + ", " + why};
    return false;
  }

  const Trace& trace_;
  const std::vector<ActorId>& wakers_;
  Window part_;
  WaitForest forest_;
  std::vector<Release> releases_;   ///< by waker: its latest one
  std::vector<bool> has_released_;  ///< by waker: whether its first one is over
  std::vector<Sleeper> sleepers_;
  SweptPart result_;
};

}  // namespace

SweptPart sweep_part(const Trace& trace, const Histories& histories, const std::vector<ActorId>& wakers,
                     std::span<const Nanos> begins, const Window& part) {
  WaitEvents events(trace, histories, begins, part);
  Sweeper sweeper(trace, histories, wakers, part);
  sweeper.run(events);
  return std::move(sweeper).result();
}

}  // namespace offwait
