// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/lock_bounds.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "replay/answers.h"
#include "replay/behind_locks.h"
#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

const std::string kMutex = "class=futex futex=1 stack=f;--;pthread_mutex_lock;main";

std::string thread(int tid) { return "thread:" + std::to_string(tid); }

const Answer* answer_of_lock(const Answers& answers) {
  const auto found = std::find_if(answers.answers.begin(), answers.answers.end(),
                                  [](const Answer& one) { return one.change.resource == Resource::waited; });
  return found == answers.answers.end() ? nullptr : &*found;
}

LockGain gain_of_lock(const Trace& trace) {
  const Answers found = test::answers(trace);
  const Answer* const answer = answer_of_lock(found);
  REQUIRE(answer != nullptr);
  REQUIRE(answer->lock);
  CHECK(answer->gain == answer->lock->waited.gain);
  CHECK(answer->certainty == Certainty::up_to);
  CHECK(answer->high == answer->lock->waited.without_section);
  // A bound is no number that is surely reached.
  CHECK_FALSE(answer->low);
  return *answer->lock;
}

/// Four threads take a lock in turns, each for 1 ms, in which it waits 0.9 ms for two requests to a disk that
/// serves one at a time.
Trace four_at_a_disk(const std::string& operation) {
  test::Program program(200'000);
  program.line("disk vda bytes_per_s=1e9 ios_per_s=100000 capacity=assumed");
  for (int tid = 1; tid <= 4; ++tid) program.thread(tid, "worker");
  for (long turn = 0; turn < 200; ++turn) {
    const int tid = static_cast<int>(1 + turn % 4);
    if (turn > 3) {
      program.wait(tid, (turn - 4) * 1000 + 1000, turn * 1000, thread(static_cast<int>(1 + (turn + 3) % 4)),
                   kMutex);
    }
    program.wait(tid, turn * 1000 + 50, turn * 1000 + 950, "disk:vda", "class=disk");
    for (const long complete : {500, 950}) {
      program.line("io " + std::to_string(tid) +
                   " disk=vda bytes=4096 issue=" + std::to_string((turn * 1000 + 50) * 1000) +
                   " complete=" + std::to_string((turn * 1000 + complete) * 1000) + operation);
    }
  }
  return program.trace();
}

}  // namespace

TEST_CASE("who waits behind a thread that waits for a lock waits for the lock") {
  test::Program program(8000);
  program.thread(1, "first");
  program.thread(2, "second");
  program.thread(3, "holder");
  program.thread(4, "last");
  program.wait(1, 1000, 3000, thread(3), kMutex);
  program.wait(2, 0, 4000, thread(1), "class=futex stack=f;--;pthread_cond_wait;main");
  program.wait(4, 2000, 6000, thread(2), "class=futex stack=f;--;pthread_cond_wait;main");
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  const WaitKinds kinds = kinds_of_waits(trace, groups);
  const LockHolds holds(trace, groups, kinds, 5);
  REQUIRE(holds.locks().size() == 1);
  const std::vector<double> behind =
      behind_locks(trace, groups, kinds, uses_of(trace, groups, kinds), holds)[0];
  const auto of = [&](int tid) {
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      if (trace.actors[id].tid == tid) return behind[groups.group_of[id]];
    }
    return -1.0;
  };
  CHECK(of(1) == Approx(0.25));
  CHECK(of(2) == Approx(0.25));
  CHECK(of(4) == Approx(0.125));  // half of what the second one waited before 4 ms: the wait is one whole
  CHECK(of(3) == 0);
}

TEST_CASE("the threads of a split lock run side by side until the CPUs are full") {
  // Each of three threads waits for half of its time, and 1.5 CPUs are used; a little more at the start.
  const LockGain eight = gain_of_lock(test::three_at_a_lock());
  CHECK(eight.waited.gain == Approx(1).margin(0.05));
  CHECK(eight.waited.full == Full::nothing);
  Trace trace = test::three_at_a_lock();
  trace.recording.cpus = 2;
  const LockGain two = gain_of_lock(trace);
  CHECK(two.waited.gain >= 2 / 1.5 - 1 - 0.02);
  CHECK(two.waited.gain <= 2 / 1.5 - 1 + 0.05);
  CHECK(two.waited.full == Full::cpus);
}

