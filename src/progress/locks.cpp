// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/locks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/side_by_side.h"
#include "code/roles.h"
#include "progress/like_a_lock.h"

namespace offwait {

namespace {

/// A place in which threads waited for a smaller part of the window, all together, is not looked at.
constexpr double kWorthALook = 0.01;
/// So many functions outward from the wait may be the place: a lock's own functions are inside of it.
constexpr std::size_t kMostLevels = 8;
/// The waiters of a place end its waits, most of the time.
constexpr double kByWaiters = 0.8;

using Ids = std::vector<std::uint32_t>;

/// Functions by number: frames of one function have the same one.
std::vector<FrameId> functions_of(const Trace& trace) {
  std::map<Frame, FrameId> first;
  std::vector<FrameId> out;
  for (FrameId id = 0; id < trace.frames.size(); ++id) {
    Frame function = function_of(trace.frames[id]);
    function.inlined = false;
    out.push_back(first.try_emplace(std::move(function), id).first->second);
  }
  return out;
}

/// Sets of processes that grow together.
class Families {
 public:
  std::int32_t of(std::int32_t tgid) {
    const auto found = parent_.find(tgid);
    return found == parent_.end() ? tgid : found->second = of(found->second);
  }
  void join(std::int32_t a, std::int32_t b) {
    a = of(a);
    b = of(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::map<std::int32_t, std::int32_t> parent_;
};

class Search {
 public:
  Search(const Trace& trace, const SitesOfWaits& sites, const TimeOuts& time_outs)
      : trace_(trace), sites_(sites), time_outs_(time_outs), functions_(functions_of(trace)) {
    out_.of_object.assign(trace.objects.size(), kNoLock);
    out_.of_site.assign(trace.sites.size(), kNoLock);
    waits_at_.resize(trace.sites.size());
    wait_ns_at_.resize(trace.sites.size());
    for (const Wait& wait : trace.waits) {
      ++waits_at_[wait.site];
      wait_ns_at_[wait.site] += length_of(wait);
    }
  }

  ContendedLocks run() {
    find_objects();
    find_places();
    sort();
    return std::move(out_);
  }

 private:
  /// A thread that waits for a packet of a known sender waits for a message, and one at a barrier for the
  /// others; neither waits for a lock.
  bool may_be_a_lock(SiteId site) const {
    return sites_.ended_by_threads[site] && !sites_.rendezvous[site] && trace_.sites[site].peer == kNoPeer &&
           !trace_.actors[trace_.sites[site].thread].kernel;
  }

  bool ended_by_timer(SiteId site) const {
    const ActorId waker = trace_.sites[site].waker;
    return waker != kNoActor && trace_.actors[waker].kind == ActorKind::timer;
  }

  Nanos length_of(const Wait& wait) const { return clipped(wait.block, wait.wake, trace_.window); }

  /// Those that functions' names or the kernel call locks in most of their waits, and those whose waits are
  /// like those for locks: a stack may be another wait's.
  void find_objects() {
    std::vector<Ids> waits(trace_.objects.size());
    std::vector<std::int64_t> named(trace_.objects.size());
    std::vector<std::int64_t> met(trace_.objects.size());  // waits for barriers and the like, less the others
    std::vector<std::set<ActorId>> managed(trace_.objects.size());  // those that a lock manager lets wait
    std::vector<bool> times_out(trace_.objects.size());
    for (std::uint32_t id = 0; id < trace_.waits.size(); ++id) {
      const Wait& wait = trace_.waits[id];
      if (wait.object == kNoObject || is_stored(trace_.objects[wait.object])) continue;
      if (sites_.own_object[wait.site]) continue;
      if (ended_by_timer(wait.site)) times_out[wait.object] = true;
      if (!time_outs_.ended_by_looking(id) && !sites_.ended_by_threads[wait.site]) continue;
      if (sites_.told[wait.site] == Told::lock) ++named[wait.object];
      met[wait.object] += sites_.rendezvous[wait.site] ? 1 : -1;
      if (sites_.manager[wait.site] != kNoFrame) {
        managed[wait.object].insert(trace_.sites[wait.site].thread);
        ++named[wait.object];
      } else if (sites_.told[wait.site] == Told::handover) {
        --named[wait.object];
      }
      waits[wait.object].push_back(id);
    }
    // What one thread alone waits for in a lock manager stands for any lock. The GIL is the condition in the
    // state of CPython for which threads wait a few milliseconds at a time.
    const auto is_named = [&](ObjectId object) {
      const bool is_gil = times_out[object] && is_state_of_python(trace_.objects[object].symbol);
      return is_gil || (named[object] > 0 && managed[object].size() != 1);
    };
    std::vector<char> behaves(waits.size());
    each_side_by_side(waits.size(), [&](std::size_t object) {
      if (waits[object].empty() || met[object] > 0 || is_named(static_cast<ObjectId>(object))) return;
      behaves[object] = passes_like_a_lock(passing_of(trace_, time_outs_, std::move(waits[object])));
    });
    for (ObjectId object = 0; object < behaves.size(); ++object) {
      if (is_named(object)) {
        const bool kernel = trace_.objects[object].kind == Object::Kind::kernel_lock;
        add({object, kNoFrame, kernel ? LockEvidence::kernel : LockEvidence::name});
      } else if (behaves[object] != 0) {
        add({object, kNoFrame, LockEvidence::behaviour});
      }
    }
    join_mutexes();
  }

  /// A lock that is a condition has a mutex, which a thread takes again at the end of its wait for the
  /// condition. That is a part of the wait for the lock, where most waits for the mutex are in functions that
  /// wait for the lock.
  void join_mutexes() {
    if (std::find(sites_.retakes.begin(), sites_.retakes.end(), true) == sites_.retakes.end()) return;
    std::map<ObjectId, std::map<ObjectId, std::uint64_t>> conditions;  // of each mutex
    std::vector<ObjectId> before(trace_.actors.size(), kNoObject);     // what the thread waited for last
    for (const Wait& wait : trace_.waits) {
      const ActorId thread = trace_.sites[wait.site].thread;
      const bool retakes = wait.object != kNoObject && sites_.retakes[wait.site];
      if (retakes && before[thread] != kNoObject && before[thread] != wait.object) {
        ++conditions[wait.object][before[thread]];
      }
      if (!retakes) before[thread] = wait.object;
    }
    if (conditions.empty()) return;
    std::map<ObjectId, std::map<FrameId, std::int64_t>> places;  // of these
    for (const auto& [mutex, of_mutex] : conditions) {
      places[mutex];
      for (const auto& [condition, number] : of_mutex) places[condition];
    }
    for (const Wait& wait : trace_.waits) {
      const auto found = places.find(wait.object);
      if (found != places.end()) ++found->second[place_at(trace_.sites[wait.site].wait_stack, 0)];
    }
    for (const auto& [mutex, of_mutex] : conditions) {
      const auto most =
          std::max_element(of_mutex.begin(), of_mutex.end(),
                           [](const auto& one, const auto& other) { return one.second < other.second; });
      const LockId lock = out_.of_object[most->first];
      if (lock == kNoLock || out_.all[lock].object == mutex) continue;
      const std::map<FrameId, std::int64_t>& of_lock = places[most->first];
      const std::int64_t balance =
          std::accumulate(places[mutex].begin(), places[mutex].end(), std::int64_t{0},
                          [&of_lock](std::int64_t sum, const auto& place) {
                            const bool there = place.first != kNoFrame && of_lock.contains(place.first);
                            return sum + (there ? place.second : -place.second);
                          });
      if (balance > 0) out_.of_object[mutex] = lock;
    }
    drop_unused();
  }

  /// Locks that are parts of others.
  void drop_unused() {
    std::vector<LockId> now(out_.all.size(), kNoLock);
    std::vector<ContendedLock> rest;
    for (LockId id = 0; id < out_.all.size(); ++id) {
      if (out_.of_object[out_.all[id].object] != id) continue;
      now[id] = static_cast<LockId>(rest.size());
      rest.push_back(out_.all[id]);
    }
    out_.all = std::move(rest);
    for (LockId& id : out_.of_object) id = id == kNoLock ? id : now[id];
  }

  void add(const ContendedLock& lock) {
    const auto id = static_cast<LockId>(out_.all.size());
    if (lock.object != kNoObject) out_.of_object[lock.object] = id;
    out_.all.push_back(lock);
  }

  /// Functions of lock managers, and then innermost functions first: what waits there, and does so for no
  /// lock that is known yet.
  void find_places() {
    std::map<FrameId, std::vector<SiteId>> named;
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      if (sites_.manager[id] != kNoFrame && may_be_a_lock(id))
        named[functions_[sites_.manager[id]]].push_back(id);
    }
    look_at(named, LockEvidence::name);
    for (std::size_t level = 0; level < kMostLevels; ++level) {
      std::map<FrameId, std::vector<SiteId>> sites;
      for (SiteId id = 0; id < trace_.sites.size(); ++id) {
        if (out_.of_site[id] != kNoLock || !may_be_a_lock(id)) continue;
        const FrameId place = place_at(trace_.sites[id].wait_stack, level);
        if (place != kNoFrame) sites[place].push_back(id);
      }
      if (sites.empty()) return;
      look_at(sites, LockEvidence::behaviour);
    }
  }

  FrameId place_at(StackId stack, std::size_t level) const {
    if (stack == kNoStack) return kNoFrame;
    for (const FrameId frame : trace_.stacks[stack].frames) {
      const bool may_be = trace_.frames[frame].kind == Frame::Kind::user && !sites_.way_to_wait[frame];
      if (may_be && level-- == 0) return functions_[frame];
    }
    return kNoFrame;
  }

  /// Places, with the sites of those processes that end each other's waits there.
  using Candidates = std::vector<std::pair<FrameId, std::vector<SiteId>>>;

  Candidates candidates_of(const std::map<FrameId, std::vector<SiteId>>& places, LockEvidence evidence) {
    Candidates out;
    for (const auto& [place, sites] : places) {
      std::set<ActorId> waiters;
      for (const SiteId id : sites) waiters.insert(trace_.sites[id].thread);
      Families families;
      for (const SiteId id : sites) {
        const WaitSite& site = trace_.sites[id];
        if (waiters.contains(site.waker)) {
          families.join(trace_.actors[site.thread].tgid, trace_.actors[site.waker].tgid);
        }
      }
      std::map<std::int32_t, std::vector<SiteId>> by_family;
      for (const SiteId id : sites) {
        by_family[families.of(trace_.actors[trace_.sites[id].thread].tgid)].push_back(id);
      }
      for (auto& [family, members] : by_family) {
        const bool new_here = evidence == LockEvidence::name || seen_.insert(members).second;
        if (new_here && are_worth_a_look(members) && are_ended_by_waiters(members, waiters)) {
          out.emplace_back(place, std::move(members));
        }
      }
    }
    return out;
  }

  /// Even if all waits there count: some may be for locks that are known.
  bool are_worth_a_look(const std::vector<SiteId>& sites) const {
    return is_worth_a_look(std::accumulate(sites.begin(), sites.end(), Nanos{0},
                                           [this](Nanos sum, SiteId id) { return sum + wait_ns_at_[id]; }));
  }
  bool is_worth_a_look(Nanos wait_ns) const {
    return static_cast<double>(wait_ns) >= kWorthALook * static_cast<double>(trace_.window.length());
  }

  /// Mostly; and they are three threads or more.
  bool are_ended_by_waiters(const std::vector<SiteId>& sites, const std::set<ActorId>& waiters) const {
    std::set<ActorId> threads;
    std::uint64_t all = 0;
    std::uint64_t by_waiters = 0;
    for (const SiteId id : sites) {
      threads.insert(trace_.sites[id].thread);
      all += waits_at_[id];
      by_waiters += waiters.contains(trace_.sites[id].waker) ? waits_at_[id] : 0;
    }
    return threads.size() >= 3 && static_cast<double>(by_waiters) >= kByWaiters * static_cast<double>(all);
  }

  /// The waits of each place.
  void look_at(const std::map<FrameId, std::vector<SiteId>>& places, LockEvidence evidence) {
    const Candidates candidates = candidates_of(places, evidence);
    if (candidates.empty()) return;
    std::vector<std::uint32_t> candidate(trace_.sites.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < candidates.size(); ++i) {
      for (const SiteId site : candidates[i].second) candidate[site] = i;
    }
    std::vector<Ids> waits(candidates.size());
    std::vector<Nanos> wait_ns(candidates.size());
    for (std::uint32_t id = 0; id < trace_.waits.size(); ++id) {
      const Wait& wait = trace_.waits[id];
      if (candidate[wait.site] == UINT32_MAX || out_.of(wait) != kNoLock) continue;
      waits[candidate[wait.site]].push_back(id);
      wait_ns[candidate[wait.site]] += length_of(wait);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!is_worth_a_look(wait_ns[i])) continue;
      const Passing passing = passing_of(trace_, time_outs_, std::move(waits[i]));
      if (evidence == LockEvidence::behaviour && !passes_like_a_lock(passing)) continue;
      for (const SiteId site : candidates[i].second)
        out_.of_site[site] = static_cast<LockId>(out_.all.size());
      const bool is_named = std::all_of(candidates[i].second.begin(), candidates[i].second.end(),
                                        [this](SiteId site) { return sites_.told[site] == Told::lock; });
      add({kNoObject, candidates[i].first, is_named ? LockEvidence::name : evidence});
    }
  }

