// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/short_lived.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "model/called.h"
#include "model/histories.h"

namespace offwait {

namespace {

/// A change in the number of threads of a group that are in some state.
struct CountChange {
  Nanos at = 0;
  int by = 0;
};

/// At one instant the ends come before the starts, because intervals that touch do not overlap.
void sort_changes(std::vector<CountChange>& changes) {
  std::sort(changes.begin(), changes.end(), [](const CountChange& a, const CountChange& b) {
    return std::pair(a.at, a.by) < std::pair(b.at, b.by);
  });
}

int most_at_once(std::vector<CountChange> changes) {
  sort_changes(changes);
  int now = 0;
  int most = 0;
  for (const CountChange& change : changes) {
    now += change.by;
    most = std::max(most, now);
  }
  return most;
}

/// The time in which there is at least one.
Nanos at_least_one(std::vector<CountChange> changes) {
  sort_changes(changes);
  Nanos total = 0;
  Nanos since = 0;
  int now = 0;
  for (const CountChange& change : changes) {
    if (now <= 0 && now + change.by > 0) {
      since = change.at;
    } else if (now > 0 && now + change.by <= 0) {
      total += change.at - since;
    }
    now += change.by;
  }
  return total;
}

/// The starts and ends of a thread's being busy, which is neither blocked nor unknown, in order of time.
class BusyThread {
 public:
  /// It lives in [start, exit), a part of the window.
  BusyThread(const Trace& trace, Nanos start, Nanos exit, const History& history)
      : trace_(&trace), history_(history), at_(start), exit_(exit) {}

  /// The time of the next start or end.
  Nanos at() const { return at_; }
  /// Whether there is no next one, because the thread has exited.
  bool is_gone() const { return is_gone_; }

  /// Goes on to the start or end after it. Returns 1 if the thread was busy from at() on, and -1 if it was
  /// until then.
  int change() {
    is_busy_ = !is_busy_;
    if (is_busy_) {
      take_next();
      at_ = std::max(at_, std::min(away_from_, exit_));
      return 1;
    }
    is_gone_ = at_ >= exit_;
    at_ = std::max(at_, std::min(away_to_, exit_));
    return -1;
  }

 private:
  /// Takes the next wait or gap off the history.
  void take_next() {
    away_from_ = away_to_ = kNever;
    const Wait* const wait = history_.waits.empty() ? nullptr : &trace_->waits[history_.waits.front()];
    const Gap* const gap = history_.gaps.empty() ? nullptr : &trace_->gaps[history_.gaps.front()];
    if (wait != nullptr && (gap == nullptr || wait->block <= gap->from)) {
      away_from_ = wait->block;
      away_to_ = wait->wake;
      history_.waits = history_.waits.subspan(1);
    } else if (gap != nullptr) {
      away_from_ = gap->from;
      away_to_ = gap->to;
      history_.gaps = history_.gaps.subspan(1);
    }
  }

  const Trace* trace_;
  History history_;  ///< what is still to come
  Nanos at_;
  Nanos exit_;
  Nanos away_from_ = kNever;  ///< the next wait or gap, or the one that the thread is in
  Nanos away_to_ = kNever;
  bool is_busy_ = false;
  bool is_gone_ = false;
};

struct Span {
  Nanos block = 0;
  Nanos wake = 0;
};

}  // namespace

TraceWithStandIns::TraceWithStandIns(Trace trace)
    : trace_(std::move(trace)),
      actors_(trace_.actors.size()),
      sites_(trace_.sites.size()),
      waits_(trace_.waits.size()) {}

/// Adds the stand-ins to a trace.
class StandIns {
 public:
  explicit StandIns(Trace trace) : with_(std::move(trace)), trace_(with_.trace_), groups_(with_.groups_) {}

