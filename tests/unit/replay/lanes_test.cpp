// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/lanes.h"

#include <catch2/catch.hpp>

#include "unit/graph/traces.h"
#include "unit/replay/program.h"
#include "unit/replay/replayer.h"

using namespace offwait;
using test::Replayer;

namespace {

/// Computes for 1 ms, then waits for the disk for 3 ms.
Trace worker_at_disk() {
  test::Program program(400'000);
  program.thread(1, "worker");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait(1, at + 1000, at + 4000, "disk:vda", "class=disk");
  }
  return program.trace();
}

/// `make` works for 4 ms on each item, `use` for 1 ms and then waits for the next one.
Trace producer_and_consumer() {
  test::Program program(400'000);
  program.thread(1, "make");
  program.thread(2, "use");
  for (long at = 4000; at < 400'000; at += 4000) {
    program.wait(2, at - 3000, at, "thread:1", "class=futex stack=f;--;pthread_cond_wait;main");
  }
  return program.trace();
}

}  // namespace

TEST_CASE("what a thread below the devices waits for a disk is saved to those who wait for the thread") {
  test::Program program(400'000);
  program.thread(1, "db");
  program.thread(2, "jbd2", "start=0 exit=- outside=kernel");
  program.line("disk vda bytes_per_s=1e6 ios_per_s=1000 capacity=assumed");
  // Computes for 1 ms, waits for the commit for 3 ms; the disk takes 2 of them.
  for (long at = 0; at < 400'000; at += 4000) program.wait(1, at + 1000, at + 4000, "thread:2", "class=lock");
  for (long at = 0; at < 400'000; at += 4000) {
    program.line("io 2 disk=vda bytes=4096 issue=" + std::to_string((at + 1500) * 1000) +
                 " complete=" + std::to_string((at + 3500) * 1000));
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("db", {}) == Approx(1.0));
  CHECK(replayer.speed("db", replayer.disk("vda")) == Approx(4.0 / 3.0).epsilon(0.01));
  const GroupId db = replayer.group("db");
  CHECK(replayer.speed("db", {{Resource::io, db, replayer.actor("vda")}}) == Approx(4.0 / 3.0).epsilon(0.01));
}

TEST_CASE("a thread that sleeps does not hold up the others of its group") {
  test::Program program(400'000);
  program.thread(1, "w-1");
  program.thread(2, "w-2");
  for (long at = 0; at < 400'000; at += 4000) program.wait(1, at + 1000, at + 4000, "disk:vda", "class=disk");
  program.wait(2, 1000, 399'000, "timer", "class=sleep");
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("w-1", replayer.disk("vda")) == Approx(4.0 / 2.5).epsilon(0.01));
}

TEST_CASE("a thread that a change leaves as it was does not hold back those that it lets go") {
  // Two threads wait for the disk in three quarters of their time; one asks a service instead, as often.
  test::Program program(400'000);
  for (int tid = 1; tid <= 3; ++tid) program.thread(tid, "w-" + std::to_string(tid));
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait(1, at + 1000, at + 4000, "disk:vda", "class=disk");
    program.wait(2, at + 1000, at + 4000, "disk:vda", "class=disk");
    program.wait(3, at + 1000, at + 4000, "nic:eth0", "class=net peer=service:10.0.0.5:3306");
  }
  const Replayer replayer(program.trace());
  REQUIRE(replayer.groups.groups[0].members.size() == 3);
  const Scenario no_disk = {{Resource::disk, kNoGroup, replayer.actor("vda"), 0}};
  // Four times as much by each of the two, and as much as before by the third.
  const std::string name = replayer.groups.groups[0].name;
  CHECK(replayer.speed(name, no_disk) == Approx((4 + 4 + 1) / 3.0).epsilon(0.02));
  const Replayed replayed = replay(replayer.input, {no_disk}, 4);
  for (const std::vector<GroupTime>& piece : replayed.pieces) {
    CHECK(piece[0].done_ns[0] / piece[0].took_ns[0] == Approx(3.0).epsilon(0.03));
  }
}

TEST_CASE("a single wait that ends sooner is no pace") {
  test::Program program(400'000);
  program.thread(1, "w-1");
  program.thread(2, "w-2");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait(1, at + 1000, at + 4000, "nic:eth0", "class=net peer=service:10.0.0.5:3306");
  }
  program.wait(2, 1000, 399'000, "disk:vda", "class=disk");
  const Replayer replayer(program.trace());
  const Scenario no_disk = {{Resource::disk, kNoGroup, replayer.actor("vda"), 0}};
  CHECK(replayer.speed(replayer.groups.groups[0].name, no_disk) < 1.05);
}

TEST_CASE("a thread that works and waits for a disk gains what is taken from either") {
  const Replayer replayer(worker_at_disk());
  CHECK(replayer.speed("worker", {}) == Approx(1.0));
  CHECK(replayer.speed("worker", replayer.disk("vda")) == Approx(4.0 / 2.5).epsilon(0.01));
  CHECK(replayer.speed("worker", {{Resource::io, 0, replayer.actor("vda")}}) == Approx(1.6).epsilon(0.01));
  CHECK(replayer.speed("worker", replayer.cpu("worker")) == Approx(4.0 / 3.5).epsilon(0.01));
  CHECK(replayer.speed("worker", {{Resource::cpu, 0, kNoActor, 0.5},
                                  {Resource::disk, kNoGroup, replayer.actor("vda"), 0.5}}) ==
        Approx(2.0).epsilon(0.01));
}

TEST_CASE("a consumer follows its producer, and not the other way round") {
  const Replayer replayer(producer_and_consumer());
  CHECK(replayer.speed("use", replayer.cpu("make")) == Approx(2.0).epsilon(0.02));
  CHECK(replayer.speed("use", replayer.cpu("use")) == Approx(1.0).epsilon(0.01));
  CHECK(replayer.speed("make", replayer.cpu("use")) == Approx(1.0));
}

TEST_CASE("threads that hand a lock round are as fast as what they do with it") {
  // Two threads hold it for 1 ms each in turns and do nothing else.
  test::Program program(200'000);
  program.thread(1, "worker");
  program.thread(2, "worker");
  for (long at = 1000; at < 200'000; at += 1000) {
    const int tid = at / 1000 % 2 == 0 ? 1 : 2;
    program.wait(tid, at - 1000, at, "thread:" + std::to_string(3 - tid),
                 "class=futex stack=f;--;pthread_mutex_lock;main");
  }
  const Replayer replayer(program.trace());
  REQUIRE(replayer.kinds.of_site[0] == WaitKind::lock);
  CHECK(replayer.speed("worker", replayer.cpu("worker")) == Approx(2.0).epsilon(0.01));
}

TEST_CASE("requests queue at a disk with one channel") {
  // Each thread computes for 1 ms; a request takes 2 ms of the disk, which is always busy.
  test::Program program(400'000);
  for (const int tid : {1, 2}) {
    program.thread(tid, "worker");
  }
  for (long done = 2000, number = 0; done < 400'000; done += 2000, ++number) {
    const int tid = number % 2 == 0 ? 1 : 2;
    const long issued = number < 2 ? 0 : done - 3000;
    program.wait(tid, issued, done, "disk:vda", "class=disk");
    program.line("io " + std::to_string(tid) + " disk=vda bytes=4096 issue=" + std::to_string(issued * 1000) +
                 " complete=" + std::to_string(done * 1000));
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.channels[replayer.actor("vda")].known == 1);
  CHECK(replayer.speed("worker", {}) == Approx(1.0));
  CHECK(replayer.speed("worker", replayer.cpu("worker")) == Approx(1.0).epsilon(0.02));
  // Then the disk takes 1 ms, and each thread 2 ms in turns: the disk still is busy all the time.
  CHECK(replayer.speed("worker", replayer.disk("vda")) == Approx(2.0).epsilon(0.02));
}

TEST_CASE("a disk goes on with requests that a thread collects later, while the thread runs") {
  // Computes for 1 ms between two waits of 3 ms, with the next requests under way: one is complete every 4
  // ms.
  for (const bool is_recorded : {true, false}) {
    test::Program program(400'000);
    program.thread(1, "reader");
    if (is_recorded) program.line("disk vda bytes_per_s=1e6 ios_per_s=1000 capacity=assumed");
    for (long at = 0; at < 400'000; at += 4000) {
      const std::string stack = is_recorded ? "" : " stack=read_events;--;io_getevents;main";
      program.wait(1, at + 1000, at + 4000, "disk:vda", "class=disk" + stack);
      if (is_recorded && at > 8000) {
        program.line("io 1 disk=vda bytes=4096 issue=" + std::to_string((at - 7000) * 1000) +
                     " complete=" + std::to_string((at + 4000) * 1000));
      }
    }
    const Replayer replayer(program.trace());
    CHECK(replayer.speed("reader", {}) == Approx(1.0));
    CHECK(replayer.speed("reader", replayer.disk("vda")) == Approx(2.0).epsilon(0.02));
    CHECK(replayer.speed("reader", replayer.cpu("reader")) == Approx(1.0).epsilon(0.01));
    // Then the thread itself is slower than the disk.
    const Scenario no_disk = {{Resource::disk, kNoGroup, replayer.actor("vda"), 0.1}};
    CHECK(replayer.speed("reader", no_disk) == Approx(4.0).epsilon(0.05));
  }
}

TEST_CASE("sleeps and remote services are scaled, what nobody knows is not") {
  test::Program program(400'000);
  program.thread(1, "sleeper");
  program.thread(2, "asker");
  program.thread(3, "lost");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait(1, at + 1000, at + 4000, "timer", "class=sleep");
    program.wait(2, at + 1000, at + 4000, "nic:eth0", "class=net peer=service:10.0.0.5:3306");
    program.wait(3, at + 1000, at + 4000, "-", "class=futex");
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("sleeper", {{Resource::sleep, replayer.group("sleeper")}}) ==
        Approx(1.6).epsilon(0.01));
  CHECK(replayer.speed("asker", {{Resource::remote, replayer.group("asker")}}) == Approx(1.6).epsilon(0.01));
  CHECK(replayer.speed("asker", {{Resource::sleep, replayer.group("asker")}}) == Approx(1.0));
  CHECK(replayer.speed("lost", {{Resource::sleep, replayer.group("lost")}}) == Approx(1.0));
}

TEST_CASE("a thread born in the window begins when its parent gets there") {
  test::Program program(100'000);
  program.thread(1, "parent");
  program.thread(2, "child", "start=40000000 exit=50000000 parent=1");
  program.wait(1, 40'000, 50'000, "thread:2", "class=child");
  const Replayer replayer(program.trace());
  // 40 ms of the parent's work become 20, the child's 10 ms stay, and 50 ms become 25.
  CHECK(replayer.speed("parent", replayer.cpu("parent")) == Approx(100.0 / 55.0).epsilon(0.001));
  CHECK(replayer.speed("parent", replayer.cpu("child")) == Approx(100.0 / 95.0).epsilon(0.001));
}

TEST_CASE("a wait for somebody who does not get faster ends the gain") {
  // `work` waits for `slow` every 4 ms, for 1 ms.
  test::Program program(400'000);
  program.thread(1, "work");
  program.thread(2, "slow");
  for (long at = 4000; at <= 400'000; at += 4000) {
    program.wait(1, at - 1000, at - 1, "thread:2", "class=futex stack=f;--;pthread_cond_wait;main");
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("work", replayer.cpu("work")) == Approx(1.0).epsilon(0.01));
  CHECK(replayer.speed("work", replayer.cpu("slow")) == Approx(4.0 / 3.0).epsilon(0.02));
}

TEST_CASE("runnable time shrinks with the CPU work that fills the CPUs") {
  test::Program program(400'000, 1);
  program.thread(1, "only");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait_and_queue(1, at + 2000, at + 2000, at + 4000, "timer", "class=sleep");
  }
  const Trace trace = program.trace();
  const Replayer free(trace);
  CHECK(free.speed("only", free.cpu("only")) == Approx(4.0 / 3.0).epsilon(0.01));
  const Replayer busy(trace, 0.99);
  CHECK(busy.speed("only", busy.cpu("only")) == Approx(2.0).epsilon(0.01));
  // It runs for half of the time, and so do others: a quarter of all that runs is saved, and so much of the
  // queue for the CPU.
  const Replayer shared(trace, 0.99, 0.5);
  CHECK(shared.speed("only", shared.cpu("only")) == Approx(4.0 / (1 + 1.5)).epsilon(0.01));
}

TEST_CASE("unchanged, a replay gives every recording back") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Trace trace = test::random_history(seed);
    const Replayer replayer(trace);
    const Replayed replayed = replay(replayer.input, {{}}, 3);
    for (const std::vector<GroupTime>& piece : replayed.pieces) {
      for (const GroupTime& time : piece) {
        INFO("seed " << seed);
        CHECK(time.took_ns[0] == Approx(time.done_ns[0]).epsilon(1e-6).margin(1));
      }
    }
  }
}

TEST_CASE("a lane does not depend on the lanes beside it") {
  const Replayer replayer(producer_and_consumer());
  const std::vector<Scenario> scenarios = {
      replayer.cpu("use"), {}, replayer.cpu("make"), {}, replayer.cpu("make")};
  const Replayed together = replay(replayer.input, scenarios, 2);
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Replayed alone = replay(replayer.input, {scenarios[i]}, 2);
    for (std::size_t piece = 0; piece < 2; ++piece) {
      for (GroupId group = 0; group < replayer.groups.groups.size(); ++group) {
        CHECK(together.pieces[piece][group].took_ns[i] == alone.pieces[piece][group].took_ns[0]);
      }
    }
  }
}

TEST_CASE("threads that queue for a lock are as fast as the work done while it is held") {
  const Replayer replayer(test::three_at_a_lock());
  const Scenario held = {{Resource::held, kNoGroup, kNoActor, 0.5, kNoService, 0}};
  const Scenario free = {{Resource::waited, kNoGroup, kNoActor, 0, kNoService, 0}};
  CHECK(replayer.speed("worker", {}) == Approx(1.0));
  CHECK(replayer.speed("worker", held) == Approx(2.0).epsilon(0.03));
  // Each thread computes for 1.5 ms of 3 ms.
  CHECK(replayer.speed("worker", free) == Approx(2.0).epsilon(0.03));
  Scenario both = held;
  both.push_back({Resource::cpu, replayer.group("worker"), kNoActor, 0.5});
  CHECK(replayer.speed("worker", both) == Approx(4.0).epsilon(0.05));
}

namespace {

/// `make` waits for its child `gen`, which computes for 380 ms; the recorder of the child's memory keeps it
/// off its mmap_lock once, for 1 ms, after 2 ms of work.
Trace newborn_behind_a_recorder() {
  test::Program program(400'000);
  program.line("thread 1 tgid=1 comm=make start=0 exit=-");
  program.line("thread 2 tgid=2 comm=gen start=10000000 exit=390000000 parent=1");
  program.line("thread 3 tgid=3 comm=recorder start=0 exit=- outside=yes");
  program.wait(1, 10'001, 390'000, "thread:2", "class=child");
  for (long at = 20'000; at < 400'000; at += 20'000) {
    program.wait(3, at - 19'000, at, "timer", "class=sleep");
    if (at == 200'000) program.wait(2, at - 1000, at, "thread:3", "class=lock");
  }
  return program.trace();
}

}  // namespace

TEST_CASE("a wait for a lock that a thread outside of the target has binds nothing to that thread's clock") {
  const Replayer replayer(newborn_behind_a_recorder());
  CHECK(replayer.speed("gen", {}) == Approx(1.0));
  // 20 ms of `make`, 1 ms at the lock, and 379 ms of work.
  CHECK(replayer.speed("gen", replayer.cpu("gen")) == Approx(380.0 / 190.5).epsilon(0.002));
  CHECK(replayer.speed("make", replayer.cpu("gen")) == Approx(400.0 / 210.5).epsilon(0.002));
}

TEST_CASE("a wait for a lock of another group takes as long as that group has the lock") {
  // `a` works for 3 ms, then waits for 1 ms while `b` has the lock and works. `b` sleeps in between.
  test::Program program(400'000);
  program.thread(1, "a");
  program.thread(2, "b");
  for (long at = 4000; at <= 400'000; at += 4000) {
    program.wait(2, at - 4000, at - 1000, "timer", "class=sleep");
    program.wait(1, at - 1000, at - 1, "thread:2", "class=futex stack=f;--;pthread_mutex_lock;main");
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("a", replayer.cpu("b")) == Approx(4.0 / 3.5).epsilon(0.05));
  // It meets `b` half as often if it works twice as fast.
  CHECK(replayer.speed("a", replayer.cpu("a")) == Approx(2.0).epsilon(0.2));
}

TEST_CASE("a hand-over that happens a few times from outside of the target binds nothing to it") {
  test::Program program(400'000);
  program.thread(1, "work");
  program.thread(2, "agent", "start=0 exit=- outside=yes");
  program.wait(1, 100'000, 101'000, "thread:2", "class=pipe");
  program.wait(1, 300'000, 301'000, "thread:2", "class=pipe");
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("work", replayer.cpu("work")) == Approx(400.0 / 201.0).epsilon(0.001));
}

TEST_CASE("a ticker holds an event loop back neither from a faster service nor by its own time") {
  test::Program program(400'000);
  program.thread(1, "loop");
  // Asks a service that takes 4 ms, and looks at the time every 1.3 ms meanwhile; works for 0.1 ms on an
  // answer.
  const std::string poll = "class=poll stack=ep_poll;--;epoll_wait;loop;main";
  for (long at = 0; at + 4100 <= 400'000; at += 4100) {
    program.wait(1, at + 100, at + 1400, "timer", poll);
    program.wait(1, at + 1410, at + 2710, "timer", poll);
    program.wait(1, at + 2720, at + 4100, "nic:eth0", poll + " peer=service:10.0.0.5:3306");
  }
  const Replayer replayer(program.trace());
  const Scenario faster = {{Resource::remote, kNoGroup, kNoActor, 0.5, 0}};
  // Its own work is 0.12 ms of 4.1 ms.
  CHECK(replayer.speed("loop", faster) == Approx(4100.0 / (120 + 3980 / 2)).epsilon(0.01));
  CHECK(replayer.speed("loop", {{Resource::sleep, replayer.group("loop")}}) == Approx(1.0).epsilon(0.001));
  CHECK(replayer.speed("loop", {}) == Approx(1.0).epsilon(0.001));
  CHECK(replayer.uses.groups[replayer.group("loop")].timer_ns == 0);
}

TEST_CASE("many scenarios give what each of them gives alone") {
  const Replayer replayer(producer_and_consumer());
  std::vector<Scenario> scenarios;
  for (int i = 1; i <= 67; ++i) {
    scenarios.push_back({{Resource::cpu, replayer.group(i % 2 == 0 ? "make" : "use"), kNoActor, i / 100.0}});
  }
  const Replayed all = replay(replayer.input, scenarios, 2);
  REQUIRE(all.scenarios == scenarios.size());
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Replayed alone = replay(replayer.input, {scenarios[i]}, 2);
    for (std::size_t piece = 0; piece < 2; ++piece) {
      for (GroupId id = 0; id < replayer.groups.groups.size(); ++id) {
        CHECK(all.pieces[piece][id].done_ns.at(i) == alone.pieces[piece][id].done_ns[0]);
        CHECK(all.pieces[piece][id].took_ns.at(i) == alone.pieces[piece][id].took_ns[0]);
      }
    }
  }
}

TEST_CASE("a thread at a fixed rate gains by a shorter period alone") {
  test::Program program(400'000);
  program.thread(1, "frame");
  for (long round = 0; round < 80; ++round) {
    const long begin = round * 5000;
    program.wait(1, begin + 500 + round * 7 % 4 * 300, begin + 5000, "timer",
                 "class=sleep stack=k;--;nanosleep;frame");
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("frame", {}) == Approx(1).epsilon(0.001));
  CHECK(replayer.speed("frame", replayer.cpu("frame")) == Approx(1).epsilon(0.01));
  CHECK(replayer.speed("frame", {{Resource::sleep, replayer.group("frame")}}) == Approx(2).epsilon(0.02));
}

TEST_CASE("a thread that is late goes on one period earlier if its work fits then") {
  const Trace trace = test::late_frame();
  const Replayer replayer(trace);
  CHECK(replayer.speed("frame", {}) == Approx(1).epsilon(0.001));
  CHECK(replayer.speed("frame", replayer.cpu("frame")) == Approx(25.0 / 20).epsilon(0.02));
}

TEST_CASE("writers that sleep while a compaction is behind go at its pace") {
  test::Program program(test::kThrottledUs);
  test::add_throttled_writer(program);
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("writer", {}) == Approx(1).epsilon(0.001));
  CHECK(replayer.speed("writer", replayer.cpu("writer")) == Approx(1).epsilon(0.02));
  CHECK(replayer.speed("writer", {{Resource::sleep, replayer.group("writer")}}) == Approx(1).epsilon(0.001));
  // 0.6 of each ms are work: 1 ms takes 0.7.
  CHECK(replayer.speed("writer", replayer.cpu("compact")) == Approx(1 / 0.7).epsilon(0.02));
}

TEST_CASE("a thread that stops others from time to time does so as time passes, not as they work") {
  test::Program program(400'000);
  program.thread(1, "worker");
  program.thread(2, "checkpoint");
  // The checkpoint sleeps for 6 ms, and stops the worker for the 2 ms that it works.
  for (long at = 0; at + 8000 <= 400'000; at += 8000) {
    program.wait(2, at, at + 6000, "timer", "class=sleep stack=k;--;nanosleep;checkpoint");
    program.wait(1, at + 6000, at + 8000, "thread:2", "class=futex stack=f;--;pthread_cond_wait;gate;worker");
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.speed("worker", {}) == Approx(1).epsilon(0.001));
  CHECK(replayer.speed("worker", {{Resource::sleep, replayer.group("checkpoint")}}) < 1.0);
  CHECK(replayer.speed("worker", replayer.cpu("checkpoint")) == Approx(8.0 / 7).epsilon(0.03));
}

TEST_CASE("a thread at a fixed rate that sleeps through periods does so whatever changes") {
  test::Program program(345'000);
  program.thread(1, "frame");
  program.thread(2, "other");
  long begin = 0;
  for (long round = 0; begin < 345'000; ++round) {
    const long end = begin + (round % 20 == 19 ? 20'000 : 5000);
    program.wait(1, begin + 500 + round * 7 % 4 * 300, end, "timer",
                 "class=sleep stack=k;--;nanosleep;frame");
    begin = end;
  }
  const Replayer replayer(program.trace());
  CHECK(replayer.kinds.sleeps.of_site[0] == SleepPace::clock);
  CHECK(replayer.speed("frame", {}) == Approx(1).epsilon(0.001));
  CHECK(replayer.speed("frame", replayer.cpu("other")) == Approx(1).epsilon(0.001));
  CHECK(replayer.speed("frame", replayer.cpu("frame")) == Approx(1).epsilon(0.01));
}
