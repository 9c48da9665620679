// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/sweep.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/side_by_side.h"
#include "graph/releases.h"
#include "graph/sweep_part.h"
#include "graph/wait_events.h"
#include "model/histories.h"

namespace offwait {

namespace {

/// A part has at least this many waits, or its fixed costs would tell.
constexpr std::size_t kLeastWaits = 100'000;
/// A part also has at least this many waits for each site and actor, so that the sums of all parts take
/// little memory.
constexpr std::size_t kLeastWaitsEach = 16;

constexpr const char* kTooLong = "the window is too long: weights do not fit 64 bits";

/// Whether the time that all threads live in the window, one after the other, fits Nanos.
bool lifetimes_fit(const Trace& trace) {
  Nanos left = kNever;
  for (const Actor& actor : trace.actors) {
    if (actor.kind != ActorKind::thread) continue;
    const Nanos lifetime = std::min(actor.exit, trace.window.end) - std::max(actor.start, trace.window.begin);
    if (lifetime > left) return false;
    left -= std::max<Nanos>(lifetime, 0);
  }
  return true;
}

/// By site: the waker if it is a thread, else kNoActor.
std::vector<ActorId> waking_threads(const Trace& trace) {
  std::vector<ActorId> wakers;
  wakers.reserve(trace.sites.size());
  for (const WaitSite& site : trace.sites) {
    const bool thread = site.waker != kNoActor && trace.actors[site.waker].kind == ActorKind::thread;
    wakers.push_back(thread ? site.waker : kNoActor);
  }
  return wakers;
}

/// Joins parts, in order of time, into the sums of all.
class Joined {
 public:
  explicit Joined(std::size_t actors) : threads_(actors) {}

  /// What the part holds is moved or changed.
  void add(SweptPart& part) {
    for (const CutWait& wait : part.cut_waits) {
      if (wait.together) {
        part.sums.sites[wait.site].together_disk_ns += threads_[wait.thread].waker_disk;
      }
      if (wait.disk_turn) take_turn(wait, part);
    }
    for (ActorId id = 0; id < threads_.size(); ++id) {
      go_on(threads_[id].release, part.threads[id].first, part);
      go_on(threads_[id].release, part.threads[id].last, part);
    }
    // This comes last, because the code above looks at several threads as they were at the part's start.
    for (ActorId id = 0; id < threads_.size(); ++id) {
      pass(threads_[id], part.threads[id], part);
    }
    add_sums(part);
  }

  Result<Sweep> result() && {
    for (const Thread& thread : threads_) {
      sums_.count(thread.release);
    }
    Nanos total = 0;
    for (SiteId id = 0; id < sums_.sites.size(); ++id) {
      SiteSum& sum = sums_.sites[id];
      sum.releases = static_cast<double>(sums_.releases[id]) / static_cast<double>(SiteSums::kOne);
      if (sum.weight_ns > kNever - total) {
        return Error{kTooLong};
      }
      total += sum.weight_ns;
    }
    return Sweep{std::move(sums_.sites), std::move(actors_)};
  }

 private:
  /// A thread at the end of the parts so far.
  struct Thread {
    Release release;  ///< its latest one
    Nanos let_go = 0;
    Nanos disk = 0;         ///< how long it waited for a disk since let_go
    Nanos waker_disk = 0;   ///< how long the waker of its open wait has waited for a disk during it
    Nanos behind_disk = 0;  ///< as in ThreadInPart
    SiteId behind_disk_site = 0;
  };

  /// Does for a cut wait what sweep_part() does for the others that are disk turns.
  void take_turn(const CutWait& wait, SweptPart& part) {
    Thread& thread = threads_[wait.thread];
    const Thread& waker = threads_[wait.waker];
    Nanos from = wait.begin;
    Nanos disk = wait.disk;
    if (wait.let_go >= part.begin) {
      from = wait.let_go;
      disk -= wait.disk_at_let_go;
    } else if (waker.let_go > from) {
      from = waker.let_go;
      disk += waker.disk;
    } else {
      disk += thread.waker_disk;
    }
    SiteSum& sum = part.sums.sites[wait.site];
    sum.kept_ns += wait.end - from;
    sum.kept_disk_ns += disk;
    if (disk > 0) {
      settle(thread, false, part);
      thread.behind_disk = wait.end - wait.begin;
      thread.behind_disk_site = wait.site;
    }
  }

  static void settle(const Thread& thread, bool at_disk, SweptPart& part) {
    SiteSum& sum = part.sums.sites[thread.behind_disk_site];
    sum.behind_disk_ns += thread.behind_disk;
    sum.then_disk_ns += at_disk ? thread.behind_disk : 0;
  }

  /// Continues a thread's release with its next one, if that is near enough; else counts it and begins the
  /// next one.
  void go_on(Release& release, Release& next, SweptPart& part) {
    if (next.waits.empty()) return;
    for (Release::EndedWait& wait : next.waits) {
      if (wait.cut != Release::kWhole) wait.disk += threads_[part.cut_waits[wait.cut].thread].waker_disk;
    }
    if (!release.waits.empty() && next.first - release.last <= kOneRelease) {
      release.waits.insert(release.waits.end(), next.waits.begin(), next.waits.end());
      release.last = next.last;
    } else {
      part.sums.count(release);
      release = std::move(next);
    }
  }