  void sort() {
    out_.mostly_at.assign(trace_.sites.size(), false);
    if (out_.all.empty()) return;
    std::vector<std::uint64_t> for_locks_at(trace_.sites.size());
    for (const Wait& wait : trace_.waits) {
      const LockId id = out_.of(wait);
      if (id == kNoLock) continue;
      out_.all[id].wait_ns += length_of(wait);
      ++out_.all[id].waits;
      ++for_locks_at[wait.site];
    }
    for (SiteId id = 0; id < trace_.sites.size(); ++id)
      out_.mostly_at[id] = 2 * for_locks_at[id] > waits_at_[id];
    std::vector<LockId> order(out_.all.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](LockId a, LockId b) { return out_.all[a].wait_ns > out_.all[b].wait_ns; });
    std::vector<LockId> place(order.size());
    std::vector<ContendedLock> sorted;
    for (LockId i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(out_.all[order[i]]);
    }
    out_.all = std::move(sorted);
    for (LockId& id : out_.of_object) id = id == kNoLock ? id : place[id];
    for (LockId& id : out_.of_site) id = id == kNoLock ? id : place[id];
  }

  const Trace& trace_;
  const SitesOfWaits& sites_;
  const TimeOuts& time_outs_;
  std::vector<FrameId> functions_;
  std::vector<std::uint64_t> waits_at_;  ///< by SiteId
  std::vector<Nanos> wait_ns_at_;        ///< by SiteId
  std::set<std::vector<SiteId>> seen_;   ///< that are no place: their functions call each other
  ContendedLocks out_;
};

}  // namespace

std::string_view to_string(LockEvidence evidence) {
  switch (evidence) {
    case LockEvidence::kernel:
      return "kernel";
    case LockEvidence::name:
      return "name";
    case LockEvidence::behaviour:
      return "behaviour";
  }
  return "name";
}

ContendedLocks locks_of_waits(const Trace& trace, const SitesOfWaits& sites, const TimeOuts& time_outs) {
  return Search(trace, sites, time_outs).run();
}

}  // namespace offwait
