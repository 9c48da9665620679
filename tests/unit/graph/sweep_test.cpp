// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/sweep.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "graph/graph.h"
#include "model/validate.h"
#include "traces.h"

namespace offwait {
namespace {

using test::swept;
using test::TraceByHand;

std::string failure(const Trace& trace) {
  const Status valid = validate(trace);
  if (!valid.ok()) FAIL(valid.error().message);
  const Result<Sweep> result = sweep(trace);
  return result.ok() ? "no error" : result.error().message;
}

TEST_CASE("Figure 3: A keeps its weight and B's wait grows by the overlap") {
  constexpr Nanos kT0 = 1000, kT1 = 4000, kT2 = 9000;
  TraceByHand t(10'000);
  const ActorId a = t.thread("A"), b = t.thread("B"), c = t.thread("C");
  const SiteId b_c = t.wait(b, c, kT0, kT1);
  const SiteId a_b = t.wait(a, b, kT0, kT2);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[a_b].weight_ns == kT2 - kT0);
  CHECK(sums.sites[b_c].weight_ns == 2 * (kT1 - kT0));
  CHECK(sums.sites[a_b].wait_ns == kT2 - kT0);
  CHECK(sums.sites[b_c].wait_ns == kT1 - kT0);
}

TEST_CASE("a packet in flight is waited for, but is no second wait") {
  TraceByHand t(10'000);
  const ActorId a = t.thread("A"), b = t.thread("B"), c = t.thread("C");
  const ActorId lo = t.device(ActorKind::nic, "lo");
  // B sent at 4000 and sleeps when the packet arrives; from then on it weighs nothing for A.
  const SiteId a_b = t.wait(a, b, 1000, 4000, 4000);
  const SiteId a_lo = t.wait(a, lo, 4000, 6000);
  t.trace.sites[a_lo].in_flight = true;
  const SiteId before = t.wait(b, c, 2000, 3000);
  const SiteId after = t.wait(b, c, 4500, 5500);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[a_b].waits == 1);
  CHECK(sums.sites[a_b].wait_ns == 3000);
  CHECK(sums.sites[a_b].waker_blocked_ns == 1000);
  CHECK(sums.sites[a_lo].waits == 0);
  CHECK(sums.sites[a_lo].wait_ns == 2000);
  CHECK(sums.actors[a].blocked_ns == 5000);
  CHECK(before == after);
  CHECK(sums.sites[before].weight_ns == 2 * 1000 + 1000);
  const Graph graph = build_graph(t.trace, sums);
  REQUIRE(graph.edges.size() == 3);
  CHECK(std::count_if(graph.edges.begin(), graph.edges.end(), [lo](const Edge& edge) {
          return edge.to == lo && edge.waits == 0 && edge.wait_ns == 2000;
        }) == 1);
}

TEST_CASE("Figure 1: B and the disk limit, though A waits longest") {
  // Steady state, the queue full: each 10 ms B works 5 ms, then syncs 5 ms; it takes the next request when
  // the disk is done and so wakes A, which works 2 ms and blocks on the full queue.
  constexpr Nanos kMs = 1'000'000;
  constexpr Nanos kCycles = 100;
  TraceByHand t(kCycles * 10 * kMs);
  const ActorId a = t.thread("A"), b = t.thread("B");
  const ActorId disk = t.device(ActorKind::disk, "vda");
  SiteId a_b = 0, b_disk = 0;
  for (Nanos cycle = 0; cycle < kCycles; ++cycle) {
    const Nanos at = cycle * 10 * kMs;
    t.in(WaitClass::disk);
    b_disk = t.wait(b, disk, at + 5 * kMs, at + 10 * kMs);
    t.in(WaitClass::futex);
    a_b = t.wait(a, b, at + 2 * kMs, at + 10 * kMs);
  }
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[a_b].waits == 100);
  CHECK(sums.sites[a_b].wait_ns == 800 * kMs);
  CHECK(sums.sites[a_b].weight_ns == 800 * kMs);
  CHECK(sums.sites[a_b].waker_running_ns == 300 * kMs);
  CHECK(sums.sites[a_b].waker_blocked_ns == 500 * kMs);
  CHECK(sums.sites[b_disk].wait_ns == 500 * kMs);
  CHECK(sums.sites[b_disk].weight_ns == 1000 * kMs);
  CHECK(sums.sites[b_disk].waker_running_ns == 0);
  CHECK(sums.actors[a].running_ns == 200 * kMs);
  CHECK(sums.actors[a].blocked_ns == 800 * kMs);
  CHECK(sums.actors[b].running_ns == 500 * kMs);
  CHECK(sums.actors[disk].lifetime_ns == 0);
}

TEST_CASE("a wait counts only for the time in which another one depends on it") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread(), c = t.thread();
  const SiteId b_c = t.wait(b, c, 10, 20);
  t.in(WaitClass::pipe);
  const SiteId b_c_later = t.wait(b, c, 30, 50);
  t.in(WaitClass::futex);
  const SiteId a_b = t.wait(a, b, 15, 60);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[b_c].weight_ns == 10 + 5);
  CHECK(sums.sites[b_c_later].weight_ns == 20 + 20);
  CHECK(sums.sites[a_b].weight_ns == 45);
  CHECK(sums.sites[a_b].waker_blocked_ns == 25);
  CHECK(sums.sites[a_b].waker_running_ns == 20);
}

