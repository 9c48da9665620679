// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/doubts.h"

#include <algorithm>

namespace offwait {

namespace {

Doubt doubt_of_waits(Nanos unknown_ns, Nanos guessed_ns, Nanos of_ns) {
  if (!is_much(unknown_ns + guessed_ns, of_ns)) return Doubt::none;
  return unknown_ns > guessed_ns ? Doubt::unknown_wakers : Doubt::guessed_locks;
}

/// Adds up the times of all groups of the progress that doubts rest on; the other fields stay 0.
GroupUse sum_of(const Progress& progress, const Uses& uses) {
  GroupUse out;
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId group : part.groups) {
      out.unknown_ns += uses.groups[group].unknown_ns;
      out.guessed_ns += uses.groups[group].guessed_ns;
      out.lifetime_ns += uses.groups[group].lifetime_ns;
    }
  }
  return out;
}

/// By GroupId: waits for locks for some of which a wait ended by looking.
std::vector<Nanos> waits_for_looked(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds) {
  std::vector<Nanos> out(groups.groups.size());
  std::vector<bool> looked(kinds.locks.all.size());
  const auto is_looked = [&kinds](SiteId site) { return kinds.of_site[site] == WaitKind::looked; };
  for (const Wait& wait : trace.waits) {
    const LockId lock = is_looked(wait.site) ? kinds.locks.of(wait) : kNoLock;
    if (lock != kNoLock) looked[lock] = true;
  }
  if (std::find(looked.begin(), looked.end(), true) == looked.end()) return out;
  for (const Wait& wait : trace.waits) {
    const LockId lock = kinds.locks.of(wait);
    if (lock == kNoLock || !looked[lock]) continue;
    out[groups.group_of[trace.sites[wait.site].thread]] += clipped(wait.block, wait.wake, trace.window);
  }
  return out;
}

}  // namespace

Doubts::Doubts(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses)
    : groups_(groups),
      uses_(uses),
      looked_ns_(waits_for_looked(trace, groups, kinds)),
      runtimes_(runtimes_of(trace)),
      lost_(lost_time(trace)) {}

Doubt Doubts::rough(const Progress& progress, const std::optional<PathToExit>& path) const {
  if (lost_.matters()) return Doubt::lost_events;
  if (path) return doubt_of_waits(path->unknown_ns, path->guessed_ns, path->length_ns);
  const GroupUse use = sum_of(progress, uses_);
  return doubt_of_waits(use.unknown_ns, use.guessed_ns, use.lifetime_ns);
}

bool Doubts::looked(const Progress& progress) const {
  Nanos looked_ns = 0;
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId group : part.groups) looked_ns += looked_ns_[group];
  }
  return is_much(looked_ns, sum_of(progress, uses_).lifetime_ns);
}

bool Doubts::runs_tasks(const Progress& progress) const {
  return std::any_of(progress.parts.begin(), progress.parts.end(), [this](const ProgressPart& part) {
    return std::any_of(part.groups.begin(), part.groups.end(), [this](GroupId group) {
      const std::vector<ActorId>& members = groups_.groups[group].members;
      return std::any_of(members.begin(), members.end(),
                         [this](ActorId thread) { return runtimes_[thread] != Runtime::none; });
    });
  });
}

}  // namespace offwait
