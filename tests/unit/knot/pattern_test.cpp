// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/pattern.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

constexpr std::uint32_t kLockStack = 1;
constexpr std::uint32_t kFullStack = 2;
constexpr std::uint32_t kEmptyStack = 3;

PatternEdge futex(VertexId from, VertexId to, Nanos ns, std::uint32_t stack) {
  PatternEdge edge;
  edge.from = from;
  edge.to = to;
  edge.futex_ns = ns;
  edge.futex_stacks = {{stack, ns}};
  return edge;
}

PatternEdge other(VertexId from, VertexId to, Nanos ns) {
  PatternEdge edge;
  edge.from = from;
  edge.to = to;
  edge.other_ns = ns;
  return edge;
}

PatternKnot knot_of(std::vector<PatternEdge> edges) {
  PatternKnot knot;
  knot.runnable_ns = 10;
  knot.blocked_ns = 1000;
  knot.edges = std::move(edges);
  return knot;
}

TEST_CASE("a knot with a device is blocking I/O, unless it is group commit") {
  PatternKnot knot = knot_of({futex(0, 0, 900, kLockStack)});
  knot.has_device = true;
  knot.runnable_ns = 5000;
  knot.waker_runnable_ns = 900;
  CHECK(classify(knot) == Pattern::blocking_io);
}

PatternEdge to_disk(VertexId from, VertexId to, Nanos ns) {
  PatternEdge edge = other(from, to, ns);
  edge.to_device = true;
  return edge;
}

TEST_CASE("a lock is held across a disk wait if those let go by a thread at the disk go there themselves") {
  PatternEdge turns = futex(0, 0, 1000, kLockStack);
  turns.kept_ns = 1000;
  turns.kept_disk_ns = 200;
  turns.behind_disk_ns = 600;
  turns.then_disk_ns = 360;
  PatternKnot knot = knot_of({turns, to_disk(0, 1, 2000)});
  knot.has_device = true;
  knot.edges.reserve(3);
  PatternEdge& edge = knot.edges[0];
  CHECK(classify(knot) == Pattern::lock_across_disk);
  SECTION("most of the waits are not behind a thread at the disk") {
    edge.behind_disk_ns = 599;
    CHECK(classify(knot) == Pattern::blocking_io);
  }
  SECTION("who is let go has nothing to do at the disk") {
    edge.then_disk_ns = 359;
    CHECK(classify(knot) == Pattern::blocking_io);
  }
  SECTION("the thread that keeps the others waiting is hardly at the disk") {
    edge.kept_disk_ns = 199;
    CHECK(classify(knot) == Pattern::blocking_io);
  }
  SECTION("several are let go at once") {
    edge.together_ns = 599;
    CHECK(classify(knot) == Pattern::lock_across_disk);
    edge.together_ns = 600;
    CHECK(classify(knot) == Pattern::blocking_io);
  }
  SECTION("they wait for the disk for more than twice as long as for each other") {
    knot.edges[1].other_ns = 2001;
    CHECK(classify(knot) == Pattern::blocking_io);
  }
  SECTION("who is let go waits in another place than the one that lets it go") {
    edge.behind_disk_ns = edge.then_disk_ns = 700;
    edge.to = 2;
    knot.edges.push_back(futex(2, 0, 1, kFullStack));
    CHECK(classify(knot) == Pattern::blocking_io);
    knot.edges.back() = futex(2, 0, 1, kLockStack);
    CHECK(classify(knot) == Pattern::lock_across_disk);
  }
}

TEST_CASE("waits of class disk for a thread are waits for the disk, not for each other") {
  PatternEdge turns = futex(0, 0, 1000, kLockStack);
  turns.kept_ns = turns.behind_disk_ns = turns.then_disk_ns = 1000;
  turns.kept_disk_ns = 500;
  PatternEdge journal = other(0, 1, 2000);
  journal.disk_ns = 2000;
  CHECK(classify(knot_of({turns, journal})) == Pattern::lock_across_disk);
  journal.other_ns = journal.disk_ns = 2001;
  CHECK(classify(knot_of({turns, journal})) != Pattern::lock_across_disk);
}