TEST_CASE("all threads that wait for a thread count, directly or through others") {
  TraceByHand t(100);
  const ActorId root = t.thread(), middle = t.thread(), x = t.thread(), y = t.thread();
  const ActorId timer = t.device(ActorKind::timer, "");
  const SiteId r = t.wait(root, timer, 0, 10);
  const SiteId m = t.wait(middle, root, 0, 20);
  const SiteId wx = t.wait(x, middle, 0, 30);
  const SiteId wy = t.wait(y, middle, 5, 30);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[r].weight_ns == 3 * 10 + 5);
  CHECK(sums.sites[m].weight_ns == 2 * 20 + 15);
  CHECK(sums.sites[wx].weight_ns == 30);
  CHECK(sums.sites[wy].weight_ns == 25);
}

TEST_CASE("a chain of wakes at one instant, in any order of the records, is possible") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread(), c = t.thread(), d = t.thread();
  // d wakes c, c wakes b, b wakes a, all at 50; b and c sleep again at once.
  const SiteId a_b = t.wait(a, b, 0, 50);
  const SiteId c_d = t.wait(c, d, 20, 50);
  const SiteId b_c = t.wait(b, c, 10, 50);
  const SiteId c_again = t.wait(c, d, 50, 60);
  const SiteId b_again = t.wait(b, a, 50, 70);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[a_b].weight_ns == 50);
  CHECK(sums.sites[b_c].weight_ns == 2 * Nanos{40});
  CHECK(c_again == c_d);
  CHECK(sums.sites[c_d].weight_ns == 3 * Nanos{30} + 10);
  CHECK(sums.sites[b_again].weight_ns == 20);
  CHECK(sums.sites[b_again].waker_running_ns == 20);
}

TEST_CASE("a waker may fall asleep at the instant of its wake") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread(), c = t.thread();
  const SiteId a_b = t.wait(a, b, 0, 50);
  const SiteId b_c = t.wait(b, c, 50, 90);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[a_b].weight_ns == 50);
  CHECK(sums.sites[b_c].weight_ns == 40);
  CHECK(sums.sites[a_b].waker_blocked_ns == 0);
}

TEST_CASE("two threads that hand over to each other without a pause wait by turns, not in a circle") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread();
  const SiteId a_b = t.wait(a, b, 0, 10);
  const SiteId b_a = t.wait(b, a, 10, 20);
  t.wait(a, b, 20, 30);
  t.wait(b, a, 30, 40);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[a_b].weight_ns == 20);
  CHECK(sums.sites[b_a].weight_ns == 20);
}

TEST_CASE("an empty wait is counted with weight 0, and its runnable time counts") {
  TraceByHand t(100, 10);
  const ActorId a = t.thread(), b = t.thread();
  const SiteId site = t.wait(a, b, 5, 5);
  t.wait(a, b, 10, 10);
  t.wait(a, b, 30, 30, 37);
  t.wait(a, b, 100, 100);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[site].waits == 2);
  CHECK(sums.sites[site].wait_ns == 0);
  CHECK(sums.sites[site].weight_ns == 0);
  CHECK(sums.actors[a].runnable_ns == 7);
  CHECK(sums.actors[a].running_ns == 83);
}