  /// Moves a thread on to the end of the part.
  static void pass(Thread& thread, const ThreadInPart& next, SweptPart& part) {
    if (next.settled != ThreadInPart::Settled::no) {
      settle(thread, next.settled == ThreadInPart::Settled::at_disk, part);
      thread.behind_disk = next.behind_disk;
      thread.behind_disk_site = next.behind_disk_site;
    }
    const bool let_go = next.let_go >= part.begin;
    thread.disk = next.disk + (let_go ? 0 : thread.disk);
    thread.let_go = let_go ? next.let_go : thread.let_go;
    thread.waker_disk = next.waker_disk + (next.whole_part ? thread.waker_disk : 0);
  }

  void add_sums(SweptPart& part) {
    if (actors_.empty()) {  // it is the first
      sums_ = std::move(part.sums);
      actors_ = std::move(part.actors);
      return;
    }
    for (SiteId id = 0; id < sums_.sites.size(); ++id) {
      offwait::add(sums_.sites[id], part.sums.sites[id]);
      sums_.releases[id] += part.sums.releases[id];
    }
    for (ActorId id = 0; id < actors_.size(); ++id) {
      offwait::add(actors_[id], part.actors[id]);
    }
  }

  SiteSums sums_{0};
  std::vector<ActorTime> actors_;
  std::vector<Thread> threads_;  ///< by ActorId
};

/// Bounds between which about equally many waits begin, for as many parts as are worth it.
std::vector<Nanos> equal_cuts(const Trace& trace, const std::vector<Nanos>& begins) {
  const std::size_t least =
      std::max(kLeastWaits, kLeastWaitsEach * (trace.sites.size() + trace.actors.size()));
  const std::size_t parts = begins.empty() ? 1 : parts_of_work(trace.waits.size(), least);
  std::vector<Nanos> cuts;
  for (std::size_t i = 1; i < parts; ++i) {
    cuts.push_back(begins[begins.size() * i / parts]);
  }
  return cuts;
}

/// The parts between those cuts that are inside the window.
std::vector<Window> parts_of(const Window& window, std::vector<Nanos> cuts) {
  std::sort(cuts.begin(), cuts.end());
  std::vector<Window> parts;
  Nanos begin = window.begin;
  for (const Nanos cut : cuts) {
    if (cut <= begin || cut >= window.end) continue;
    parts.push_back({begin, cut});
    begin = cut;
  }
  parts.push_back({begin, window.end});
  return parts;
}

Result<Sweep> sweep_parts(const Trace& trace, const std::vector<Window>& windows,
                          const std::vector<Nanos>& begins) {
  // A site's waits follow each other, and each grows at most at the rate at which threads live. So if all
  // lifetimes together fit, no sum of a site overflows.
  if (!lifetimes_fit(trace)) return Error{kTooLong};
  const Histories histories(trace);
  const std::vector<ActorId> wakers = waking_threads(trace);
  std::vector<std::optional<SweptPart>> parts(windows.size());
  each_side_by_side(windows.size(), [&](std::size_t i) {
    parts[i] = sweep_part(trace, histories, wakers, begins, windows[i]);
  });
  Joined joined(trace.actors.size());
  for (std::optional<SweptPart>& part : parts) {
    if (part->error) return *std::move(part->error);
    joined.add(*part);
    part.reset();
  }
  return std::move(joined).result();
}

}  // namespace

void add(ActorTime& sum, const ActorTime& time) {
  sum.running_ns += time.running_ns;
  sum.runnable_ns += time.runnable_ns;
  sum.blocked_ns += time.blocked_ns;
  sum.unknown_ns += time.unknown_ns;
  sum.lifetime_ns += time.lifetime_ns;
  sum.open_wait_ns += time.open_wait_ns;
}

void add(SiteSum& sum, const SiteSum& site) {
  sum.waits += site.waits;
  sum.wait_ns += site.wait_ns;
  sum.weight_ns += site.weight_ns;
  sum.waker_running_ns += site.waker_running_ns;
  sum.waker_runnable_ns += site.waker_runnable_ns;
  sum.waker_blocked_ns += site.waker_blocked_ns;
  sum.waker_unknown_ns += site.waker_unknown_ns;
  sum.waker_disk_ns += site.waker_disk_ns;
  sum.waker_asleep_ns += site.waker_asleep_ns;
  sum.resume_ns += site.resume_ns;
  sum.together_ns += site.together_ns;
  sum.together_disk_ns += site.together_disk_ns;
  sum.together_waits += site.together_waits;
  sum.releases += site.releases;
  sum.largest_release = std::max(sum.largest_release, site.largest_release);
  sum.kept_ns += site.kept_ns;
  sum.kept_disk_ns += site.kept_disk_ns;
  sum.behind_disk_ns += site.behind_disk_ns;
  sum.then_disk_ns += site.then_disk_ns;
}

Result<Sweep> sweep(const Trace& trace) {
  const std::vector<Nanos> begins = some_begins(trace);
  return sweep_parts(trace, parts_of(trace.window, equal_cuts(trace, begins)), begins);
}

Result<Sweep> sweep(const Trace& trace, std::span<const Nanos> cuts) {
  return sweep_parts(trace, parts_of(trace.window, {cuts.begin(), cuts.end()}), some_begins(trace));
}

}  // namespace offwait
