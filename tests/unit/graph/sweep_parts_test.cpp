// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "graph/sweep.h"
#include "model/validate.h"
#include "traces.h"

namespace offwait {
namespace {

using test::TraceByHand;

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return static_cast<std::size_t>(random() % bound); }

/// Calls `change` for each time in the trace that the sweep looks at.
void for_each_time(Trace& trace, const auto& change) {
  change(trace.window.begin);
  change(trace.window.end);
  for (Actor& actor : trace.actors) {
    change(actor.start);
    change(actor.exit);
    change(actor.seen);
  }
  for (Wait& wait : trace.waits) {
    change(wait.block);
    change(wait.wake);
    change(wait.run);
  }
  for (Preemption& preemption : trace.preemptions) {
    change(preemption.out);
    change(preemption.run);
  }
  for (Gap& gap : trace.gaps) {
    change(gap.from);
    change(gap.to);
  }
}

/// A history with kernel threads and packets in flight. Its scale decides how long releases are: from all
/// wakings of a thread to those at one instant.
Trace history(std::uint64_t seed) {
  Random random(seed);
  Trace trace = test::random_history(seed);
  for (Actor& actor : trace.actors) {
    actor.kernel = actor.kind == ActorKind::thread && below(random, 5) == 0;
  }
  for (WaitSite& site : trace.sites) {
    site.in_flight =
        site.waker != kNoActor && trace.actors[site.waker].kind == ActorKind::nic && below(random, 2) == 0;
  }
  static constexpr std::array<Nanos, 5> kScales = {1, 300, 700, 2'000, 30'000};
  const Nanos scale = kScales.at(seed % 5);
  for_each_time(trace, [scale](Nanos& time) { time = time == kNever ? time : time * scale; });
  return trace;
}

/// Random cuts of one of several kinds, in any order.
std::vector<Nanos> random_cuts(const Trace& original, Random& random) {
  Trace trace = original;
  std::vector<Nanos> times;
  for_each_time(trace, [&times](Nanos& time) {
    if (time != kNever) times.push_back(time);
  });
  std::shuffle(times.begin(), times.end(), random);
  std::vector<Nanos> cuts;
  switch (below(random, 5)) {
    case 0:  // anywhere, outside of the window too
      for (std::size_t i = 1 + below(random, 12); i > 0; --i) {
        cuts.push_back(times[0] + static_cast<Nanos>(below(random, 1 + static_cast<std::size_t>(times[1]))));
      }
      return cuts;
    case 1:  // at some events
      times.resize(1 + below(random, std::min<std::size_t>(times.size(), 20)));
      return times;
    case 2:  // at each
      return times;
    case 3:  // around some, in parts of 1 ns
      times.resize(1 + below(random, std::min<std::size_t>(times.size(), 40)));
      for (const Nanos time : times) {
        for (const Nanos beside : {-1, 0, 1, 2}) cuts.push_back(time + beside);
      }
      return cuts;
    default:  // in the midst of one wait, many times
      for (std::size_t i = 0; i < 20; ++i) {
        const auto [least, most] = std::minmax(times[0], times[1]);
        cuts.push_back(least + static_cast<Nanos>(below(random, static_cast<std::size_t>(most - least + 1))));
      }
      return cuts;
  }
}

std::string message(const Result<Sweep>& swept) { return swept.ok() ? "" : swept.error().message; }

bool same(const Result<Sweep>& a, const Result<Sweep>& b) {
  return message(a) == message(b) && (!a.ok() || *a == *b);
}

SiteSum sum_of_sites(const Sweep& swept) {
  return std::accumulate(swept.sites.begin(), swept.sites.end(), SiteSum{},
                         [](SiteSum sum, const SiteSum& site) {
                           add(sum, site);
                           return sum;
                         });
}

TEST_CASE("a sweep in parts equals one in one part, whatever the cuts") {
  Random random(1);
  SiteSum all;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const Trace trace = history(seed);
    const Status valid = validate(trace);
    if (!valid.ok()) FAIL(valid.error().message);
    const Result<Sweep> whole = sweep(trace, {});
    REQUIRE(message(whole).empty());
    add(all, sum_of_sites(*whole));
    for (int i = 0; i < 3; ++i) {
      const std::vector<Nanos> cuts = random_cuts(trace, random);
      const bool equal = same(whole, sweep(trace, cuts));
      if (!equal) {
        CAPTURE(cuts);
        REQUIRE(equal);
      }
    }
  }
  // The comparison means something for each field.
  for (const Nanos time :
       {all.waker_running_ns, all.waker_runnable_ns, all.waker_blocked_ns, all.waker_unknown_ns,
        all.waker_disk_ns, all.resume_ns, all.together_disk_ns, all.kept_disk_ns, all.then_disk_ns}) {
    CHECK(time > 0);
  }
  CHECK(all.together_ns > 0);
  CHECK(all.together_ns < all.wait_ns);
  CHECK(all.kept_disk_ns < all.kept_ns);
  CHECK(all.then_disk_ns < all.behind_disk_ns);
}

TEST_CASE("a sweep in parts of 1 ns equals one in one part") {
  for (std::uint64_t seed = 0; seed < 20; seed += 5) {
    CAPTURE(seed);
    const Trace trace = history(seed);
    std::vector<Nanos> cuts(static_cast<std::size_t>(trace.window.length()));
    std::iota(cuts.begin(), cuts.end(), trace.window.begin);
    const bool equal = same(sweep(trace, {}), sweep(trace, cuts));
    CHECK(equal);
  }
}