TEST_CASE("waits are clipped to the window, those outside do not count") {
  TraceByHand t(100, 50);
  const ActorId a = t.thread(), b = t.thread();
  const SiteId early = t.wait(a, b, 10, 50);
  t.in(WaitClass::pipe);
  const SiteId first = t.wait(a, b, 50, 60);
  t.in(WaitClass::poll);
  const SiteId across_end = t.wait(a, b, 90, 130);
  t.in(WaitClass::lock);
  const SiteId late = t.wait(a, b, 140, 150);
  t.in(WaitClass::sleep);
  const SiteId across_begin = t.wait(b, t.device(ActorKind::timer, ""), 0, 55, 58);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[early].waits == 0);
  CHECK(sums.sites[early].wait_ns == 0);
  CHECK(sums.sites[first].wait_ns == 10);
  CHECK(sums.sites[first].waker_blocked_ns == 5);
  CHECK(sums.sites[first].waker_runnable_ns == 3);
  CHECK(sums.sites[first].waker_running_ns == 2);
  CHECK(sums.sites[across_begin].waits == 1);
  CHECK(sums.sites[across_begin].weight_ns == 5 + 5);
  CHECK(sums.sites[across_end].waits == 1);
  CHECK(sums.sites[across_end].weight_ns == 10);
  CHECK(sums.sites[late].waits == 0);
  CHECK(sums.actors[a].blocked_ns == 20);
  CHECK(sums.actors[a].open_wait_ns == 10);
  CHECK(sums.actors[b].runnable_ns == 3);
}

TEST_CASE("an open wait lasts to the window's end and has no waker") {
  TraceByHand t(100, 20);
  const ActorId a = t.thread(), b = t.thread();
  const SiteId site = t.wait(a, kNoActor, 70, kNever);
  const SiteId throughout = t.wait(b, kNoActor, 0, kNever);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[site].waits == 1);
  CHECK(sums.sites[site].weight_ns == 30);
  CHECK(sums.actors[a].open_wait_ns == 30);
  CHECK(sums.actors[a].blocked_ns == 30);
  CHECK(sums.actors[a].running_ns == 50);
  CHECK(sums.sites[throughout].wait_ns == 80);
  CHECK(sums.actors[b].open_wait_ns == 80);
  CHECK(sums.actors[b].running_ns == 0);
}

TEST_CASE("a thread that is killed while blocked is blocked until its exit") {
  TraceByHand t(100);
  const ActorId a = t.thread();
  t.trace.actors[a].exit = 60;
  const SiteId site = t.wait(a, kNoActor, 40, kNever);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[site].wait_ns == 20);
  CHECK(sums.actors[a].open_wait_ns == 20);
  CHECK(sums.actors[a].lifetime_ns == 60);
  CHECK(sums.actors[a].running_ns == 40);
}

TEST_CASE("a thread that was woken and never ran is runnable until the end") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread();
  t.wait(a, b, 10, 30, kNever);
  t.trace.preemptions.push_back({b, 80, kNever});
  const Sweep sums = swept(t.trace);
  CHECK(sums.actors[a].blocked_ns == 20);
  CHECK(sums.actors[a].runnable_ns == 70);
  CHECK(sums.actors[a].open_wait_ns == 0);
  CHECK(sums.actors[b].runnable_ns == 20);
  CHECK(sums.actors[b].running_ns == 80);
}

TEST_CASE("every ns of a life in the window has one state") {
  TraceByHand t(1000, 100);
  const ActorId a = t.thread(), b = t.thread();
  Actor& actor = t.trace.actors[a];
  actor.start = 50;
  actor.seen = 150;
  actor.exit = 900;
  t.wait(a, b, 200, 250, 260);
  t.trace.preemptions.push_back({a, 260, 280});
  t.trace.gaps.push_back({a, 400, 450});
  t.trace.preemptions.push_back({a, 450, 451});
  const Sweep sums = swept(t.trace);
  CHECK(sums.actors[a].lifetime_ns == 800);
  CHECK(sums.actors[a].unknown_ns == 50 + 50);
  CHECK(sums.actors[a].blocked_ns == 50);
  CHECK(sums.actors[a].runnable_ns == 10 + 20 + 1);
  CHECK(sums.actors[a].running_ns == 800 - 100 - 50 - 31);
}

TEST_CASE("a record from before `seen` is believed") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread();
  t.trace.actors[a].seen = 50;
  t.wait(a, b, 20, 30);
  const Sweep sums = swept(t.trace);
  CHECK(sums.actors[a].unknown_ns == 20);
  CHECK(sums.actors[a].blocked_ns == 10);
  CHECK(sums.actors[a].running_ns == 70);
}

