// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/short_lived.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

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
  bool is_candidate(const Actor& actor) const {
    const Window& window = trace_.window;
    return actor.kind == ActorKind::thread && actor.start > window.begin && actor.exit < window.end &&
           actor.exit - actor.start <= window.length() / 2 && !actor.name.empty() && actor.tgid != 0;
  }

  void find_groups() {
    // By (outside, forked as a process of its own, process or forking process, name pattern).
    std::map<std::tuple<bool, bool, std::int32_t, std::string>, std::vector<ActorId>> similar;
    for (ActorId id = 0; id < with_.actors_; ++id) {
      const Actor& actor = trace_.actors[id];
      if (!is_candidate(actor)) {
        continue;
      }
      const std::int32_t creator = actor.parent == kNoActor ? actor.tgid : trace_.actors[actor.parent].tgid;
      const bool forked = creator != 0 && creator != actor.tgid;
      similar[{actor.outside, forked, forked ? creator : actor.tgid, name_pattern(actor.name)}].push_back(id);
    }
    for (auto& [key, members] : similar) {
      std::vector<Change> lives;
      for (const ActorId id : members) {
        lives.push_back({trace_.actors[id].start, 1});
        lives.push_back({trace_.actors[id].exit, -1});
      }
      const auto most = static_cast<std::size_t>(most_at_once(lives));
      if (members.size() >= 2 && members.size() >= 2 * most) {
        groups_.push_back({std::move(members), kNoActor, at_least_one(std::move(lives)), 0});
      }
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
        busy[i].push_back({trace_.actors[id].start, 1});
        busy[i].push_back({trace_.actors[id].exit, -1});
      }
    }
    const auto leave_out = [&](ActorId thread, Nanos from, Nanos to) {
      if (const std::uint32_t group = group_of[thread]; group != kNone) {
        busy[group].push_back({from, -1});
        busy[group].push_back({std::min(to, trace_.actors[thread].exit), 1});
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
    stand_in.name = first.name;
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
      trace_.waits.push_back({site->second, 0, from, to, to});
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
    wait(kNoActor, alive_until, kNever);
  }

  TraceWithStandIns with_;
  Trace& trace_;                                   ///< with_.trace_
  std::vector<ShortLived>& groups_;                ///< with_.groups_
  std::map<ActorId, std::vector<Span>> waits_of_;  ///< by creator, in order of time
};

std::string name_pattern(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      pattern.push_back(c);
    } else if (pattern.empty() || pattern.back() != '0') {
      pattern.push_back('0');
    }
  }
  return pattern;
}

TraceWithStandIns stand_in_for_short_lived(Trace trace) { return StandIns(std::move(trace)).run(); }

}  // namespace offwait
