// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/same_work.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "model/function_numbers.h"

namespace offwait {

namespace {

using Kind = ThreadKind;
using Place = std::uint32_t;

constexpr std::uint64_t kSharedTenths = 9;
/// Two threads that let each other go in turns may as well play ping-pong.
constexpr std::size_t kFewestThreads = 3;

/// What the threads of one kind wait in.
struct Waiting {
  std::map<Place, EndedWaits> places;
  EndedWaits all;
};

/// Whether nine tenths of one's waits are in places where the other waits, too.
bool waits_where(const Waiting& one, const Waiting& other) {
  EndedWaits shared;
  for (const auto& [place, ended] : one.places) {
    if (other.places.contains(place)) shared.add(ended);
  }
  return shared.waits * 10 >= one.all.waits * kSharedTenths &&
         shared.ns * 10 >= one.all.ns * static_cast<Nanos>(kSharedTenths);
}

/// The kinds whose threads wait for an object in a place, and those whose threads end waits for it there.
struct Partners {
  std::set<Kind> wait;
  std::set<Kind> wake;
  std::set<ActorId> threads;  ///< that wait

  /// Kinds that do both.
  std::vector<Kind> both() const {
    std::vector<Kind> out;
    std::set_intersection(wait.begin(), wait.end(), wake.begin(), wake.end(), std::back_inserter(out));
    return out;
  }
};

/// By SiteId: waits that another kind ends, in a place in which two kinds or more wait and end such waits.
std::vector<bool> sites_of_partners(const Trace& trace, const std::vector<Kind>& kinds,
                                    const std::vector<Place>& places) {
  const auto is_between = [&kinds](const WaitSite& site) {
    return site.wait_stack != kNoStack && site.waker != kNoActor && kinds[site.thread] != kNoThreadKind &&
           kinds[site.waker] != kNoThreadKind && kinds[site.thread] != kinds[site.waker];
  };
  std::map<Place, Partners> partners;
  for (const WaitSite& site : trace.sites) {
    if (!is_between(site)) continue;
    Partners& here = partners[places[site.wait_stack]];
    here.wait.insert(kinds[site.thread]);
    here.wake.insert(kinds[site.waker]);
  }
  std::vector<bool> out;
  for (const WaitSite& site : trace.sites) {
    out.push_back(is_between(site) && partners[places[site.wait_stack]].both().size() >= 2);
  }
  return out;
}

}  // namespace

std::vector<Place> places_of(const Trace& trace) {
  const std::vector<std::uint32_t> function_of_frame = functions_of_frames(trace);
  std::map<std::vector<std::uint32_t>, Place> places;
  std::vector<Place> out;
  for (const Stack& stack : trace.stacks) {
    std::vector<std::uint32_t> key;
    for (const FrameId frame : stack.frames) key.push_back(function_of_frame[frame]);
    out.push_back(places.try_emplace(std::move(key), static_cast<Place>(places.size())).first->second);
  }
  return out;
}

std::vector<EndedWaits> waits_ended(const Trace& trace) {
  std::vector<EndedWaits> out(trace.sites.size());
  for (const Wait& wait : trace.waits) {
    if (wait.wake != kNever) {
      out[wait.site].add({1, clipped(wait.block, wait.wake, trace.window)});
    }
  }
  return out;
}

std::vector<ThreadKind> kinds_of_same_work(const Trace& trace, const std::vector<ThreadKind>& kinds,
                                           const std::vector<std::uint32_t>& programs,
                                           const std::vector<EndedWaits>& ended,
                                           const std::vector<Place>& places) {
  std::vector<std::uint32_t> program_of;  // by kind
  for (ActorId id = 0; id < kinds.size(); ++id) {
    if (kinds[id] == kNoThreadKind) continue;
    program_of.resize(std::max<std::size_t>(program_of.size(), kinds[id] + 1));
    program_of[kinds[id]] = programs[id];
  }
  std::vector<ThreadKind> out(program_of.size());
  std::iota(out.begin(), out.end(), ThreadKind{0});

  std::vector<Waiting> waiting(program_of.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.wait_stack == kNoStack || ended[id].waits == 0 || kinds[site.thread] == kNoThreadKind) continue;
    Waiting& here = waiting[kinds[site.thread]];
    here.places[places[site.wait_stack]].add(ended[id]);
    here.all.add(ended[id]);
  }
  const std::vector<bool> is_shared = sites_of_partners(trace, kinds, places);
  std::map<std::pair<ObjectId, Place>, Partners> shared;
  if (std::find(is_shared.begin(), is_shared.end(), true) != is_shared.end()) {
    for (const Wait& wait : trace.waits) {
      if (wait.object == kNoObject || !is_shared[wait.site]) continue;
      const WaitSite& site = trace.sites[wait.site];
      Partners& here = shared[{wait.object, places[site.wait_stack]}];
      here.wait.insert(kinds[site.thread]);
      here.wake.insert(kinds[site.waker]);
      here.threads.insert(site.thread);
    }
  }
  for (const auto& [where, partners] : shared) {
    if (partners.threads.size() < kFewestThreads) continue;
    std::vector<Kind> first;  // the first kind of each work
    for (const Kind kind : partners.both()) {
      const auto same = std::find_if(first.begin(), first.end(), [&](Kind other) {
        return program_of[other] == program_of[kind] && waits_where(waiting[kind], waiting[other]) &&
               waits_where(waiting[other], waiting[kind]);
      });
      if (same == first.end()) {
        first.push_back(kind);
      } else {
        out[kind] = std::min(out[kind], out[*same]);
      }
    }
  }
  return out;
}