TEST_CASE("a sweep in parts finds the same contradiction") {
  Random random(2);
  std::size_t blocked = 0, circles = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Trace trace = history(seed);
    if (trace.sites.empty()) continue;
    for (std::size_t i = below(random, 4); i > 0; --i) {
      WaitSite& site = trace.sites[below(random, trace.sites.size())];
      const std::size_t waker = below(random, trace.actors.size());
      if (!site.in_flight && site.waker != kNoActor) site.waker = static_cast<ActorId>(waker);
    }
    const Status valid = validate(trace);
    if (!valid.ok()) FAIL(valid.error().message);
    const Result<Sweep> whole = sweep(trace, {});
    blocked += message(whole).find("blocked until") != std::string::npos ? 1U : 0U;
    circles += message(whole).find("directly or not") != std::string::npos ? 1U : 0U;
    for (int i = 0; i < 2; ++i) {
      const std::vector<Nanos> cuts = random_cuts(trace, random);
      const Result<Sweep> parts = sweep(trace, cuts);
      CHECK(message(parts) == message(whole));
      const bool equal = same(whole, parts);
      CHECK(equal);
    }
  }
  CHECK(blocked >= 20);
  CHECK(circles >= 20);
}

TEST_CASE("weights that do not fit are an error in parts too") {
  const TraceByHand t = test::too_heavy_chain();
  const std::vector<Nanos> cuts = {kNever / 12};
  CHECK(message(sweep(t.trace, cuts)) == "the window is too long: weights do not fit 64 bits");
  CHECK(same(sweep(t.trace, {}), sweep(t.trace, cuts)));
}

TEST_CASE("a release over several parts is one") {
  TraceByHand t(1'000'000);
  const ActorId last = t.thread();
  constexpr std::size_t kThreads = 5;
  std::vector<SiteId> sites;
  for (std::size_t i = 0; i < kThreads; ++i) {
    sites.push_back(t.wait(t.thread(), last, 10'000, 100'000 + static_cast<Nanos>(i) * kOneRelease));
  }
  const std::vector<Nanos> cuts = {50'000, 110'000, 120'001, 125'000, 140'000, 200'000};
  const Result<Sweep> parts = sweep(t.trace, cuts);
  REQUIRE(parts.ok());
  for (const SiteId site : sites) {
    CHECK(parts->sites[site].largest_release == kThreads);
    CHECK(parts->sites[site].releases == Approx(1.0 / kThreads));
    CHECK(parts->sites[site].together_ns == parts->sites[site].wait_ns);
  }
}

TEST_CASE("a release after other ones of its part knows of its waits before the part") {
  TraceByHand t(10'000'000);
  const ActorId waker = t.thread(), disk = t.device(ActorKind::disk, "vda");
  std::vector<ActorId> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(t.thread());
  t.in(WaitClass::disk);
  t.wait(waker, disk, 200'000, 700'000);
  t.in(WaitClass::futex);
  // Three releases of two, the second one of waits that the cut divides.
  t.wait(waiting[0], waker, 1'500'000, 2'000'000);
  t.wait(waiting[1], waker, 1'500'000, 2'000'000);
  const SiteId first = t.wait(waiting[2], waker, 100'000, 3'000'000);
  const SiteId second = t.wait(waiting[3], waker, 300'000, 3'000'000);
  t.wait(waiting[0], waker, 3'500'000, 4'000'000);
  t.wait(waiting[1], waker, 3'500'000, 4'000'000);
  const std::vector<Nanos> cuts = {1'000'000};
  const Result<Sweep> parts = sweep(t.trace, cuts);
  REQUIRE(parts.ok());
  CHECK(parts->sites[first].together_disk_ns == 500'000);
  CHECK(parts->sites[second].together_disk_ns == 400'000);
  CHECK(same(sweep(t.trace, {}), parts));
}

TEST_CASE("a large trace is swept in parts where there are several CPUs") {
  TraceByHand t(0);
  const ActorId disk = t.device(ActorKind::disk, "vda");
  std::vector<ActorId> threads;
  for (int i = 0; i < 8; ++i) threads.push_back(t.thread());
  std::vector<Nanos> ready(threads.size(), 0);
  Random random(3);
  Nanos now = 1;
  // A convoy: each wakes the next one and queues again. Who is woken may go to the disk first.
  std::size_t holder = 0;
  while (t.trace.waits.size() < 250'000) {
    now += 2 + static_cast<Nanos>(below(random, 20'000));
    const std::size_t next = (holder + 1) % threads.size();
    t.in(WaitClass::futex);
    t.wait(threads[next], threads[holder], ready[next], now);
    if (below(random, 3) == 0) {
      t.in(WaitClass::disk);
      t.wait(threads[next], disk, now, now + 1);
    }
    ready[holder] = now + 1;
    holder = next;
  }
  t.trace.window.end = now + 100;
  const Status valid = validate(t.trace);
  if (!valid.ok()) FAIL(valid.error().message);
  const Result<Sweep> whole = sweep(t.trace, {});
  REQUIRE(message(whole).empty());
  CHECK(sum_of_sites(*whole).kept_disk_ns > 0);
  const bool equal = same(whole, sweep(t.trace));
  CHECK(equal);
}

}  // namespace
}  // namespace offwait
