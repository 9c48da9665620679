// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/time_outs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "progress/wait_kinds.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

const std::string kPoll = "class=poll stack=ep_poll;--;epoll_wait;loop;main";

/// Which of the trace's waits came to nothing, by when they began, in µs.
std::vector<long> vain(const Trace& trace, const std::vector<bool>& sites_of_locks) {
  const TimeOuts time_outs(trace, sites_of_locks);
  std::vector<long> out;
  for (std::size_t id = 0; id < trace.waits.size(); ++id) {
    if (time_outs.came_to_nothing(id)) out.push_back(static_cast<long>(trace.waits[id].block / 1000));
  }
  return out;
}

std::vector<long> vain(const Trace& trace) { return vain(trace, std::vector<bool>(trace.sites.size())); }

/// Whether a thread looks for something in vain between sleeps in the function.
bool polls(const Trace& trace, const std::string& function) {
  const std::vector<bool> found = polling_sites(trace);
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    for (const FrameId frame : trace.stacks[trace.sites[id].wait_stack].frames) {
      if (trace.frames[frame].function == function) return bool(found[id]);
    }
  }
  FAIL("no wait in " << function);
  return false;
}

}  // namespace

TEST_CASE("a poll that ends by its time is a part of the wait that an answer ends") {
  test::Program program(10'000);
  program.thread(1, "loop");
  program.thread(2, "upstream");
  program.wait(1, 0, 1000, "timer", kPoll);
  program.wait(1, 1010, 2010, "timer", kPoll);
  program.wait(1, 2020, 2500, "thread:2", kPoll);
  program.wait(1, 3000, 4000, "timer", kPoll);  // no other wait ends this run of time-outs
  const Trace trace = program.trace();
  CHECK(vain(trace) == std::vector<long>{0, 1010});
  const TimeOuts time_outs(trace, std::vector<bool>(trace.sites.size()));
  REQUIRE(time_outs.all().size() == 2);
  CHECK(time_outs.all()[0].second == trace.waits[2].site);
}

TEST_CASE("a time-out after which the thread does something for others sets a pace") {
  test::Program program(10'000);
  program.thread(1, "batcher");
  program.thread(2, "writer");
  program.line("disk vda bytes_per_s=1e9 ios_per_s=100000 capacity=assumed");
  program.wait(2, 0, 1005, "thread:1");  // woken after the first time-out
  program.wait(1, 0, 1000, "timer", kPoll);
  program.wait(1, 1010, 2000, "timer", kPoll);
  program.line("io 1 disk=vda bytes=4096 issue=2005000 complete=2300000");
  program.wait(1, 2010, 3000, "thread:2", kPoll);
  CHECK(vain(program.trace()).empty());
}

TEST_CASE("sleeps between looks for a lock that is taken wait for nobody knows whom") {
  const std::string retry = "class=sleep stack=k;--;nanosleep;take;main";
  const std::string pause = "class=sleep stack=k;--;nanosleep;pause;main";
  test::Program program(100'000);
  program.thread(1, "writer");
  for (long at = 0; at < 100'000; at += 10'000) {
    program.wait(1, at, at + 1000, "timer", retry);
    program.wait(1, at + 1005, at + 2005, "timer", retry);
    program.wait(1, at + 2010, at + 3010, "timer", retry);
    program.wait(1, at + 8000, at + 9000, "timer", pause);  // it had the lock for 5 ms
  }
  CHECK(polls(program.trace(), "take"));
  CHECK_FALSE(polls(program.trace(), "pause"));
  test::Program ticker(100'000);
  ticker.thread(1, "ticker");
  for (long at = 0; at < 100'000; at += 10'000) ticker.wait(1, at, at + 9995, "timer", retry);
  CHECK_FALSE(polls(ticker.trace(), "take"));
  // What it does in between takes 60 to 160 us: no look is in vain because it is shorter.
  test::Program loop(100'000);
  loop.thread(1, "loop");
  for (long at = 0; at < 99'000; at += 1200)
    loop.wait(1, at + 60 + at / 12 % 3 * 50, at + 1200, "timer", retry);
  CHECK_FALSE(polls(loop.trace(), "take"));
  // What it does is for others, who do not always wait for it.
  test::Program producer(100'000);
  producer.thread(1, "producer");
  producer.thread(2, "logger");
  for (long at = 0; at < 99'000; at += 1200) {
    producer.wait(1, at + 60 + at / 12 % 3 * 10, at + 1200, "timer", retry);
    if (at % 2400 == 0) producer.wait(2, at + 10, at + 1250, "thread:1");
  }
  CHECK_FALSE(polls(producer.trace(), "take"));
  // The work that it finds is done without a wait.
  test::Program finder(100'000);
  finder.thread(1, "finder");
  for (long at = 0; at < 100'000; at += 10'000) {
    finder.wait(1, at, at + 3000, "timer", retry);
    finder.wait(1, at + 3005, at + 6005, "timer", retry);
    finder.wait(1, at + 6010, at + 7500, "timer", retry);
  }
  CHECK(polls(finder.trace(), "take"));
  // After each sleep it responded to a client, which nothing but the count shows; or after each tenth one.
  const auto handler = [&](int responses) {
    test::Program server(100'000);
    server.thread(1, "handler");
    server.line("responses 1 port=80 count=" + std::to_string(responses) +
                " connections=1 first=1000 last=99000000");
    for (long at = 0; at < 99'000; at += 1000) {
      server.wait(1, at + (at % 10'000 == 0 ? 500 : 30), at + 1000, "timer", retry);
    }
    return polls(server.trace(), "take");
  };
  CHECK_FALSE(handler(100));
  CHECK(handler(10));
}

TEST_CASE("between looks, only CPU time is work, and what is not known is nothing") {
  const std::string retry = "class=sleep stack=k;--;nanosleep;take;main";
  // After each tenth sleep it worked for longer; it only waited for a CPU, or it is not known what it did.
  const auto away = [&](const std::string& kind, const std::string& begin, const std::string& end) {
    test::Program busy(100'000);
    busy.thread(1, "ticker");
    for (long at = 0; at < 100'000; at += 1000) {
      const bool longer = at % 10'000 == 0;
      busy.wait(1, at + (longer ? 500 : 30), at + 1000, "timer", retry);
      if (longer && !kind.empty()) {
        busy.line(kind + " 1 " + begin + std::to_string((at + 10) * 1000) + end +
                  std::to_string((at + 490) * 1000));
      }
    }
    return polls(busy.trace(), "take");
  };
  CHECK(away("", "", ""));
  CHECK_FALSE(away("preempt", "out=", " run="));
  CHECK_FALSE(away("unknown", "from=", " to="));
}

TEST_CASE("a sleep, and a timed wait in another place, are no time-outs") {
  test::Program program(10'000);
  program.thread(1, "worker");
  program.thread(2, "other");
  program.wait(1, 0, 1000, "timer", "class=sleep stack=k;--;nanosleep;main");
  program.wait(1, 1010, 2000, "timer", "class=futex stack=k;--;cond_timedwait;retry;main");
  program.wait(1, 2010, 3000, "thread:2", "class=futex stack=k;--;cond_wait;take;main");
  CHECK(vain(program.trace()).empty());
}

TEST_CASE("a timed wait was asked for its time if what is waited for next always comes at once") {
  // A thread of Ruby sleeps, and then waits for the interpreter's lock, on one condition.
  const std::string sleeps = "class=futex object=1 stack=f;--;pthread_cond_timedwait;sleep;main";
  const std::string takes = "class=futex object=1 stack=f;--;pthread_cond_wait;take;main";
  const auto waits_in_vain = [&](long after_us, int times) {
    test::Program program(100'000);
    program.line("object 1 kind=futex tgid=1 address=64");
    program.thread(1, "worker");
    program.thread(2, "other");
    for (long at = 0; at < 5000L * times; at += 5000) {
      program.wait(1, at, at + 2000, "timer", sleeps);
      program.wait(1, at + 2010, at + 2010 + after_us, "thread:2", takes);
    }
    return vain(program.trace()).size();
  };
  CHECK(waits_in_vain(30, 20) == 0);
  CHECK(waits_in_vain(900, 20) == 20);
  CHECK(waits_in_vain(30, 10) == 10);  // too few to tell
}

TEST_CASE(
    "a wait for one thing goes on wherever the thread waits for it, and through the condition's mutex") {
  const std::string loop = "class=futex stack=futex;--;pthread_cond_timedwait;eval;main object=1";
  const std::string call = "class=futex stack=futex;--;pthread_cond_timedwait;restore;main object=1";
  const std::string mutex = "class=futex stack=futex;--;pthread_mutex_lock;eval;main object=2";
  const std::string again = "class=futex stack=futex;--;pthread_cond_timedwait;eval;main object=2";
  const std::string other = "class=futex stack=futex;--;pthread_cond_timedwait;eval;main object=3";
  test::Program program(30'000);
  program.thread(1, "a");
  program.thread(2, "b");
  for (int id = 1; id <= 3; ++id) {
    program.line("object " + std::to_string(id) + " kind=futex tgid=1 address=" + std::to_string(8 * id));
  }
  program.wait(2, 100, 200, "thread:1", mutex);
  program.wait(1, 0, 1000, "timer", loop);
  program.wait(1, 1005, 1010, "thread:2", again);
  program.wait(1, 1020, 2020, "timer", call);
  program.wait(1, 2030, 2500, "thread:2", loop);
  program.wait(1, 3000, 4000, "timer", loop);
  program.wait(1, 4010, 4500, "thread:2", other);  // in the same place, for something else
  const Trace trace = program.trace();
  std::vector<bool> sites_of_locks(trace.sites.size());
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const std::vector<FrameId>& frames = trace.stacks[trace.sites[id].wait_stack].frames;
    sites_of_locks[id] = std::any_of(frames.begin(), frames.end(), [&trace](FrameId frame) {
      return trace.frames[frame].function == "pthread_mutex_lock";
    });
  }
  CHECK(vain(trace, sites_of_locks) == std::vector<long>{0, 1020});
}

TEST_CASE("who finds it free after a time-out waits for nobody, however often, where waiters end the waits") {
  const std::string take = "class=futex stack=futex;--;pthread_cond_timedwait;take;main object=1";
  const auto looked = [&take](int others) {
    test::Program program(100'000);
    program.thread(1, "a");
    program.thread(2, "b");
    program.thread(3, "c");
    program.line("object 1 kind=futex tgid=1 address=8");
    for (int round = 0; round < 20; ++round) {
      const long at = round * 4000L;
      const int waiter = 1 + round % 2;
      program.wait(waiter, at, at + 1000, "timer", take);
      program.wait(waiter, at + 1010, at + 1500, "thread:" + std::to_string(others == 2 ? 3 - waiter : 3),
                   take);
      for (const long found : {at + 2000, at + 3000}) {  // it works then, and lets the other one go
        program.wait(waiter, found - 400, found, "timer", take);
        program.wait(3 - waiter, found + 100, found + 300, "thread:" + std::to_string(waiter),
                     "class=futex stack=futex;--;pthread_cond_wait;other;main");
      }
    }
    const Trace trace = program.trace();
    const TimeOuts time_outs(trace, std::vector<bool>(trace.sites.size()));
    int out = 0;
    for (std::uint32_t id = 0; id < trace.waits.size(); ++id) out += time_outs.ended_by_looking(id) ? 1 : 0;
    return out;
  };
  CHECK(looked(2) > 30);
  CHECK(looked(3) == 0);
}

TEST_CASE("the last of the time-outs ends by looking where most runs of them end by a signal") {
  const std::string take = "class=futex stack=futex;--;pthread_cond_timedwait;take;main object=1";
  const std::string mutex = "class=futex stack=futex;--;pthread_mutex_lock;take;main object=2";
  test::Program program(30'000);
  program.thread(1, "a");
  program.thread(2, "b");
  program.line("object 1 kind=futex tgid=1 address=10");
  program.line("object 2 kind=futex tgid=1 address=20");
  for (const long at : {0L, 10'000L}) {
    program.wait(1, at, at + 1000, "timer", take);
    program.wait(1, at + 1005, at + 1010, "thread:2", mutex);  // of the condition: a part of looking
    program.wait(1, at + 1020, at + 1500, "thread:2", take);
  }
  program.wait(1, 20'000, 21'000, "timer", take);
  program.wait(1, 21'010, 22'010, "timer", take);
  program.wait(2, 21'000, 25'005, "thread:1", "class=futex stack=futex;--;pthread_cond_wait;other;main");
  program.wait(1, 25'010, 26'000, "thread:2", take);  // after a deed for the other one
  const Trace trace = program.trace();
  std::vector<bool> for_locks(trace.sites.size());
  for (const Wait& wait : trace.waits) {
    if (wait.object != kNoObject && trace.objects[wait.object].address == 0x20) for_locks[wait.site] = true;
  }
  const TimeOuts time_outs(trace, for_locks);
  const WaitKinds kinds = kinds_of_waits(trace, group_threads(trace));
  std::vector<long> looked;
  std::vector<long> nothing;
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const auto at = static_cast<long>(trace.waits[id].block / 1000);
    if (time_outs.ended_by_looking(id)) looked.push_back(at);
    if (time_outs.came_to_nothing(id)) nothing.push_back(at);
    if (at == 21'010) CHECK(time_outs.begin_of(id, trace) == 20'000'000);
    // It asked for no time: with a shorter one it would have looked sooner, and found nothing.
    if (at == 21'010) CHECK(kinds.of_site[trace.waits[id].site] == WaitKind::unknown);
  }
  CHECK(looked == std::vector<long>{21'010});
  CHECK(nothing == std::vector<long>{0, 10'000, 20'000});
}
