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

#include "graph/wait_forest.h"
#include "model/histories.h"

namespace offwait {

namespace {

using Indices = std::span<const std::uint32_t>;

// kOnDisk and kAsleep are parts of blocked.
enum State : std::uint8_t { kRunning, kRunnable, kBlocked, kOnDisk, kAsleep, kUnknown };
using StateTimes = std::array<Nanos, 6>;

/// Adds up the states of one thread, from the begin of its lifetime in the window to an instant that only
/// moves forward.
class StateClock {
 public:
  StateClock(const Trace& trace, const Actor& actor, const History& history)
      : history_(history),
        since_(std::max(actor.start, trace.window.begin)),
        end_(std::max(since_, std::min(actor.exit, trace.window.end))),
        until_(std::min(actor.seen, next_start(trace))) {}

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

 private:
  void spend(Nanos to) {
    times_[state_] += to - since_;
    since_ = to;
  }

  Nanos next_block(const Trace& trace) const {
    return history_.waits.empty() ? kNever : trace.waits[history_.waits.front()].block;
  }
  Nanos next_out(const Trace& trace) const {
    return history_.preemptions.empty() ? kNever : trace.preemptions[history_.preemptions.front()].out;
  }
  Nanos next_gap(const Trace& trace) const {
    return history_.gaps.empty() ? kNever : trace.gaps[history_.gaps.front()].from;
  }
  Nanos next_start(const Trace& trace) const {
    return std::min({next_block(trace), next_out(trace), next_gap(trace)});
  }

  /// Goes to the state after the one that ended at since_ or, for records from before the window, earlier.
  void next_state(const Trace& trace) {
    const auto enter = [this](State state, Nanos until) {
      state_ = state;
      until_ = until;
    };
    if (run_ > since_) {
      return enter(kRunnable, run_);
    }
    const Nanos start = next_start(trace);
    if (start > since_) {
      return enter(kRunning, start);
    }
    const auto take = [](Indices& indices) {
      const std::uint32_t index = indices.front();
      indices = indices.subspan(1);
      return index;
    };
    if (next_block(trace) == start) {
      const Wait& wait = trace.waits[take(history_.waits)];
      run_ = wait.run;
      const WaitClass wait_class = trace.sites[wait.site].wait_class;
      return enter(wait_class == WaitClass::disk    ? kOnDisk
                   : wait_class == WaitClass::sleep ? kAsleep
                                                    : kBlocked,
                   wait.wake);
    }
    if (next_out(trace) == start) {
      return enter(kRunnable, trace.preemptions[take(history_.preemptions)].run);
    }
    enter(kUnknown, trace.gaps[take(history_.gaps)].to);
  }

  History history_;  ///< the entries that are still to come
  StateTimes times_{};
  Nanos since_;
  Nanos end_;
  Nanos until_;    ///< when state_ ends
  Nanos run_ = 0;  ///< when the runnable time after the current wait ends
  State state_ = kUnknown;
};

struct Sleeper {
  StateClock clock;
  Indices waits;  ///< the current or next wait and all later ones
  Nanos exit = kNever;
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

/// Finds the smallest of many keys, of which only the smallest is ever replaced. A loser tree needs half the
/// comparisons of a heap, and no branch that is hard to predict.
class Tournament {
 public:
  static constexpr std::uint64_t kOut = UINT64_MAX;

  explicit Tournament(const std::vector<std::uint64_t>& keys) {
    while (leaves_ < keys.size()) {
      leaves_ *= 2;
    }
    nodes_.resize(2 * leaves_);
    for (std::size_t i = 0; i < leaves_; ++i) {
      nodes_[leaves_ + i] = {i < keys.size() ? keys[i] : kOut, static_cast<std::uint32_t>(i)};
    }
    std::vector<Entry> winners = nodes_;
    for (std::size_t node = leaves_ - 1; node > 0; --node) {
      const Entry& left = winners[2 * node];
      const Entry& right = winners[2 * node + 1];
      const bool left_wins = left.key <= right.key;
      nodes_[node] = left_wins ? right : left;
      winners[node] = left_wins ? left : right;
    }
    winner_ = winners[1];
    nodes_.resize(leaves_);
  }

  std::uint64_t key() const { return winner_.key; }
  std::uint32_t player() const { return winner_.player; }