std::vector<ActorId> makers_of_processes(const Trace& trace, const std::vector<ThreadKind>& kinds,
                                         const std::vector<EndedWaits>& ended,
                                         const std::vector<Place>& places) {
  constexpr std::uint64_t kFewestWaits = 3;
  std::vector<ActorId> oldest;  // by kind
  std::vector<bool> has_other;  // by kind: a thread of another process
  for (ActorId id = 0; id < kinds.size(); ++id) {
    if (kinds[id] == kNoThreadKind) continue;
    if (kinds[id] >= oldest.size()) {
      oldest.resize(kinds[id] + 1, kNoActor);
      has_other.resize(kinds[id] + 1);
    }
    ActorId& first = oldest[kinds[id]];
    if (first != kNoActor && trace.actors[first].tgid != trace.actors[id].tgid) has_other[kinds[id]] = true;
    if (first == kNoActor || trace.actors[id].start < trace.actors[first].start) first = id;
  }
  const auto is_oldest = [&](ActorId id) {
    return kinds[id] != kNoThreadKind && oldest[kinds[id]] == id && has_other[kinds[id]] &&
           trace.actors[id].tid == trace.actors[id].tgid;
  };
  std::set<std::pair<Kind, Place>> of_others;
  for (const WaitSite& site : trace.sites) {
    if (site.wait_stack == kNoStack || kinds[site.thread] == kNoThreadKind || is_oldest(site.thread))
      continue;
    of_others.emplace(kinds[site.thread], places[site.wait_stack]);
  }
  std::map<ActorId, std::pair<EndedWaits, EndedWaits>> waits;  // all, and those where others wait
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.wait_stack == kNoStack || !is_oldest(site.thread)) continue;
    auto& [all, shared] = waits[site.thread];
    all.add(ended[id]);
    if (of_others.contains({kinds[site.thread], places[site.wait_stack]})) shared.add(ended[id]);
  }
  std::vector<ActorId> out(kinds.size(), kNoActor);
  for (const auto& [id, of_thread] : waits) {
    const auto& [all, shared] = of_thread;
    if (all.waits >= kFewestWaits && shared.waits * 10 < all.waits && shared.ns * 10 < all.ns) out[id] = id;
  }
  return out;
}

}  // namespace offwait
