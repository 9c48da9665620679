// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/shared_requests.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace offwait {

namespace {

/// A request serves several threads if this many go on after each wait for a disk, on average.
constexpr double kSeveral = 1.2;

/// This many waits tell as well as all how many threads a request serves.
constexpr std::size_t kMostWaits = 1'000'000;

/// Waits of a group's threads for others that came back from the disk.
struct Behind {
  double gone_on = 0;  ///< how many of them ended with the thread not going to the disk itself
  double waited_ns = 0;
  double requests = 0;
};

/// What the threads of one group did at one disk.
struct AtDisk {
  double waited_ns = 0;
  double turns = 0;                  ///< the waits of one call, which are in different places, are one turn
  std::map<GroupId, Behind> behind;  ///< by the group of the thread that was at the disk, maybe its own
};

class Reader {
 public:
  Reader(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds)
      : trace_(trace),
        groups_(groups),
        kinds_(kinds),
        own_(trace.actors.size()),
        waits(trace.actors.size()),
        fellows(trace.actors.size()),
        others(trace.actors.size()) {
    const std::size_t most = std::min(trace.waits.size(), kMostWaits);
    turn_.resize(most);
    disk_.resize(most);
    for (std::uint32_t id = 0; id < most; ++id) {
      own_[trace.sites[trace.waits[id].site].thread].push_back(id);
    }
    if (most > 0) part_read = static_cast<double>(most) / static_cast<double>(trace.waits.size());
    for (const std::vector<std::uint32_t>& of_thread : own_) find_turns(of_thread);
    for (const std::vector<std::uint32_t>& of_thread : own_) read(of_thread);
  }

 private:
  ActorId disk_of(std::uint32_t id) const {
    const SiteId site = trace_.waits[id].site;
    if (kinds_.of_site[site] == WaitKind::disk) return trace_.sites[site].waker;
    const DiskPartRange parts = parts_of(kinds_.disk_parts, id);
    return parts.begin() != parts.end() ? parts.begin()->disk : kNoActor;
  }

  /// Kernel threads and servers below a device are a part of it.
  bool counts(GroupId group) const {
    return group != kNoGroup && !kinds_.below_devices[group] && !groups_.groups[group].recorder;
  }

  void find_turns(const std::vector<std::uint32_t>& of_thread) {
    ActorId before = kNoActor;
    std::set<SiteId> places;
    Nanos begin = 0;
    for (const std::uint32_t id : of_thread) {
      const Wait& wait = trace_.waits[id];
      const ActorId disk = disk_[id] = disk_of(id);
      const bool is_new = disk != before || !places.insert(wait.site).second;
      before = disk;
      if (is_new) {
        places = {wait.site};
        begin = wait.block;
      }
      turn_[id] = begin;
      const GroupId group = groups_.group_of[trace_.sites[wait.site].thread];
      if (disk == kNoActor || wait.wake == kNever) continue;
      waits[disk] += 1;
      if (!counts(group)) continue;
      AtDisk& at = disks[disk][group];
      at.waited_ns += static_cast<double>(clipped(wait.block, wait.wake, trace_.window));
      if (is_new) at.turns += 1;
    }
  }

  void read(const std::vector<std::uint32_t>& of_thread) {
    for (std::size_t i = 0; i < of_thread.size(); ++i) {
      const Wait& wait = trace_.waits[of_thread[i]];
      const WaitSite& site = trace_.sites[wait.site];
      const WaitKind kind = kinds_.of_site[wait.site];
      if ((kind != WaitKind::handover && kind != WaitKind::lock) || wait.wake == kNever) continue;
      const std::vector<std::uint32_t>& of_waker = own_[site.waker];
      const auto after = std::partition_point(of_waker.begin(), of_waker.end(), [&](std::uint32_t id) {
        return trace_.waits[id].block < wait.wake;
      });
      if (after == of_waker.begin()) continue;
      const std::uint32_t before = *(after - 1);
      const ActorId disk = disk_[before];
      if (disk == kNoActor) continue;
      const GroupId group = groups_.group_of[site.thread];
      const GroupId leader = groups_.group_of[site.waker];
      const bool goes_on = i + 1 >= of_thread.size() || disk_[of_thread[i + 1]] != disk;
      if (goes_on) (group == leader ? fellows : others)[disk] += 1;
      if (!counts(group) || !counts(leader)) continue;
      // A thread of another group may wait for more than the disk before the turn that serves it.
      const bool came_before = wait.block < turn_[before];
      const Nanos from = came_before && group != leader ? turn_[before] : wait.block;
      Behind& behind = disks[disk][group].behind[leader];
      behind.waited_ns += static_cast<double>(clipped(from, wait.wake, trace_.window));
      behind.requests += came_before && group == leader ? 2 : 1;
      if (goes_on) behind.gone_on += 1;
    }
  }

  const Trace& trace_;
  const ThreadGroups& groups_;
  const WaitKinds& kinds_;
  std::vector<std::vector<std::uint32_t>> own_;  ///< by ActorId: waits of the thread, in order
  // By the wait's index:
  std::vector<Nanos> turn_;    ///< when its turn at the disk began
  std::vector<ActorId> disk_;  ///< what it is for; kNoActor: no disk

 public:
  double part_read = 0;  ///< of all waits
  // By disk: the waits for it, and the threads that went on after one of these without going to the disk,
  // those of the waiting thread's own group and those of other groups.
  std::vector<double> waits;
  std::vector<double> fellows;
  std::vector<double> others;
  std::map<ActorId, std::map<GroupId, AtDisk>> disks;
};

}  // namespace

SharedRequests::SharedRequests(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                               const Uses& uses)
    : of_disk_(trace.actors.size()) {
  const Reader found(trace, groups, kinds);
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (found.waits[id] <= 0) continue;
    of_disk_[id].threads_each =
        std::max(found.waits[id] + found.fellows[id], found.others[id]) / found.waits[id];
  }
  for (const auto& [disk, at_disk] : found.disks) {
    for (const auto& [group, at] : at_disk) {
      for (const auto& [leader, behind] : at.behind) {
        const auto leads = at_disk.find(leader);
        if (leads == at_disk.end() || leads->second.turns <= 0) continue;
        const AtDisk& leading = leads->second;
        const double own = leader == group ? 1 : 0;
        if (behind.gone_on / leading.turns + own < kSeveral) continue;
        of_disk_[disk].groups.push_back(
            {leading.waited_ns / leading.turns, behind.requests + own * at.turns,
             behind.waited_ns + own * at.waited_ns,
             found.part_read * static_cast<double>(uses.groups[group].lifetime_ns)});
      }
    }
  }
}

std::optional<double> SharedRequests::least_gain(ActorId disk, double factor) const {
  const OfDisk& of_disk = of_disk_[disk];
  if (of_disk.threads_each < kSeveral) return std::nullopt;
  std::optional<double> as_many;
  for (const Sharing& group : of_disk.groups) {
    if (!is_much(group.waited_ns, group.lives_ns)) continue;
    const double longest_ns = factor * group.request_ns * group.requests;
    const double all_ns = group.lives_ns - group.waited_ns + longest_ns;
    const double gain = all_ns > 0 ? group.lives_ns / all_ns - 1 : 0;
    as_many = std::min(as_many.value_or(gain), gain);
  }
  return std::max(1 / (factor * of_disk.threads_each) - 1, as_many.value_or(-1));
}

}  // namespace offwait