TEST_CASE("a life outside the window is empty") {
  TraceByHand t(200, 100);
  const ActorId before = t.thread(), after = t.thread();
  t.trace.actors[before].exit = 100;
  t.trace.actors[after].start = 200;
  t.trace.actors[after].seen = 200;
  const Sweep sums = swept(t.trace);
  CHECK(sums.actors[before].lifetime_ns == 0);
  CHECK(sums.actors[after].lifetime_ns == 0);
  CHECK(sums.actors[after].unknown_ns == 0);
}

TEST_CASE("a waker is unknown before its birth, and while its records are lost") {
  TraceByHand t(100);
  const ActorId parent = t.thread(), child = t.thread();
  t.trace.actors[child].start = 30;
  t.trace.actors[child].seen = 30;
  t.trace.gaps.push_back({child, 40, 45});
  t.trace.preemptions.push_back({child, 50, 52});
  t.in(WaitClass::child);
  const SiteId site = t.wait(parent, child, 10, 60);
  const Sweep sums = swept(t.trace);
  CHECK(sums.sites[site].wait_ns == 50);
  CHECK(sums.sites[site].waker_unknown_ns == 20 + 5);
  CHECK(sums.sites[site].waker_runnable_ns == 2);
  CHECK(sums.sites[site].waker_running_ns == 23);
  CHECK(sums.sites[site].waker_blocked_ns == 0);
}

TEST_CASE("a tid that is used again is another thread") {
  TraceByHand t(100);
  const ActorId first = t.thread(), second = t.thread(), waker = t.thread();
  t.trace.actors[second].tid = t.trace.actors[first].tid;
  t.trace.actors[first].exit = 40;
  t.trace.actors[second].start = t.trace.actors[second].seen = 40;
  t.wait(first, waker, 10, 20);
  t.wait(second, waker, 40, 70);
  const Sweep sums = swept(t.trace);
  CHECK(sums.actors[first].blocked_ns == 10);
  CHECK(sums.actors[first].lifetime_ns == 40);
  CHECK(sums.actors[second].blocked_ns == 30);
  CHECK(sums.actors[second].lifetime_ns == 60);
}

TEST_CASE("a waker that sleeps past its wake is an error that names the wait") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread(), c = t.thread();
  t.wait(a, b, 0, 50);
  t.wait(b, c, 40, 60);
  CHECK(failure(t.trace) ==
        "thread 100 cannot have waited from 0 to 50 for thread 101, which was itself blocked until 60");
}

TEST_CASE("a waker that never woke is an error too") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread();
  t.wait(a, b, 20, 100);
  t.wait(b, kNoActor, 40, kNever);
  CHECK(
      failure(t.trace) ==
      "thread 100 cannot have waited from 20 to 100 for thread 101, which was itself blocked until the end");
}

TEST_CASE("threads that wait for each other are an error, at one instant or past the window too") {
  const Nanos end = GENERATE(Nanos{100}, Nanos{30});
  TraceByHand t(end);
  const ActorId a = t.thread(), b = t.thread(), c = t.thread();
  t.wait(a, b, 0, 50);
  t.wait(b, c, 10, 50);
  t.wait(c, a, 20, 50);
  CHECK(failure(t.trace) ==
        "thread 102 cannot have waited from 20 to 50 for thread 100, which was waiting, directly or not, for "
        "the "
        "former");
}

TEST_CASE("a thread does not wake itself") {
  TraceByHand t(100);
  const ActorId a = t.thread();
  t.wait(a, a, 10, 50);
  CHECK(failure(t.trace) ==
        "thread 100 cannot have waited from 10 to 50 for thread 100, which was waiting, directly or not, for "
        "the "
        "former");
}

TEST_CASE("weights that would not fit are an error") {
  TraceByHand t(kNever - 1);
  const ActorId a = t.thread(), b = t.thread();
  t.wait(a, b, 0, 1);
  CHECK(failure(t.trace) == "the window is too long: weights do not fit 64 bits");

  CHECK(failure(test::too_heavy_chain().trace) == "the window is too long: weights do not fit 64 bits");
}

