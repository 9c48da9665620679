// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/behind_locks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <unordered_map>

namespace offwait {

namespace {

/// This many waits tell as well as all.
constexpr std::size_t kMostLookedAt = 250'000;

/// A wait of a thread, and how much of it is behind the lock.
struct Behind {
  Nanos from = 0;
  Nanos to = 0;
  double ns = 0;
  double before = 0;  ///< `ns` of the thread's earlier waits, added up
};

/// How much of the time until `at` is behind the lock. `waits` are disjoint and in order.
double until(const std::vector<Behind>& waits, Nanos at) {
  const auto after =
      std::partition_point(waits.begin(), waits.end(), [at](const Behind& one) { return one.from < at; });
  if (after == waits.begin()) return 0;
  const Behind& last = *std::prev(after);
  const double part =
      at >= last.to ? 1 : static_cast<double>(at - last.from) / static_cast<double>(last.to - last.from);
  return last.before + part * last.ns;
}

/// The first waits, in the order of their ends.
std::vector<std::uint32_t> first_waits(const Trace& trace) {
  std::vector<std::uint32_t> out(std::min(trace.waits.size(), kMostLookedAt));
  std::iota(out.begin(), out.end(), 0U);
  std::stable_sort(out.begin(), out.end(), [&trace](std::uint32_t a, std::uint32_t b) {
    return trace.waits[a].wake < trace.waits[b].wake;
  });
  return out;
}

}  // namespace

std::vector<std::vector<double>> behind_locks(const Trace& trace, const ThreadGroups& groups,
                                              const WaitKinds& kinds, const Uses& uses,
                                              const LockHolds& holds) {
  std::vector<std::vector<double>> out;
  if (holds.locks().empty()) return out;
  const std::vector<std::uint32_t> waits = first_waits(trace);
  const bool all = trace.waits.size() <= kMostLookedAt;
  const Window seen{trace.window.begin, all ? trace.window.end : trace.waits[kMostLookedAt].block};
  const double seen_part = static_cast<double>(seen.length()) / static_cast<double>(trace.window.length());
  // A time-out in vain is a part of the wait that ended otherwise.
  const std::unordered_map<std::uint32_t, SiteId> parts(kinds.time_outs.all().begin(),
                                                        kinds.time_outs.all().end());
  std::vector<LockId> lock_of;  // parallel to `waits`
  for (const std::uint32_t id : waits) {
    Wait wait = trace.waits[id];
    if (const auto part = parts.find(id); part != parts.end()) wait.site = part->second;
    lock_of.push_back(holds.lock_of(kinds, wait));
  }
  for (LockId lock = 0; lock < holds.locks().size(); ++lock) {
    std::vector<std::vector<Behind>> behind(trace.actors.size());
    std::vector<double> by_group(groups.groups.size());
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const Wait& wait = trace.waits[waits[i]];
      const WaitSite& site = trace.sites[wait.site];
      Behind one{std::max(wait.block, seen.begin), std::min(wait.wake, seen.end)};
      if (lock_of[i] == lock) {
        one.to = std::min(std::max(wait.wake, wait.run), seen.end);
        one.ns = static_cast<double>(std::max<Nanos>(0, one.to - one.from));
      } else if (site.waker != kNoActor && site.waker != site.thread) {
        one.ns = until(behind[site.waker], one.to) - until(behind[site.waker], one.from);
      }
      if (one.ns <= 0) continue;
      std::vector<Behind>& own = behind[site.thread];
      if (!own.empty()) one.before = own.back().before + own.back().ns;
      own.push_back(one);
      by_group[groups.group_of[site.thread]] += one.ns;
    }
    for (GroupId id = 0; id < by_group.size(); ++id) {
      const double life = seen_part * static_cast<double>(uses.groups[id].lifetime_ns);
      by_group[id] = life > 0 ? std::min(1.0, by_group[id] / life) : 0;
    }
    out.push_back(std::move(by_group));
  }
  return out;
}

}  // namespace offwait