TEST_CASE("where the CPUs are full, the code that takes a lock may cost less once it is split") {
  // Each thread runs for half of its time. `update` takes the lock, and has this part of the samples.
  const auto gain_with = [](std::size_t percent) {
    Trace trace = test::three_at_a_lock();
    trace.recording.cpus = 2;
    const auto frame = [&trace](const char* function) {
      Frame out;
      out.function = function;
      trace.frames.push_back(out);
      return static_cast<FrameId>(trace.frames.size() - 1);
    };
    const FrameId update = frame("update");
    const FrameId work = frame("work");
    trace.stacks.push_back({{update, work}, {}});
    trace.stacks.push_back({{work}, {}});
    const auto stacks = static_cast<StackId>(trace.stacks.size());
    for (WaitSite& site : trace.sites) {
      if (site.waker != kNoActor) site.waker_stack = stacks - 2;
    }
    for (std::size_t i = 0; i < 1000; ++i) {
      trace.cpu_samples.push_back({static_cast<ActorId>(i % 3), i % 100 < percent ? stacks - 2 : stacks - 1,
                                   trace.window.begin + static_cast<Nanos>(i) * 1000});
    }
    return gain_of_lock(trace).waited;
  };
  const LockBound some = gain_with(40);
  CHECK(some.gain == Approx(2 / 1.5 - 1).margin(0.05));
  REQUIRE(some.without_section);
  CHECK(*some.without_section == Approx(2 / (1.5 * 0.6) - 1).margin(0.1));
  // A function that does all the work says nothing about the lock.
  const LockBound all = gain_with(95);
  CHECK(!all.without_section);
  CHECK(all.gain == Approx(2 / 1.5 - 1).margin(0.05));
}

TEST_CASE("the bound takes the waits from the recording, without what a replay may be off") {
  // Twelve threads sleep 2 ms under a lock and hardly do anything else: split, they are twelve times as fast.
  // A tenth of the waits, which a replay may be off, is more than all that is left.
  constexpr long kTurn = 2000;
  test::Program program(400 * kTurn);
  for (int tid = 1; tid <= 12; ++tid) program.thread(tid, "work");
  for (long turn = 0; turn < 411; ++turn) {
    const int tid = static_cast<int>(1 + turn % 12);
    const int before = static_cast<int>(1 + (turn + 11) % 12);
    const long since = std::max(0L, (turn - 11) * kTurn + 5);
    if (turn > 0) program.wait(tid, since, std::min(turn, 400L) * kTurn - 1, thread(before), kMutex);
    if (turn < 400)
      program.wait(tid, turn * kTurn + 5, (turn + 1) * kTurn - 5, "timer",
                   "class=sleep stack=k;--;nanosleep;main");
  }
  CHECK(gain_of_lock(program.trace()).waited.gain == Approx(11).epsilon(0.08));
}

TEST_CASE("reads are for one thread each, a write may be for all that wait") {
  const LockGain reads = gain_of_lock(four_at_a_disk(" op=read"));
  CHECK(reads.waited.full == Full::disk);
  CHECK(reads.waited.gain < 0.25);
  const LockGain writes = gain_of_lock(four_at_a_disk(" op=write"));
  CHECK(writes.waited.full == Full::nothing);
  CHECK(writes.waited.gain == Approx(3).margin(0.3));
}

TEST_CASE("a lock that may gain twice as much as the best part comes first") {
  const Trace writes = four_at_a_disk(" op=write");
  const Answers found = test::answers(writes);
  REQUIRE(found.answers.size() >= 2);
  CHECK(found.answers[0].change.resource == Resource::waited);
  CHECK(found.answers[0].gain >= 2 * found.answers[1].gain);
  CHECK(found.answers[1].change.device != kNoActor);
  // Each read is for one thread, and the disk never had two at a time.
  const Trace reads = four_at_a_disk(" op=read");
  CHECK(test::answers(reads).answers.at(0).change.device != kNoActor);
}

TEST_CASE("what is held half as long has half of its requests' time at the disk") {
  const LockGain gain = gain_of_lock(four_at_a_disk(" op=write"));
  REQUIRE(gain.held);
  CHECK(gain.held->gain == Approx(1).margin(0.1));
}

TEST_CASE("held half as long is sure where a replay is") {
  const LockGain gain = gain_of_lock(test::three_at_a_lock());
  REQUIRE(gain.held);
  CHECK(gain.held->gain > 0.2);
  CHECK(gain.held->gain <= gain.waited.gain);
  CHECK(gain.held->certainty == Certainty::sure);
}

TEST_CASE("who waits for a client while it holds a lock has nothing to do in half of the time") {
  // In turns, for 1 ms each, 0.9 of which are waits for the client's next request.
  test::Program program(200'000);
  for (int tid = 1; tid <= 4; ++tid) program.thread(tid, "backend");
  for (long turn = 0; turn < 200; ++turn) {
    const int tid = static_cast<int>(1 + turn % 4);
    if (turn > 3) {
      program.wait(tid, (turn - 4) * 1000 + 1000, turn * 1000, thread(static_cast<int>(1 + (turn + 3) % 4)),
                   kMutex);
    }
    program.wait(tid, turn * 1000 + 50, turn * 1000 + 950, "nic:lo", "class=net peer=client:127.0.0.1:5432");
  }
  CHECK_FALSE(gain_of_lock(program.trace()).held);
}