TEST_CASE("it is group commit if most waits ended in releases by a thread that waited for a disk") {
  PatternEdge crowd = futex(0, 0, 1000, kLockStack);
  crowd.together_ns = 600;
  crowd.together_disk_ns = 120;
  PatternKnot knot = knot_of({crowd, to_disk(0, 1, 1000)});
  knot.has_device = true;
  CHECK(classify(knot) == Pattern::group_commit);
  SECTION("one by one: they wait for the disk, and for each other as well") {
    knot.edges[0].together_ns = 599;
    CHECK(classify(knot) == Pattern::blocking_io);
  }
  SECTION("the releasing thread did not wait for the disk") {
    knot.edges[0].together_disk_ns = 119;
    CHECK(classify(knot) == Pattern::blocking_io);
    knot.has_device = false;
    knot.edges.pop_back();
    CHECK(classify(knot) == Pattern::load_imbalance);
  }
  SECTION("longer waits for the disk than for each other") {
    knot.edges[1].other_ns = 1001;
    CHECK(classify(knot) == Pattern::blocking_io);
  }
  SECTION("the disk need not be in the knot: it may be full, or its waits too short") {
    knot.has_device = false;
    knot.edges.pop_back();
    CHECK(classify(knot) == Pattern::group_commit);
  }
}

TEST_CASE("runnable for a quarter of the time is lack of CPU; less is not") {
  PatternKnot knot = knot_of({futex(0, 0, 900, kLockStack)});
  knot.waker_runnable_ns = 900;
  knot.blocked_ns = 900;
  knot.runnable_ns = 300;
  CHECK(lacks_cpu(knot));
  CHECK(classify(knot) == Pattern::cpu_starvation);
  knot.runnable_ns = 299;
  CHECK_FALSE(lacks_cpu(knot));
  CHECK(classify(knot) == Pattern::lock_contention);
  CHECK_FALSE(lacks_cpu({}));
}

TEST_CASE("it is not CPU starvation if the wakers run, or wait for a disk") {
  PatternKnot knot = knot_of({futex(0, 0, 900, kLockStack)});
  knot.runnable_ns = 5000;
  knot.waker_running_ns = 99;
  knot.waker_runnable_ns = 601;
  CHECK(classify(knot) == Pattern::cpu_starvation);
  knot.waker_disk_ns = 600;
  CHECK(classify(knot) == Pattern::cpu_starvation);
  knot.waker_disk_ns = 601;
  CHECK(classify(knot) == Pattern::lock_contention);
  knot.waker_disk_ns = 0;
  knot.waker_running_ns = 100;
  knot.waker_runnable_ns = 600;
  CHECK(classify(knot) == Pattern::lock_contention);
  // The states of the wakers are not known.
  knot.waker_running_ns = 0;
  knot.waker_runnable_ns = 0;
  CHECK(classify(knot) == Pattern::lock_contention);
}

TEST_CASE("most of the blocked time ended by a timer is timer-driven") {
  PatternKnot knot = knot_of({futex(0, 0, 400, kLockStack)});
  knot.timer_ns = 600;
  CHECK(classify(knot) == Pattern::timer_driven);
  knot.timer_ns = 599;
  CHECK(classify(knot) == Pattern::lock_contention);
}

TEST_CASE("waiting for each other in the same place is lock contention") {
  CHECK(classify(knot_of({futex(0, 0, 900, kLockStack)})) == Pattern::lock_contention);
  CHECK(classify(knot_of({futex(0, 1, 500, kLockStack), futex(1, 0, 300, kLockStack)})) ==
        Pattern::lock_contention);
  // A convoy that hands the lock on in turn is a directed ring.
  CHECK(classify(knot_of({futex(0, 1, 500, kLockStack), futex(1, 2, 500, kLockStack),
                          futex(2, 0, 500, kLockStack)})) == Pattern::lock_contention);
}

TEST_CASE("most of the wait time ended in releases of several threads: load imbalance, not a lock") {
  PatternEdge edge = futex(0, 0, 1000, kLockStack);
  edge.together_ns = 600;
  CHECK(classify(knot_of({edge})) == Pattern::load_imbalance);
  edge.together_ns = 599;
  CHECK(classify(knot_of({edge})) == Pattern::lock_contention);
  // Releases of threads that wait in other places say nothing about the contended place.
  PatternEdge else_where = other(0, 1, 300);
  else_where.together_ns = 300;
  CHECK(classify(knot_of({edge, else_where})) == Pattern::lock_contention);
}

TEST_CASE("an in-kernel lock needs no stacks") {
  PatternEdge edge;
  edge.from = 0;
  edge.to = 1;
  edge.lock_ns = 600;
  CHECK(classify(knot_of({edge, other(1, 0, 400)})) == Pattern::lock_contention);
  edge.lock_ns = 599;
  CHECK(classify(knot_of({edge, other(1, 0, 401)})) == Pattern::mixed);
}