TEST_CASE("many threads fit a long window if they live one after the other") {
  constexpr Nanos kLife = kNever / 1000;
  TraceByHand t(kNever - 1);
  const ActorId timer = t.device(ActorKind::timer, "");
  for (Nanos i = 0; i < 900; ++i) {
    const ActorId thread = t.thread();
    t.trace.actors[thread].start = t.trace.actors[thread].seen = i * kLife;
    t.trace.actors[thread].exit = (i + 1) * kLife;
    t.wait(thread, timer, i * kLife, i * kLife + 5);
  }
  Nanos total = 0;
  for (const SiteSum& sum : swept(t.trace).sites) total += sum.weight_ns;
  CHECK(total == 900 * 5);
  // Two more that live as long as the window.
  for (int i = 0; i < 2; ++i) t.thread();
  CHECK(failure(t.trace) == "the window is too long: weights do not fit 64 bits");
}

TEST_CASE("nothing in, nothing out") {
  const Sweep sums = swept(Trace{});
  CHECK(sums.sites.empty());
  CHECK(sums.actors.empty());
}

TEST_CASE("wakings of several threads by one, close together, are one release") {
  TraceByHand t(1'000'000);
  const ActorId last = t.thread(), other = t.thread();
  std::vector<ActorId> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(t.thread());
  std::vector<SiteId> sites;
  // A barrier: three let go by one, each kOneRelease after the one before.
  for (std::size_t i = 0; i < 3; ++i) {
    t.in(WaitClass::futex, t.stack("barrier"));
    sites.push_back(t.wait(waiting[i], last, 0, 100'000 + static_cast<Nanos>(i) * kOneRelease));
  }
  // One by one: just too late to be the same release. And at the same time, but by another.
  t.in(WaitClass::futex, t.stack("lock"));
  const SiteId first = t.wait(waiting[0], last, 200'000, 300'000);
  const SiteId second = t.wait(waiting[1], last, 200'000, 300'001 + kOneRelease);
  const SiteId alone = t.wait(waiting[2], other, 200'000, 300'000);
  const Sweep done = swept(t.trace);
  CHECK(done.sites[sites[0]].together_ns == 100'000);
  CHECK(done.sites[sites[0]].together_waits == 1);
  CHECK(done.sites[sites[0]].releases == Approx(1.0 / 3));
  CHECK(done.sites[sites[1]].together_ns == 120'000);
  // Each site knows its own part of the release: any of them may be outside of what is looked at.
  CHECK(done.sites[sites[1]].releases == Approx(1.0 / 3));
  CHECK(done.sites[sites[1]].largest_release == 3);
  CHECK(done.sites[sites[2]].together_ns == 140'000);
  for (const SiteId site : {first, second, alone}) CHECK(done.sites[site].together_waits == 0);
}

TEST_CASE("of any sites, the mean release is between two threads and the largest release") {
  TraceByHand t(10'000'000);
  const ActorId last = t.thread();
  std::vector<ActorId> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(t.thread());
  const StackId in_first = t.stack("first"), in_others = t.stack("others");
  std::set<SiteId> sites;
  // Releases of 2, 3, 4 and 5 threads. The first thread is in one place, the others in another.
  for (std::size_t size = 2; size <= 5; ++size) {
    const Nanos from = static_cast<Nanos>(size) * 1'000'000;
    for (std::size_t i = 0; i < size; ++i) {
      t.in(WaitClass::futex, i == 0 ? in_first : in_others);
      sites.insert(t.wait(waiting[i], last, from, from + 500'000 + static_cast<Nanos>(i)));
    }
  }
  const Sweep done = swept(t.trace);
  double releases = 0;
  for (const SiteId site : sites) {
    const SiteSum& sum = done.sites[site];
    const double mean = static_cast<double>(sum.together_waits) / sum.releases;
    CHECK(mean >= 2 - 1e-9);
    CHECK(mean <= static_cast<double>(sum.largest_release) + 1e-9);
    releases += sum.releases;
  }
  CHECK(releases == Approx(4));
}

TEST_CASE("who waits behind a thread at the disk, and goes there next") {
  TraceByHand t(10'000'000);
  const ActorId a = t.thread(), b = t.thread(), c = t.thread();
  const ActorId disk = t.device(ActorKind::disk, "vda");
  t.in(WaitClass::disk);
  t.wait(a, disk, 1'000'000, 2'000'000);
  t.in(WaitClass::futex, t.stack("lock"));
  const SiteId behind_a = t.wait(b, a, 500'000, 2'500'000);  // then at the disk
  t.in(WaitClass::disk);
  t.wait(b, disk, 3'000'000, 4'000'000);
  t.in(WaitClass::futex, t.stack("lock"));
  const SiteId behind_b = t.wait(c, b, 1'500'000, 4'500'000);  // then behind a thread at the disk again
  t.in(WaitClass::disk);
  t.wait(a, disk, 5'000'000, 6'000'000);
  t.in(WaitClass::futex, t.stack("lock"));
  const SiteId again = t.wait(c, a, 5'000'000, 6'500'000);  // then nothing that would tell
  const SiteId other = t.wait(b, c, 7'000'000, 8'000'000);  // behind a thread that is not at the disk
  const Sweep done = swept(t.trace);
  CHECK(done.sites[behind_a].kept_ns == 2'000'000);
  CHECK(done.sites[behind_a].kept_disk_ns == 1'000'000);
  CHECK(done.sites[behind_a].behind_disk_ns == 2'000'000);
  CHECK(done.sites[behind_a].then_disk_ns == 2'000'000);
  // b itself was kept waiting until 2.5 ms: it kept c waiting from then on.
  CHECK(done.sites[behind_b].kept_ns == 2'000'000);
  CHECK(done.sites[behind_b].kept_disk_ns == 1'000'000);
  CHECK(done.sites[behind_b].behind_disk_ns == 3'000'000);
  CHECK(done.sites[behind_b].then_disk_ns == 0);
  CHECK(done.sites[again].kept_disk_ns == 1'000'000);
  CHECK(done.sites[again].behind_disk_ns == 0);
  CHECK(done.sites[other].kept_ns == 1'000'000);
  CHECK(done.sites[other].kept_disk_ns == 0);
  CHECK(done.sites[other].behind_disk_ns == 0);
}

TEST_CASE("the time that a releasing thread waited for the disk, and the runnable time after a wait") {
  TraceByHand t(1'000'000);
  const ActorId leader = t.thread(), one = t.thread(), two = t.thread(), three = t.thread();
  const ActorId disk = t.device(ActorKind::disk, "vda");
  t.in(WaitClass::disk);
  const SiteId flush = t.wait(leader, disk, 20'000, 60'000, 65'000);
  t.in(WaitClass::futex, t.stack("commit"));
  // The last of them came when the flush had begun.
  const SiteId first = t.wait(one, leader, 10'000, 70'000, 71'000);
  const SiteId second = t.wait(two, leader, 30'000, 71'000, 91'000);
  const SiteId third = t.wait(three, leader, 60'000, 72'000, kNever);
  const SiteId empty = t.wait(one, leader, 100'000, 100'000, 105'000);
  REQUIRE(empty == first);
  const Sweep done = swept(t.trace);
  CHECK(done.sites[first].waker_disk_ns == 40'000);
  CHECK(done.sites[first].waker_blocked_ns == 40'000);
  CHECK(done.sites[first].together_disk_ns == 40'000);
  CHECK(done.sites[second].together_disk_ns == 30'000);
  CHECK(done.sites[third].together_disk_ns == 0);
  CHECK(done.sites[first].largest_release == 3);
  CHECK(done.sites[second].largest_release == 3);
  CHECK(done.sites[flush].resume_ns == 5'000);
  CHECK(done.sites[first].resume_ns == 1'000 + 5'000);
  CHECK(done.sites[second].resume_ns == 20'000);
  CHECK(done.sites[third].resume_ns == 1'000'000 - 72'000);
  CHECK(done.actors[leader].blocked_ns == 40'000);
}

TEST_CASE("the time that a waker slept is part of its blocked time") {
  TraceByHand t(1000);
  const ActorId holder = t.thread(), other = t.thread(), timer = t.device(ActorKind::timer, "");
  t.in(WaitClass::sleep);
  t.wait(holder, timer, 100, 400);
  t.in(WaitClass::poll);
  t.wait(holder, timer, 500, 600);
  t.in(WaitClass::futex);
  const SiteId site = t.wait(other, holder, 300, 700);
  const Sweep done = swept(t.trace);
  CHECK(done.sites[site].waker_asleep_ns == 100);
  CHECK(done.sites[site].waker_blocked_ns == 200);
  CHECK(done.actors[holder].blocked_ns == 400);
}

}  // namespace
}  // namespace offwait