  TraceWithStandIns run() {
    find_groups();
    if (groups_.empty()) {
      return std::move(with_);
    }
    measure();
    collect_waits_of_creators();
    const auto stack = static_cast<StackId>(trace_.stacks.size());
    trace_.stacks.push_back({{static_cast<FrameId>(trace_.frames.size())}});
    trace_.frames.push_back(not_alive_frame());
    for (ShortLived& group : groups_) {
      add_stand_in(group, stack);
    }
    return std::move(with_);
  }

 private:
  Nanos clamp(Nanos at) const { return std::clamp(at, trace_.window.begin, trace_.window.end); }

  /// Lives for at most half of the window, as far as it was recorded.
  bool is_brief(const Actor& actor) const {
    return actor.kind == ActorKind::thread && !actor.name.empty() && actor.tgid != 0 &&
           clamp(actor.exit) - clamp(actor.start) <= trace_.window.length() / 2;
  }

  bool is_candidate(const Actor& actor) const {
    return is_brief(actor) && actor.start > trace_.window.begin && actor.exit < trace_.window.end;
  }

  /// Was forked as a process of its own.
  bool is_process(const Actor& actor) const {
    return actor.parent == kNoActor ? actor.tid == actor.tgid
                                    : trace_.actors[actor.parent].tgid != actor.tgid;
  }

  struct Key {
    bool outside = false;
    bool process = false;
    std::string where;  ///< of a thread: its process's number or, if that is short-lived, its name
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key key_of(const Actor& actor) const {
    const bool process = is_process(actor);
    std::string where;
    if (!process) {
      const auto brief = brief_processes_.find(actor.tgid);
      where = brief != brief_processes_.end() ? brief->second : std::to_string(actor.tgid);
    }
    return {actor.outside, process, std::move(where), alike(actor)};
  }

  void find_brief_processes() {
    for (ActorId id = 0; id < with_.actors_; ++id) {
      const Actor& actor = trace_.actors[id];
      if (is_candidate(actor) && is_process(actor)) {
        brief_processes_.emplace(actor.tgid, alike(actor));
      }
    }
  }

  std::vector<CountChange> lives_of(const std::vector<ActorId>& members) const {
    std::vector<CountChange> lives;
    for (const ActorId id : members) {
      lives.push_back({clamp(trace_.actors[id].start), 1});
      lives.push_back({clamp(trace_.actors[id].exit), -1});
    }
    return lives;
  }

  void find_groups() {
    find_brief_processes();
    std::map<Key, std::vector<ActorId>> similar;
    std::map<Key, std::vector<ActorId>> cut_off;  // processes that the window's start or end cuts off
    for (ActorId id = 0; id < with_.actors_; ++id) {
      const Actor& actor = trace_.actors[id];
      if (is_candidate(actor)) {
        similar[key_of(actor)].push_back(id);
      } else if (is_brief(actor) && is_process(actor)) {
        cut_off[key_of(actor)].push_back(id);
      }
    }
    for (auto& [key, members] : similar) {
      const auto most = static_cast<std::size_t>(most_at_once(lives_of(members)));
      if (members.size() < (key.process ? most + 1 : 2 * most)) {
        continue;
      }
      if (const auto more = cut_off.find(key); more != cut_off.end()) {
        members.insert(members.end(), more->second.begin(), more->second.end());
        std::sort(members.begin(), members.end());
      }
      const Nanos alive = at_least_one(lives_of(members));
      groups_.push_back({std::move(members), kNoActor, alive, 0});
    }
  }

  /// Sets busy_ns of the groups.
  void measure() {
    const Histories histories(trace_);
    for (ShortLived& group : groups_) group.busy_ns = busy_ns(group.members, histories);
  }

