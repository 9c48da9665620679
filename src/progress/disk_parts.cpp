// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/disk_parts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace offwait {

namespace {

struct Request {
  Nanos issue = 0;
  Nanos complete = 0;
};

/// One disk's requests in order of completion, and how long at least one was under way.
class DiskHistory {
 public:
  explicit DiskHistory(std::vector<Request> requests) : requests_(std::move(requests)) {
    std::sort(requests_.begin(), requests_.end(),
              [](const Request& a, const Request& b) { return a.complete < b.complete; });
    std::vector<Request> by_issue = requests_;
    std::sort(by_issue.begin(), by_issue.end(),
              [](const Request& a, const Request& b) { return a.issue < b.issue; });
    Nanos before = 0;
    for (const Request& request : by_issue) {
      if (busy_.empty() || request.issue > busy_.back().to) {
        before += busy_.empty() ? 0 : busy_.back().to - busy_.back().from;
        busy_.push_back({request.issue, request.complete, before});
      } else {
        busy_.back().to = std::max(busy_.back().to, request.complete);
      }
    }
  }

  /// How long, in [from, to), at least one request was under way that was complete at `to`.
  Nanos covered(Nanos from, Nanos to) const {
    // More requests than these are taken together, though some of them may not be complete at `to`.
    constexpr std::ptrdiff_t kOneByOne = 64;
    const auto by_complete = [](const Request& request, Nanos at) { return request.complete <= at; };
    const auto first = std::lower_bound(requests_.begin(), requests_.end(), from, by_complete);
    const auto last = std::lower_bound(first, requests_.end(), to, by_complete);
    if (first == last) {
      return 0;
    }
    if (last - first > kOneByOne) {
      return busy_until((last - 1)->complete) - busy_until(from);
    }
    Nanos sum = 0;
    Nanos counted = to;  // all the time from here on is counted
    for (auto request = last; request-- != first;) {
      const Nanos begin = std::max(request->issue, from);
      sum += std::max<Nanos>(0, std::min(request->complete, counted) - begin);
      counted = std::min(counted, begin);
    }
    return sum;
  }

 private:
  struct Busy {
    Nanos from = 0;
    Nanos to = 0;
    Nanos before = 0;  ///< busy time before `from`
  };
  Nanos busy_until(Nanos at) const {
    const auto after = std::upper_bound(busy_.begin(), busy_.end(), at,
                                        [](Nanos when, const Busy& busy) { return when < busy.from; });
    if (after == busy_.begin()) {
      return 0;
    }
    const Busy& busy = *(after - 1);
    return busy.before + std::min(at, busy.to) - busy.from;
  }

  std::vector<Request> requests_;
  std::vector<Busy> busy_;
};

/// What threads that work for devices did: which disks they used, and which threads let them go on.
class Workers {
 public:
  /// Those outside of the target that end waits whose site is `asked`, those that end waits of these, and so
  /// on. A thread of the target only gives them work.
  Workers(const Trace& trace, const std::vector<bool>& asked)
      : trace_(trace), known_(trace.actors.size()), deeds_(trace.actors.size()) {
    find_threads(asked);
    for (const Wait& wait : trace.waits) {
      const WaitSite& site = trace.sites[wait.site];
      if (!known_[site.thread] || site.waker == kNoActor || wait.wake == kNever) continue;
      if (known_[site.waker] || trace.actors[site.waker].kind == ActorKind::disk)
        deeds_[site.thread].push_back({wait.wake, site.waker});
    }
    for (const DiskIo& io : trace.disk_ios) {
      if (io.thread != kNoActor && io.disk != kNoActor && io.complete != kNever && known_[io.thread])
        deeds_[io.thread].push_back({io.complete, io.disk});
    }
    for (std::vector<Deed>& deeds : deeds_) {
      std::sort(deeds.begin(), deeds.end(), [](const Deed& a, const Deed& b) { return a.at < b.at; });
    }
  }

  /// The disks that the thread used in (from, to]; if it used none, those that threads used which let it go
  /// on then, and so on. Of each thread the last deeds count, and only the nearest threads.
  std::set<ActorId> disks(ActorId thread, Nanos from, Nanos to) const {
    std::set<ActorId> out;
    std::map<ActorId, Nanos> now{{thread, to}};  // threads, and until when
    std::set<ActorId> seen{thread};
    while (out.empty() && !now.empty() && seen.size() <= kMostThreads) {
      std::map<ActorId, Nanos> next;
      for (const auto& [worker, until] : now) add_deeds(worker, from, until, out, next);
      std::erase_if(next, [&seen](const auto& one) { return !seen.insert(one.first).second; });
      now = std::move(next);
    }
    return out;
  }

