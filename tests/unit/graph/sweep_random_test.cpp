// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>

#include "graph/sweep.h"
#include "model/validate.h"
#include "reference/recursion.h"
#include "traces.h"

namespace offwait {
namespace {

/// Counts of what the histories must contain for the comparison to mean something.
struct Coverage {
  std::size_t deep = 0;
  std::uint64_t waits = 0;
  std::size_t woken_by_device = 0, open_at_begin = 0, open_at_end = 0, cut_by_end = 0, empty = 0;
  std::size_t preemptions = 0, gaps = 0, seen_late = 0, reused_tids = 0;

  void add(const Trace& trace) {
    waits += trace.waits.size();
    preemptions += trace.preemptions.size();
    gaps += trace.gaps.size();
    for (const Wait& wait : trace.waits) {
      const ActorId waker = trace.sites[wait.site].waker;
      if (waker != kNoActor && trace.actors[waker].kind != ActorKind::thread) {
        ++woken_by_device;
      }
      if (wait.block < trace.window.begin && wait.wake > trace.window.begin) {
        ++open_at_begin;
      }
      if (wait.wake == kNever) {
        ++open_at_end;
      }
      if (wait.wake != kNever && wait.block < trace.window.end && wait.wake > trace.window.end) {
        ++cut_by_end;
      }
      if (wait.block == wait.wake) {
        ++empty;
      }
    }
    for (std::size_t i = 0; i < trace.actors.size(); ++i) {
      const Actor& actor = trace.actors[i];
      if (actor.seen > std::max(actor.start, trace.window.begin)) {
        ++seen_late;
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (actor.tid != 0 && trace.actors[j].tid == actor.tid) {
          ++reused_tids;
        }
      }
    }
  }
};

/// Differences of one trace, counted so that 1,000 traces do not make 1,000,000 assertions.
std::size_t differing_sites(const Trace& trace, const Sweep& swept, const reference::Cascade& cascade) {
  const std::vector<reference::SiteTotals> totals = reference::site_totals(trace);
  std::size_t differing = 0;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const SiteSum& sum = swept.sites[id];
    const reference::SiteTotals& total = totals[id];
    const bool equal =
        sum.weight_ns == cascade.weight_ns[id] && sum.waits == total.waits && sum.wait_ns == total.wait_ns &&
        sum.waker_running_ns == total.waker.running_ns && sum.waker_runnable_ns == total.waker.runnable_ns &&
        sum.waker_blocked_ns == total.waker.blocked_ns && sum.waker_unknown_ns == total.waker.unknown_ns;
    const ActorId waker = trace.sites[id].waker;
    const bool thread = waker != kNoActor && trace.actors[waker].kind == ActorKind::thread;
    const Nanos meanwhile =
        sum.waker_running_ns + sum.waker_runnable_ns + sum.waker_blocked_ns + sum.waker_unknown_ns;
    if (!equal || meanwhile != (thread ? sum.wait_ns : 0)) {
      ++differing;
    }
  }
  return differing;
}

std::size_t differing_actors(const Trace& trace, const Sweep& swept) {
  std::size_t differing = 0;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const ActorTime& time = swept.actors[id];
    const Nanos sum = time.running_ns + time.runnable_ns + time.blocked_ns + time.unknown_ns;
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread) {
      if (sum != 0 || time.lifetime_ns != 0 || time.open_wait_ns != 0) {
        ++differing;
      }
      continue;
    }
    const Nanos lifetime = std::max(
        Nanos{0}, std::min(actor.exit, trace.window.end) - std::max(actor.start, trace.window.begin));
    const reference::States states = reference::states(trace, id, trace.window.begin, trace.window.end);
    const bool equal = time.running_ns == states.running_ns && time.runnable_ns == states.runnable_ns &&
                       time.blocked_ns == states.blocked_ns &&
                       time.unknown_ns + trace.window.length() - lifetime == states.unknown_ns &&
                       time.open_wait_ns == reference::open_wait(trace, id);
    if (!equal || sum != lifetime || time.lifetime_ns != lifetime || time.running_ns < 0) {
      ++differing;
    }
  }
  return differing;
}

TEST_CASE("the sweep equals the recursion of Figure 4 on random histories") {
  constexpr std::uint64_t kTraces = 1200;
  Coverage coverage;
  for (std::uint64_t seed = 0; seed < kTraces; ++seed) {
    CAPTURE(seed);
    Trace trace = test::random_history(seed);
    for (std::size_t id = 0; id < trace.actors.size(); ++id) {
      Actor& actor = trace.actors[id];
      actor.kernel = actor.kind == ActorKind::thread && (seed + id) % 5 == 0;
      actor.outside = actor.kernel;
    }
    const Status valid = validate(trace);
    if (!valid.ok()) {
      FAIL(valid.error().message);
    }
    const Result<Sweep> swept = sweep(trace);
    if (!swept.ok()) {
      FAIL(swept.error().message);
    }
    const reference::Cascade cascade = reference::cascade(trace);
    REQUIRE(swept->sites.size() == trace.sites.size());
    REQUIRE(swept->actors.size() == trace.actors.size());
    REQUIRE(differing_sites(trace, *swept, cascade) == 0);
    REQUIRE(differing_actors(trace, *swept) == 0);
    coverage.add(trace);
    if (cascade.depth >= 64) {
      ++coverage.deep;
    }
  }
  CHECK(coverage.deep >= 100);
  CHECK(coverage.waits >= 100'000);
  CHECK(coverage.woken_by_device >= 1000);
  CHECK(coverage.open_at_begin >= 1000);
  CHECK(coverage.open_at_end >= 1000);
  CHECK(coverage.cut_by_end >= 1000);
  CHECK(coverage.empty >= 1000);
  CHECK(coverage.preemptions >= 1000);
  CHECK(coverage.gaps >= 1000);
  CHECK(coverage.seen_late >= 1000);
  CHECK(coverage.reused_tids >= 500);
}

}  // namespace
}  // namespace offwait