TEST_CASE("waiting for each other in different places is producer and consumer") {
  CHECK(classify(knot_of({futex(0, 1, 500, kFullStack), futex(1, 0, 300, kEmptyStack)})) ==
        Pattern::producer_consumer);
  CHECK(classify(knot_of({futex(0, 1, 500, 4), futex(1, 2, 500, 5), futex(2, 0, 500, 6)})) ==
        Pattern::producer_consumer);
  // The waker waits, but never on a futex.
  CHECK(classify(knot_of({futex(0, 1, 700, kFullStack), other(1, 0, 300)})) == Pattern::producer_consumer);
}

TEST_CASE("a barrier is known by its name, and between two threads it may be made of a condition") {
  PatternEdge there = futex(0, 1, 500, kLockStack);
  PatternEdge back = futex(1, 0, 300, kLockStack);
  there.futex_stacks[0].at = back.futex_stacks[0].at = WaitedAt::barrier;
  CHECK(classify(knot_of({there, back})) == Pattern::load_imbalance);
  there.futex_stacks[0].at = back.futex_stacks[0].at = WaitedAt::condition;
  PatternKnot two = knot_of({there, back});
  two.threads = 2;
  CHECK(classify(two) == Pattern::load_imbalance);
  two.threads = 3;
  CHECK(classify(two) == Pattern::lock_contention);
  two.threads = 2;
  for (PatternEdge& edge : two.edges) edge.futex_stacks[0].at = WaitedAt::lock;
  CHECK(classify(two) == Pattern::lock_contention);
}

TEST_CASE("pipes hand work on, even when both sides wait in read()") {
  PatternEdge there;
  there.from = 0;
  there.to = 1;
  there.pipe_ns = 500;
  PatternEdge back = there;
  std::swap(back.from, back.to);
  CHECK(classify(knot_of({there, back})) == Pattern::producer_consumer);
}

TEST_CASE("most of the wait time on sockets, for threads, is a dialogue") {
  PatternEdge ask;
  ask.from = 0;
  ask.to = 1;
  ask.net_ns = 600;
  CHECK(classify(knot_of({ask, other(1, 0, 400)})) == Pattern::request_answer);
  ask.net_ns = 599;
  CHECK(classify(knot_of({ask, other(1, 0, 401)})) == Pattern::mixed);
}

TEST_CASE("half of the waits in the same place are the same place") {
  PatternEdge a = futex(0, 1, 400, kLockStack);
  a.futex_stacks = {{kLockStack, 200}, {kFullStack, 200}};
  PatternEdge b = futex(1, 0, 400, kLockStack);
  b.futex_stacks = {{kLockStack, 200}, {kEmptyStack, 200}};
  CHECK(classify(knot_of({a, b})) == Pattern::lock_contention);
  b.futex_stacks = {{kLockStack, 199}, {kEmptyStack, 201}};
  CHECK(classify(knot_of({a, b})) == Pattern::producer_consumer);
}

TEST_CASE("futex waits without stacks are not guessed at") {
  PatternEdge a = futex(0, 1, 500, kLockStack);
  a.futex_stacks.clear();
  PatternEdge b = futex(1, 0, 500, kLockStack);
  CHECK(classify(knot_of({a, b})) == Pattern::mixed);
  b.futex_stacks.clear();
  CHECK(classify(knot_of({a, b})) == Pattern::mixed);
}

TEST_CASE("no prevailing kind of wait, or no wait at all, is mixed") {
  CHECK(classify(knot_of({futex(0, 0, 599, kLockStack), other(0, 1, 401)})) == Pattern::mixed);
  CHECK(classify(knot_of({futex(0, 0, 600, kLockStack), other(0, 1, 400)})) == Pattern::lock_contention);
  CHECK(classify(knot_of({other(0, 1, 500), other(1, 0, 500)})) == Pattern::mixed);
  CHECK(classify({}) == Pattern::mixed);
}

TEST_CASE("each pattern has its name") {
  CHECK(to_string(Pattern::blocking_io) == "blocking-io");
  CHECK(to_string(Pattern::lock_across_disk) == "lock-across-disk");
  CHECK(to_string(Pattern::group_commit) == "group-commit");
  CHECK(to_string(Pattern::request_answer) == "request-answer");
  CHECK(to_string(Pattern::cpu_starvation) == "cpu-starvation");
  CHECK(to_string(Pattern::timer_driven) == "timer-driven");
  CHECK(to_string(Pattern::lock_contention) == "lock-contention");
  CHECK(to_string(Pattern::load_imbalance) == "load-imbalance");
  CHECK(to_string(Pattern::producer_consumer) == "producer-consumer");
  CHECK(to_string(Pattern::mixed) == "mixed");
}

}  // namespace
}  // namespace offwait
