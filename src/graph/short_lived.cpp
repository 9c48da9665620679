// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/short_lived.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "model/called.h"

namespace offwait {

namespace {

/// A change in the number of threads of a group that are in some state.
struct Change {
  Nanos at = 0;
  int by = 0;
};

/// At one instant the ends come before the begins, because intervals that touch do not overlap.
void sort_changes(std::vector<Change>& changes) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return std::pair(a.at, a.by) < std::pair(b.at, b.by); });
}

int most_at_once(std::vector<Change> changes) {
  sort_changes(changes);
  int now = 0;
  int most = 0;
  for (const Change& change : changes) {
    now += change.by;
    most = std::max(most, now);
  }
  return most;
}

/// The time in which there is at least one.
Nanos at_least_one(std::vector<Change> changes) {
  sort_changes(changes);
  Nanos total = 0;
  Nanos since = 0;
  int now = 0;
  for (const Change& change : changes) {
    if (now <= 0 && now + change.by > 0) {
      since = change.at;
    } else if (now > 0 && now + change.by <= 0) {
      total += change.at - since;
    }
    now += change.by;
  }
  return total;
}

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
    trace_.frames.push_back({.function = "[no thread of it alive]"});
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

  std::vector<Change> lives_of(const std::vector<ActorId>& members) const {
    std::vector<Change> lives;
    for (const ActorId id : members) {
      lives.push_back({clamp(trace_.actors[id].start), 1});
      lives.push_back({clamp(trace_.actors[id].exit), -1});
    }
    return lives;
  }

  void find_groups() {
    find_brief_processes();
    std::map<Key, std::vector<ActorId>> similar;
    std::map<Key, std::vector<ActorId>> cut_off;  // processes that the window's begin or end cuts off
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
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> group_of(with_.actors_, kNone);
    std::vector<std::vector<Change>> busy(groups_.size());
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
      for (const ActorId id : groups_[i].members) {
        group_of[id] = i;
        busy[i].push_back({clamp(trace_.actors[id].start), 1});
        busy[i].push_back({clamp(trace_.actors[id].exit), -1});
      }
    }
    const auto leave_out = [&](ActorId thread, Nanos from, Nanos to) {
      if (const std::uint32_t group = group_of[thread]; group != kNone) {
        busy[group].push_back({clamp(from), -1});
        busy[group].push_back({clamp(std::min(to, trace_.actors[thread].exit)), 1});
      }
    };
    for (const Wait& wait : trace_.waits) {
      leave_out(trace_.sites[wait.site].thread, wait.block, wait.wake);
    }
    for (const Gap& gap : trace_.gaps) {
      leave_out(gap.thread, gap.from, gap.to);
    }
    for (std::size_t i = 0; i < busy.size(); ++i) {
      groups_[i].busy_ns = at_least_one(std::move(busy[i]));
    }
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