  /// The time in which at least one of the threads is neither blocked nor unknown. Their histories are
  /// merged, because to sort all begins and ends of waits would take more memory than the waits.
  Nanos busy_ns(const std::vector<ActorId>& members, const Histories& histories) const {
    std::vector<BusyThread> threads;
    for (const ActorId id : members)
      threads.emplace_back(trace_, clamp(trace_.actors[id].start), clamp(trace_.actors[id].exit),
                           histories.of(id));
    std::sort(threads.begin(), threads.end(),
              [](const BusyThread& a, const BusyThread& b) { return a.at() < b.at(); });
    using Turn = std::pair<Nanos, std::size_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;  // of those that were born
    Nanos total = 0;
    Nanos since = 0;
    int busy = 0;
    for (std::size_t born = 0; born < threads.size() || !turns.empty();) {
      if (born < threads.size() && (turns.empty() || threads[born].at() <= turns.top().first)) {
        turns.emplace(threads[born].at(), born);
        ++born;
      }
      const auto [at, index] = turns.top();
      turns.pop();
      const int by = threads[index].change();
      if (busy == 0) since = at;
      busy += by;
      if (busy == 0) total += at - since;
      if (!threads[index].is_gone()) turns.emplace(threads[index].at(), index);
    }
    return total;
  }

  void collect_waits_of_creators() {
    std::vector<bool> creates(with_.actors_, false);
    for (const ShortLived& group : groups_) {
      for (const ActorId id : group.members) {
        if (trace_.actors[id].parent != kNoActor) {
          creates[trace_.actors[id].parent] = true;
        }
      }
    }
    for (const Wait& wait : trace_.waits) {
      const ActorId thread = trace_.sites[wait.site].thread;
      if (creates[thread]) {
        waits_of_[thread].push_back({wait.block, wait.wake});
      }
    }
  }

  bool blocked_at(ActorId thread, Nanos at) const {
    const auto waits = waits_of_.find(thread);
    if (waits == waits_of_.end()) {
      return false;
    }
    // The last wait that began before is the one before `next`.
    const auto next = std::lower_bound(waits->second.begin(), waits->second.end(), at,
                                       [](const Span& wait, Nanos time) { return wait.block < time; });
    return next != waits->second.begin() && std::prev(next)->wake > at;
  }

  void add_stand_in(ShortLived& group, StackId stack) {
    group.stand_in = static_cast<ActorId>(trace_.actors.size());
    const Actor& first = trace_.actors[group.members.front()];
    Actor stand_in;
    stand_in.name = called(first);
    stand_in.tid = first.tid;
    stand_in.tgid = first.tgid;
    stand_in.outside = first.outside;
    stand_in.start = stand_in.seen = trace_.window.begin;
    trace_.actors.push_back(std::move(stand_in));

    std::vector<ActorId> by_birth = group.members;
    std::stable_sort(by_birth.begin(), by_birth.end(), [this](ActorId a, ActorId b) {
      return trace_.actors[a].start < trace_.actors[b].start;
    });
    std::map<ActorId, SiteId> sites;  // by waker
    const auto wait = [&](ActorId waker, Nanos from, Nanos to) {
      const auto [site, added] = sites.try_emplace(waker, static_cast<SiteId>(trace_.sites.size()));
      if (added) {
        trace_.sites.push_back({group.stand_in, waker, WaitClass::other, stack, kNoStack});
      }
      trace_.waits.push_back({site->second, kNoObject, from, to, to});
    };
    Nanos alive_until = trace_.window.begin;
    for (const ActorId id : by_birth) {
      const Actor& next = trace_.actors[id];
      if (next.start > alive_until) {
        const bool known = next.parent != kNoActor && !blocked_at(next.parent, next.start);
        wait(known ? next.parent : kNoActor, alive_until, next.start);
      }
      alive_until = std::max(alive_until, next.exit);
    }
    if (alive_until < trace_.window.end) {
      wait(kNoActor, alive_until, kNever);
    }
  }

  TraceWithStandIns with_;
  Trace& trace_;                                         ///< with_.trace_
  std::vector<ShortLived>& groups_;                      ///< with_.groups_
  std::map<std::int32_t, std::string> brief_processes_;  ///< short-lived ones by tgid, with their names
  std::map<ActorId, std::vector<Span>> waits_of_;        ///< by creator, in order of time
};

TraceWithStandIns stand_in_for_short_lived(Trace trace) { return StandIns(std::move(trace)).run(); }

}  // namespace offwait