  void replace(std::uint64_t key) {
    Entry current{key, winner_.player};
    for (std::size_t node = (leaves_ + current.player) / 2; node > 0; node /= 2) {
      Entry& loser = nodes_[node];
      // The fields are assigned one by one so that the compiler makes conditional moves: the outcome of the
      // comparison is hard to predict.
      const Entry other = loser;
      const bool lost = other.key < current.key;
      loser.key = lost ? current.key : other.key;
      loser.player = lost ? current.player : other.player;
      current.key = lost ? other.key : current.key;
      current.player = lost ? other.player : current.player;
    }
    winner_ = current;
  }

 private:
  struct Entry {
    std::uint64_t key = kOut;
    std::uint32_t player = 0;
  };
  std::size_t leaves_ = 1;
  std::vector<Entry> nodes_;
  Entry winner_;
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
    sleepers_.reserve(trace.actors.size());
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      const History history = histories_.of(id);
      const Actor& actor = trace.actors[id];
      sleepers_.push_back(
          {.clock = StateClock(trace, actor, history), .waits = history.waits, .exit = actor.exit});
    }
  }

  std::optional<Error> run() {
    std::vector<ActorId> players;
    std::vector<std::uint64_t> keys;
    for (ActorId id = 0; id < sleepers_.size(); ++id) {
      if (sleepers_[id].waits.empty()) {
        continue;
      }
      players.push_back(id);
      keys.push_back(key_of_next_block(id));
    }
    Tournament tournament(keys);
    while (tournament.key() != Tournament::kOut) {
      const ActorId id = players[tournament.player()];
      const Nanos now = trace_.window.begin + static_cast<Nanos>(tournament.key() / 2);
      if (sleepers_[id].blocked_until == Sleeper::kNotBlocked) {
        if (!block(id, now)) {
          return error_;
        }
        tournament.replace(key_of_wake(id));
      } else {
        if (!wake(id, now)) {
          return error_;
        }
        tournament.replace(key_of_next_block(id));
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
  const Wait& current(ActorId id) const { return trace_.waits[sleepers_[id].waits.front()]; }

  // Keys of the tournament are in order of time, and at one instant wakes come before blocks. Otherwise a
  // thread that is woken and at the same instant wakes another, or sleeps again, would be a contradiction.
  std::uint64_t offset(Nanos time) const { return static_cast<std::uint64_t>(time - trace_.window.begin); }

  std::uint64_t key_of_wake(ActorId id) const {
    const Nanos wake = sleepers_[id].blocked_until;
    return wake > trace_.window.end ? Tournament::kOut : offset(wake) * 2;
  }

  void count(const Wait& wait) {
    SiteSum& sum = result_.sites[wait.site];
    sum.waits += trace_.sites[wait.site].in_flight ? 0U : 1U;
    const Nanos exit = trace_.actors[trace_.sites[wait.site].thread].exit;
    sum.resume_ns += std::max<Nanos>(
        0, std::min({wait.run, exit, trace_.window.end}) - std::max(wait.wake, trace_.window.begin));
  }

  /// The key of the thread's next wait that is not empty. Counts and skips empty ones.
  std::uint64_t key_of_next_block(ActorId id) {
    const Window& window = trace_.window;
    Indices& waits = sleepers_[id].waits;
    for (; !waits.empty(); waits = waits.subspan(1)) {
      const Wait& wait = trace_.waits[waits.front()];
      if (wait.block >= window.end) {
        break;
      }
      if (wait.block == wait.wake) {
        if (wait.block >= window.begin) {
          count(wait);
        }
        continue;
      }
      if (std::min(wait.wake, sleepers_[id].exit) > window.begin) {
        return offset(std::max(wait.block, window.begin)) * 2 + 1;
      }
    }
    return Tournament::kOut;
  }

  bool block(ActorId id, Nanos now) {
    Sleeper& sleeper = sleepers_[id];
    const Wait& wait = current(id);
    ActorId waker = trace_.sites[wait.site].waker;
    if (wait.wake == kNever || !is_thread(waker)) waker = kNoActor;
    sleeper.clock.at(trace_, now);
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
    sleepers_[id].waits = sleepers_[id].waits.subspan(1);
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
    if (waker_id == kNoActor || trace_.actors[id].kernel) {
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
    count(current(id));
    SiteSum& sum = result_.sites[current(id).site];
    sum.wait_ns += length;
    sum.weight_ns += static_cast<Nanos>(weight);
    if (current(id).wake > trace_.window.end) {
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
