// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/in_one_place.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace offwait {

namespace {

/// A thread that is late seldom meets as many that are late, too.
constexpr int kMostInPlace = 8;
/// Times are sums of many rounded numbers.
constexpr double kLateNs = 1;

/// The group, the process, and the stack or the disk.
using WhatFor = std::tuple<GroupId, std::int32_t, std::uint32_t>;

std::optional<WhatFor> what_for(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                const Ties& ties, SiteId id) {
  constexpr std::int32_t kAnyProcess = 0;
  constexpr std::int32_t kDisk = -1;
  const WaitSite& site = trace.sites[id];
  const GroupId group = groups.group_of[site.thread];
  const WaitKind kind = kinds.of_site[id];
  if (kind == WaitKind::disk) return WhatFor{group, kDisk, site.waker};
  if (ties.of_site[id] != Tie::follows || site.wait_stack == kNoStack) return std::nullopt;
  return WhatFor{group, kind == WaitKind::lock ? kAnyProcess : trace.actors[site.thread].tgid,
                 site.wait_stack};
}

}  // namespace

InOnePlace::InOnePlace(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                       const Ties& ties)
    : trace_(trace),
      kinds_(kinds),
      before_(trace.actors.size(), kNoActor),
      after_(trace.actors.size(), kNoActor),
      lock_(trace.actors.size(), kNoObject) {
  std::map<WhatFor, Place> known;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const std::optional<WhatFor> what = what_for(trace, groups, kinds, ties, id);
    const auto next = static_cast<Place>(known.size());
    place_of_site_.push_back(what ? known.try_emplace(*what, next).first->second : kNowhere);
  }
  first_.assign(known.size(), kNoActor);
  last_.assign(known.size(), kNoActor);
}

void InOnePlace::come(ActorId thread, const Wait& wait) {
  const Place place = place_of_site_[wait.site];
  if (place == kNowhere) return;
  const ActorId last = std::exchange(last_[place], thread);
  before_[thread] = last;
  after_[thread] = kNoActor;
  (last == kNoActor ? first_[place] : after_[last]) = thread;
  lock_[thread] = kinds_.of_site[wait.site] == WaitKind::lock ? wait.object : kNoObject;
}

void InOnePlace::go(ActorId thread, const Wait& wait) {
  const Place place = place_of_site_[wait.site];
  if (place == kNowhere) return;
  const ActorId before = before_[thread];
  const ActorId after = after_[thread];
  (before == kNoActor ? first_[place] : after_[before]) = after;
  (after == kNoActor ? last_[place] : before_[after]) = before;
}

ConstRow InOnePlace::take_turn(ActorId thread, const Wait& wait, ConstRow came, Rows& now,
                               std::size_t lanes) {
  const Place place = place_of_site_[wait.site];
  const Row own = now[thread];
  if (place == kNowhere) return own;
  late_.clear();
  for (std::size_t i = 0; i < lanes; ++i) {
    if (own[i] > came[i] + kLateNs) late_.push_back(i);
  }
  if (late_.empty()) return own;
  came_at_.assign(own, own + lanes);
  ActorId other = kinds_.of_site[wait.site] == WaitKind::disk ? after_[thread] : first_[place];
  for (int looked_at = 0; looked_at < kMostInPlace && other != kNoActor && !late_.empty(); ++looked_at) {
    if (lock_[other] == lock_[thread] && trace_.actors[other].exit > wait.wake) {
      const Row of_other = now[other];
      for (const std::size_t i : late_) {
        if (of_other[i] < own[i]) std::swap(own[i], of_other[i]);
      }
      std::erase_if(late_, [&](std::size_t i) { return own[i] <= came[i] + kLateNs; });
    }
    other = after_[other];
  }
  return came_at_.data();
}

}  // namespace offwait