 private:
  /// A wait for a disk or for another worker ended, or a request of the thread was complete.
  struct Deed {
    Nanos at = 0;
    ActorId with = kNoActor;  ///< the disk, or the worker
  };
  static constexpr std::size_t kMostDeeds = 64;
  static constexpr std::size_t kMostThreads = 16;

  void find_threads(const std::vector<bool>& asked) {
    std::vector<std::vector<ActorId>> wakers(trace_.actors.size());  // of each thread
    std::vector<ActorId> to_do;
    const auto add = [&](ActorId waker) {
      const Actor& actor = trace_.actors[waker];
      if (actor.kind != ActorKind::thread || !actor.outside || known_[waker]) return;
      known_[waker] = true;
      to_do.push_back(waker);
    };
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      if (site.waker == kNoActor) continue;
      wakers[site.thread].push_back(site.waker);
      if (asked[id]) add(site.waker);
    }
    while (!to_do.empty()) {
      const ActorId thread = to_do.back();
      to_do.pop_back();
      for (const ActorId waker : wakers[thread]) add(waker);
    }
  }

  void add_deeds(ActorId thread, Nanos from, Nanos to, std::set<ActorId>& disks,
                 std::map<ActorId, Nanos>& workers) const {
    const std::vector<Deed>& deeds = deeds_[thread];
    auto deed = std::upper_bound(deeds.begin(), deeds.end(), to,
                                 [](Nanos at, const Deed& one) { return at < one.at; });
    for (std::size_t left = kMostDeeds; left > 0 && deed != deeds.begin() && (--deed)->at > from; --left) {
      if (trace_.actors[deed->with].kind == ActorKind::disk) {
        disks.insert(deed->with);
      } else {
        workers.try_emplace(deed->with, deed->at);  // the latest one comes first
      }
    }
  }

  const Trace& trace_;
  std::vector<bool> known_;               ///< by ActorId
  std::vector<std::vector<Deed>> deeds_;  ///< by ActorId, in order of time
};

}  // namespace

std::vector<DiskPart> disk_parts(const Trace& trace, const std::vector<bool>& asked) {
  if (std::find(asked.begin(), asked.end(), true) == asked.end()) return {};
  std::map<ActorId, std::vector<Request>> requests;
  for (const DiskIo& io : trace.disk_ios) {
    if (io.complete != kNever && io.disk != kNoActor) {
      requests[io.disk].push_back({io.issue, io.complete});
    }
  }
  std::map<ActorId, DiskHistory> histories;
  for (auto& [disk, all] : requests) {
    histories.emplace(disk, DiskHistory(std::move(all)));
  }
  std::optional<Workers> workers;
  if (histories.size() > 1) workers.emplace(trace, asked);
  std::vector<DiskPart> out;
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    if (!asked[wait.site] || wait.wake == kNever) {
      continue;
    }
    const Nanos from = std::max(wait.block, trace.window.begin);
    const Nanos to = std::min(wait.wake, trace.window.end);
    std::set<ActorId> disks;
    const ActorId waker = trace.sites[wait.site].waker;
    if (trace.actors[waker].kind == ActorKind::disk) {
      disks.insert(waker);
    } else if (workers) {
      disks = workers->disks(waker, from, to);
    }
    for (const auto& [disk, history] : histories) {
      if (!disks.empty() && !disks.contains(disk)) continue;
      if (const Nanos part = from < to ? history.covered(from, to) : 0; part > 0) {
        out.push_back({id, disk, part});
      }
    }
  }
  return out;
}

DiskPartRange parts_of(const std::vector<DiskPart>& parts, std::uint32_t wait) {
  const auto before = [](const DiskPart& part, std::uint32_t id) { return part.wait < id; };
  const auto first = std::lower_bound(parts.begin(), parts.end(), wait, before);
  auto last = first;
  while (last != parts.end() && last->wait == wait) {
    ++last;
  }
  const DiskPart* const data = parts.data();
  return {data + (first - parts.begin()), data + (last - parts.begin())};
}

}  // namespace offwait
