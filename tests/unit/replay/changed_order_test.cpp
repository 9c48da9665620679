// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/changed_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "unit/replay/program.h"

using namespace offwait;

namespace {

const char* const kDisk = "class=disk stack=k;--;fsync;sync_log;worker";
const Scenario kLessWork = {{Resource::cpu, 0}};

struct Found {
  explicit Found(const test::Program& program)
      : trace(program.trace()),
        groups(group_threads(trace)),
        kinds(kinds_of_waits(trace, groups)),
        uses(uses_of(trace, groups, kinds)),
        sleepers(waits_for_sleepers_of(trace, groups, kinds, uses)),
        order(trace, groups, kinds, uses, sleepers) {
    progress.parts = {{{0}, 1}};
  }
  Scenario disk() const {
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      if (trace.actors[id].kind == ActorKind::disk) return {{Resource::disk, kNoGroup, id}};
    }
    return {};
  }

  Trace trace;
  ThreadGroups groups;
  WaitKinds kinds;
  Uses uses;
  WaitsForSleepers sleepers;
  ChangedOrder order;
  Progress progress{};
};

/// A thread that keeps `depth` requests under way, waits 1 ms for one of them and computes for 1 ms.
test::Program asks_ahead(long depth) {
  test::Program program(100'000);
  program.thread(1, "reader");
  program.line("disk vda bytes_per_s=1e9 ios_per_s=100000 capacity=assumed");
  for (long at = 0; at < 100'000; at += 2000) {
    program.wait(1, at, at + 1000, "disk:vda", kDisk);
    const long issue = std::max(0L, at - 2000 * (depth - 1));
    program.line("io 1 disk=vda bytes=4096 issue=" + std::to_string(issue * 1000) +
                 " complete=" + std::to_string((at + 1000) * 1000));
  }
  return program;
}

/// Thread 1 asks a service for 1 ms, then answers those of the others that wait, `fewest` or up to three.
test::Program batches(long fewest) {
  test::Program program(300'000);
  program.thread(1, "sender");
  for (int tid = 2; tid <= 4; ++tid) program.thread(tid, "producer");
  long batch = 0;
  for (long at = 0; at < 300'000; at += 2000) {
    program.wait(1, at, at + 1000, "nic:eth0",
                 "class=net peer=service:10.0.0.5:80 stack=k;--;recv;send_all;sender");
    const long size = std::max(fewest, batch++ % 3 + 1);
    for (int tid = 2; tid < 2 + size; ++tid) {
      program.wait(tid, at + 100, at + 1100, "thread:1",
                   "class=futex stack=f;--;pthread_cond_wait;ack;producer");
    }
  }
  return program;
}

/// Thread 1 asks thread 2 for something that takes that one 1 ms, and waits for it all the time but for 1 ms;
/// it comes when thread 2 has slept `slept` of its 3 ms already.
test::Program asks_a_sleeper(long slept) {
  test::Program program(300'000);
  program.thread(1, "client");
  program.thread(2, "runner");
  for (long at = 0; at + 4000 <= 300'000; at += 4000) {
    program.wait(2, at, at + 3000, "timer", "class=sleep stack=k;--;nanosleep;poll;runner");
    program.wait(1, at + slept, at + 4000, "thread:2", "class=futex stack=f;--;pthread_cond_wait;ask;client");
  }
  return program;
}

/// Each 10 ms one of three workers, in turns, syncs for 2 ms, and lets the other two go on, which do not sync
/// themselves or, with `each`, do it next. They came `before` that sync. With `one` it is always the same.
test::Program commits(bool each, long before = -10, bool one = false) {
  test::Program program(300'000);
  for (int tid = 1; tid <= 3; ++tid) program.thread(tid, "worker");
  const std::string follows = "class=futex futex=1 stack=f;--;pthread_cond_wait;commit;worker";
  int turn = 0;
  for (long at = 5000; at + 5000 <= 300'000; at += 10'000) {
    const int leader = one ? 1 : turn++ % 3 + 1;
    program.wait(leader, at, at + 2000, "disk:vda", kDisk);
    for (int tid = 1; tid <= 3; ++tid) {
      if (tid == leader) continue;
      program.wait(tid, at - before, at + 2010, "thread:" + std::to_string(leader), follows);
      if (each) program.wait(tid, at + 2020, at + 4000, "disk:vda", kDisk);
    }
  }
  return program;
}

}  // namespace

TEST_CASE("a thread that asks ahead may wait for the disk for what it saves elsewhere") {
  const Found ahead(asks_ahead(2));
  CHECK(ahead.order.least_gain(ahead.progress, kLessWork) == 0.0);
  CHECK_FALSE(ahead.order.least_gain(ahead.progress, ahead.disk()));
  const Found one(asks_ahead(1));
  CHECK_FALSE(one.order.least_gain(one.progress, kLessWork));
}

TEST_CASE("a sync for three may serve fewer of them if it is sooner done") {
  const auto least = [](const Found& found) {
    return found.order.least_gain(found.progress, found.disk()).value();
  };
  // Each thread waits 2 of 10 ms for one sync; if each sync served one thread, it would gain nothing.
  const Found group(commits(false));
  CHECK(least(group) == Approx(10.0 / 9 - 1).epsilon(0.02));
  // Two of three came 4 ms before it, and wait for what is under way then and for the next: 6 ms of 10.
  CHECK(least(Found(commits(false, 4000))) == Approx(30.0 / (30 - 14 + 5) - 1).epsilon(0.02));
  // Threads that never sync themselves may have waited for something else before that sync.
  CHECK(least(Found(commits(false, 4000, true))) == Approx(20.0 / (20 - 4 + 2) - 1).epsilon(0.02));
  CHECK_FALSE(group.order.least_gain(group.progress, kLessWork));
  const Found each(commits(true));
  CHECK_FALSE(each.order.least_gain(each.progress, each.disk()));
}

TEST_CASE(
    "a client that has delays of its own in the place where it waits for responses may ask no more often") {
  const auto least = [](const char* delay, bool shorter = false) {
    test::Program program(300'000);
    program.thread(1, "server");
    program.thread(2, "client", "start=0 exit=- outside=yes");
    for (long at = 0; at + 5010 <= 300'000; at += 5000) {
      program.wait(2, at + 20, at + 2000, "thread:1", "class=poll stack=k;--;epoll_wait;loop");
      program.wait(2, at + 2100, at + 5000, "timer", delay);
      program.wait(1, at + 2000, at + 5010, "thread:2", "class=net stack=k;--;recv;serve");
    }
    const Found found(program);
    if (shorter) return found.order.least_gain(found.progress, {{Resource::sleep, found.groups.group_of[1]}});
    return found.order.least_gain(found.progress, kLessWork);
  };
  CHECK(least("class=poll stack=k;--;epoll_wait;loop") == 0.0);
  CHECK_FALSE(least("class=poll stack=k;--;epoll_wait;loop", true));
  CHECK_FALSE(least("class=sleep stack=k;--;nanosleep;loop"));
}

TEST_CASE("a worker that sleeps when it finds nothing to do may sleep more often if it is faster") {
  // Two clients wait for a worker. It answers both, one after the other, and sleeps for 4 ms; or it sleeps
  // after each answer, whether the other one waits or not.
  const auto least = [](bool after_each, const Scenario& scenario) {
    const std::string call = "class=futex futex=1 stack=f;--;pthread_cond_wait;call;client";
    test::Program program(400'000);
    program.thread(1, "client-1");
    program.thread(2, "client-2");
    program.thread(3, "worker");
    const std::string nap = "class=sleep stack=k;--;nanosleep;nap;worker";
    for (long at = 0; at < 400'000; at += 10'000) {
      program.wait(1, at + 100, at + 5000, "thread:3", call);
      program.wait(2, at + 200, at + (after_each ? 9900 : 6000), "thread:3", call);
      program.wait(3, after_each ? at + 5010 : at + 6010, at + 9800, "timer", nap);
    }
    const Found found(program);
    Scenario changes = scenario;
    for (Change& change : changes) change.group = found.groups.group_of[2];
    return found.order.least_gain(found.progress, changes);
  };
  CHECK(least(false, {{Resource::cpu, kNoGroup}}) == 0.0);
  CHECK_FALSE(least(false, {{Resource::sleep, kNoGroup}}));
  CHECK_FALSE(least(true, {{Resource::cpu, kNoGroup}}));
}

TEST_CASE("threads of two kinds compete where each waits for locks that the other holds") {
  const std::string lock = "class=futex futex=1 stack=f;--;pthread_mutex_lock;";
  const auto competes = [&](const std::string& holder, long waits_us, bool both = true) {
    test::Program program(100'000);
    program.thread(1, "fast");
    program.thread(2, holder);
    for (long at = 0; at < 100'000; at += 10'000) {
      program.wait(1, at, at + waits_us, "thread:2", lock + "fast_main");
      if (both) program.wait(2, at + 5000, at + 5000 + waits_us, "thread:1", lock + holder + "_main");
    }
    const Found found(program);
    return found.order.compete(found.progress);
  };
  CHECK(competes("slow", 2000));
  CHECK_FALSE(competes("slow", 900));
  CHECK_FALSE(competes("slow", 2000, false));
  CHECK_FALSE(competes("fast", 2000));
}

TEST_CASE("threads do not compete where one waits for a lock that the other has only while it waits itself") {
  // Two kinds share lock 2; the seller has lock 1 meanwhile, and works for `own` with it.
  const auto shop = [](long own) {
    test::Program program(400'000);
    program.thread(1, "worker");
    program.thread(2, "seller");
    const auto lock = [](int number) {
      return "class=futex futex=" + std::to_string(number) + " stack=f;--;pthread_mutex_lock;enter;main";
    };
    for (long at = 0; at + 10'000 < 400'000; at += 10'000) {
      program.wait(2, at + 100, at + 5000, "thread:1", lock(2));
      program.wait(1, at + 5000 - 3000, at + 5000 + own, "thread:2", lock(1));
    }
    return program;
  };
  const Found little(shop(100));
  CHECK_FALSE(little.order.compete(little.progress));
  const Found much(shop(4000));
  CHECK(much.order.compete(much.progress));
}

TEST_CASE("who serves several at once serves fewer of them at once the sooner it is back from a service") {
  Found varied(batches(1));
  const GroupId producer = varied.groups.group_of[1];
  varied.progress.parts = {{{producer}, 1}};
  const Scenario service = {{Resource::remote, kNoGroup, kNoActor, 0.5, 0}};
  CHECK(varied.order.least_gain(varied.progress, service) == 0.0);
  CHECK_FALSE(varied.order.least_gain(varied.progress, {{Resource::cpu, producer}}));
  CHECK(varied.order.serves_in_batches(varied.progress));
  Found always_all(batches(3));
  always_all.progress.parts = {{{producer}, 1}};
  CHECK_FALSE(always_all.order.least_gain(always_all.progress, service));
  CHECK_FALSE(always_all.order.serves_in_batches(always_all.progress));
}

TEST_CASE("shorter sleeps gain no more than the time for which others wait meanwhile") {
  for (const long slept : {1000L, 2500L}) {
    const Found found(asks_a_sleeper(slept));
    const Scenario shorter = {{Resource::sleep, found.groups.group_of[1]}};
    const std::optional<double> most = found.order.most_gain(found.progress, shorter);
    REQUIRE(most);
    CHECK(*most == Approx(4000.0 / static_cast<double>(1000 + slept) - 1).epsilon(0.01));
    CHECK_FALSE(found.order.most_gain(found.progress, {{Resource::cpu, found.groups.group_of[1]}}));
  }
}
