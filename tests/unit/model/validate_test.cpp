// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/validate.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

namespace offwait {
namespace {

/// Threads 11 and 12 (actors 0 and 1) and a disk (2); one site, one wait of thread 11 for thread 12.
Trace small_trace() {
  Trace trace;
  trace.window = {0, 1000};
  Actor thread;
  thread.tid = 11;
  thread.exit = 900;
  trace.actors.push_back(thread);
  thread.tid = 12;
  thread.exit = kNever;
  trace.actors.push_back(thread);
  Actor disk;
  disk.kind = ActorKind::disk;
  trace.actors.push_back(disk);
  trace.frames = {{.function = "f"}};
  trace.stacks = {{{0}}};
  trace.sites = {{0, 1, WaitClass::futex, 0, kNoStack}};
  trace.waits = {{0, kNoObject, 100, 200, 250}};
  return trace;
}

std::string complaint(const Trace& trace) {
  const Status status = validate(trace);
  return status.ok() ? "" : status.error().message;
}

TEST_CASE("a sound trace is valid, an empty one too") {
  CHECK_THAT(complaint(small_trace()), Catch::Equals(""));
  CHECK_THAT(complaint(Trace{}), Catch::Equals(""));
}

TEST_CASE("intervals may touch, be empty, be open, and reach out of the window") {
  Trace trace = small_trace();
  trace.window = {150, 800};
  trace.waits = {
      {0, kNoObject, 100, 200, 250}, {0, kNoObject, 250, 250, 250}, {0, kNoObject, 850, 860, kNever}};
  trace.preemptions = {{0, 250, 300}, {0, 310, 310}, {1, 5, kNever}};
  trace.gaps = {{0, 300, 310}, {0, 310, 320}, {0, 850, 850}};
  CHECK_THAT(complaint(trace), Catch::Equals(""));
}

struct Case {
  const char* complaint;
  void (*spoil)(Trace& trace);
};

void check(const Case& c) {
  Trace trace = small_trace();
  c.spoil(trace);
  CHECK(complaint(trace) == c.complaint);
}

TEST_CASE("what analysis takes for granted is checked: the window, actors, sites and waits") {
  check(GENERATE(values<Case>({
      {"the window [-1, 1000) is impossible", [](Trace& t) { t.window.begin = -1; }},
      {"the window [0, -) is impossible", [](Trace& t) { t.window.end = kNever; }},
      {"the window [1001, 1000) is impossible", [](Trace& t) { t.window.begin = 1001; }},
      {"thread 11: born at 901, after its exit at 900", [](Trace& t) { t.actors[0].start = 901; }},
      {"stack 0 has an unknown frame 1",
       [](Trace& t) {
         t.stacks[0].frames = {0, 1};
       }},
      {"wait site 0 belongs to no thread", [](Trace& t) { t.sites[0].thread = 2; }},
      {"wait site 0 belongs to no thread", [](Trace& t) { t.sites[0].thread = kNoActor; }},
      {"wait site 0 belongs to no thread", [](Trace& t) { t.sites[0].thread = 3; }},
      {"thread 11: waits for an unknown actor 3", [](Trace& t) { t.sites[0].waker = 3; }},
      {"thread 11: waits with an unknown stack", [](Trace& t) { t.sites[0].wait_stack = 1; }},
      {"thread 11: waits with an unknown stack", [](Trace& t) { t.sites[0].waker_stack = 1; }},
      {"thread 11: waits with an unknown wait class",
       [](Trace& t) { t.sites[0].wait_class = static_cast<WaitClass>(kWaitClasses); }},
      {"wait 0 has an unknown site 1", [](Trace& t) { t.waits[0].site = 1; }},
      {"thread 11: wait block=300 wake=200 run=250 is not in order of time",
       [](Trace& t) { t.waits[0].block = 300; }},
      {"thread 11: wait block=100 wake=200 run=199 is not in order of time",
       [](Trace& t) { t.waits[0].run = 199; }},
      {"thread 11: wait block=- wake=- run=- is not in order of time",
       [](Trace& t) {
         t.waits[0] = {0, kNoObject, kNever, kNever, kNever};
       }},
      {"thread 11: the wait from 100 has a waker but was never woken",
       [](Trace& t) { t.waits[0].wake = t.waits[0].run = kNever; }},
  })));
}

/// An object of this kind in place of what the wait was for.
void wait_for(Trace& trace, Object::Kind kind) {
  trace.objects.resize(1);
  trace.objects[0].kind = kind;
  trace.waits[0].object = 0;
}

TEST_CASE("what analysis takes for granted is checked: objects and who holds them") {
  constexpr auto kFile = Object::Kind::file;
  constexpr auto kKernelLock = Object::Kind::kernel_lock;
  const auto in_futex = [](const Object& futex) {
    Trace trace = small_trace();
    trace.objects = {futex};
    trace.waits[0].object = 0;
    return complaint(trace);
  };
  const std::string one_of = "object 0: an object of kind futex has tgid and address, or inode, or hash";
  CHECK(in_futex({.hash = 7}).empty());
  CHECK(in_futex({.tgid = 10, .address = 7}).empty());
  CHECK(in_futex({.inode = 7}).empty());
  CHECK(in_futex({}) == one_of);
  CHECK(in_futex({.tgid = 10}) == one_of);
  CHECK(in_futex({.address = 7}) == one_of);
  CHECK(in_futex({.tgid = 10, .address = 7, .hash = 7}) == one_of);
  CHECK(in_futex({.tgid = 10, .inode = 7}) == one_of);
  CHECK(in_futex({.inode = 7, .hash = 7}) == one_of);
  CHECK(in_futex({.tgid = -1}) == "object 0: an object has a tgid below 0");
  CHECK(in_futex({.lock = KernelLock::mutex, .hash = 7}) ==
        "object 0: an object that is no kernel_lock has a kind of lock");
  CHECK(in_futex({.kind = kKernelLock}) == "object 0: an object of kind kernel_lock has an address");
  CHECK(in_futex({.kind = kKernelLock, .address = 1, .hash = 7}) ==
        "object 0: an object that is no futex has what only a futex has");
  CHECK(in_futex({.kind = kFile}) == "object 0: an object of kind file has an inode or a path");
  CHECK(in_futex({.kind = kFile, .file_offset = 7, .path = "a"}) ==
        "object 0: an object that is no futex has what only a futex has");
  CHECK(in_futex({.kind = kFile, .path = "a"}).empty());
  check(GENERATE(values<Case>({
      {"thread 11: waits for an unknown object 0", [](Trace& t) { t.waits[0].object = 0; }},
      {"thread 11: waits for a lock that no thread holds", [](Trace& t) { t.waits[0].holder = 2; }},
      {"thread 11: waits for a lock that no thread holds", [](Trace& t) { t.waits[0].holder = 9; }},
      {"thread 11: waits with stacks that stand for 0.5 waits",
       [](Trace& t) { t.waits[0].stands_for = 0.5F; }},
      {"the request issued at 1 is for no file",
       [](Trace& t) {
         t.disk_ios = {{0, 2, 1, 2, 0, 0}};
       }},
      {"the request issued at 1 is for no file",
       [](Trace& t) {
         wait_for(t, Object::Kind::kernel_lock);
         t.objects[0].address = 1;
         t.disk_ios = {{0, 2, 1, 2, 0, 0}};
       }},
      {"",
       [](Trace& t) {
         wait_for(t, Object::Kind::journal);
         t.waits[0].holder = 1;
         t.disk_ios = {{0, 2, 1, 2, 0, 0}};
       }},
  })));
}

TEST_CASE("what analysis takes for granted is checked: preemptions, gaps and CPU samples") {
  check(GENERATE(values<Case>({
      {"the preemption at 5 belongs to no thread",
       [](Trace& t) {
         t.preemptions = {{2, 5, 6}};
       }},
      {"thread 12: preemption out=5 run=4 is not in order of time",
       [](Trace& t) {
         t.preemptions = {{1, 5, 4}};
       }},
      {"the CPU sample at 5 belongs to no thread",
       [](Trace& t) {
         t.cpu_samples = {{2, kNoStack, 5}};
       }},
      {"thread 12: a CPU sample has no time or an unknown stack",
       [](Trace& t) {
         t.cpu_samples = {{1, 0, 5}, {1, 1, 6}};
       }},
      {"thread 12: a CPU sample has no time or an unknown stack",
       [](Trace& t) {
         t.cpu_samples = {{1, 0, kNever}};
       }},
      {"the responses up to 6 belong to no thread",
       [](Trace& t) {
         t.responses = {{2, 80, "", 1, 1, 5, 6}};
       }},
      {"thread 12: its responses have neither a port nor a path, or both",
       [](Trace& t) {
         t.responses = {{1, 0, "", 1, 1, 5, 6}};
       }},
      {"thread 12: its responses have neither a port nor a path, or both",
       [](Trace& t) {
         t.responses = {{1, 80, "/run/s", 1, 1, 5, 6}};
       }},
      {"thread 12: 0 responses to 0 connections",
       [](Trace& t) {
         t.responses = {{1, 80, "", 0, 0, 5, 6}};
       }},
      {"thread 12: 1 responses to 2 connections",
       [](Trace& t) {
         t.responses = {{1, 80, "", 1, 2, 5, 6}};
       }},
      {"thread 12: responses first=6 last=5 are not in order of time in the window",
       [](Trace& t) {
         t.responses = {{1, 80, "", 1, 1, 6, 5}};
       }},
      {"thread 12: responses first=5 last=- are not in order of time in the window",
       [](Trace& t) {
         t.responses = {{1, 80, "", 1, 1, 5, kNever}};
       }},
      {"the calls up to 6 belong to no thread",
       [](Trace& t) {
         t.calls = {{2, "f", 1, 5, 6}};
       }},
      {"thread 12: it called no function, or called it 0 times",
       [](Trace& t) {
         t.calls = {{1, "", 1, 5, 6}};
       }},
      {"thread 12: it called no function, or called it 0 times",
       [](Trace& t) {
         t.calls = {{1, "f", 0, 5, 6}};
       }},
      {"thread 12: calls first=6 last=5 are not in order of time in the window",
       [](Trace& t) {
         t.calls = {{1, "f", 1, 6, 5}};
       }},
      {"thread 12: calls first=5 last=- are not in order of time in the window",
       [](Trace& t) {
         t.calls = {{1, "f", 1, 5, kNever}};
       }},
      {"the gap at 5 belongs to no thread",
       [](Trace& t) {
         t.gaps = {{9, 5, 6}};
       }},
      {"thread 12: gap from=5 to=4 is not in order of time",
       [](Trace& t) {
         t.gaps = {{1, 5, 4}};
       }},
  })));
}

TEST_CASE("what analysis takes for granted is checked: the order of a thread's intervals") {
  check(GENERATE(values<Case>({
      {"thread 11: wait [240, 260) begins before wait [100, 250) ends",
       [](Trace& t) {
         t.waits.push_back({0, kNoObject, 240, 250, 260});
       }},
      {"thread 11: wait [50, 70) begins before wait [100, 250) ends",
       [](Trace& t) {
         t.waits.push_back({0, kNoObject, 50, 60, 70});
       }},
      {"thread 11: preemption [240, 300) begins before wait [100, 250) ends",
       [](Trace& t) {
         t.preemptions = {{0, 240, 300}};
       }},
      {"thread 11: wait [100, 250) begins before gap [90, 101) ends",
       [](Trace& t) {
         t.gaps = {{0, 90, 101}};
       }},
      {"thread 11: gap [400, 500) begins before preemption [300, -) ends",
       [](Trace& t) {
         t.preemptions = {{0, 300, kNever}};
         t.gaps = {{0, 400, 500}};
       }},
      {"thread 11: wait [100, 250) begins before its birth at 120",
       [](Trace& t) { t.actors[0].start = 120; }},
      {"thread 11: wait [100, 250) is not over at its exit at 249", [](Trace& t) { t.actors[0].exit = 249; }},
      {"thread 11: gap [901, 902) is not over at its exit at 900",
       [](Trace& t) {
         t.gaps = {{0, 901, 902}};
       }},
  })));
}

TEST_CASE("what analysis takes for granted is checked: CPUs") {
  check(GENERATE(values<Case>({
      {"thread 12: the list of CPUs on which it may run is not in order",
       [](Trace& t) {
         t.actors[1].allowed_cpus = {{0, 2}, {3, 4}};
       }},
      {"CPU 1 is not in order of number",
       [](Trace& t) {
         t.cpu_times = {{1, 0, 0}, {1, 0, 0}};
       }},
      {"the times of CPU 1 are impossible",
       [](Trace& t) {
         t.cpu_times = {{1, 0, kNever}};
       }},
      {"a CPU quota is not above 0, or its times are impossible",
       [](Trace& t) {
         t.cpu_quotas = {{"/a", 0, 1, 0, 0, 0}};
       }},
      {"a CPU quota was used up in 2 of 1 periods",
       [](Trace& t) {
         t.cpu_quotas = {{"/a", 1, 1, 1, 2, 0}};
       }},
      {"the CPU time of process 0 is impossible",
       [](Trace& t) {
         t.other_processes = {{0, "x", 0, 0}};
       }},
      {"the CPU time of process 1 is impossible",
       [](Trace& t) {
         t.other_processes = {{1, "x", 0, -1}};
       }},
  })));
}

TEST_CASE("what analysis takes for granted is checked: disks") {
  check(GENERATE(values<Case>({
      {"a disk capacity belongs to no disk",
       [](Trace& t) {
         t.capacities = {{0, 1, 1, CapacitySource::given}};
       }},
      {"disk capacity 0.000000 is not above 0",
       [](Trace& t) {
         t.capacities = {{2, 0, 1, CapacitySource::given}};
       }},
      {"disk capacity inf is not above 0",
       [](Trace& t) {
         t.capacities = {{2, 1, std::numeric_limits<double>::infinity(), CapacitySource::given}};
       }},
      {"a disk capacity that was not measured has a day, or its day is not one",
       [](Trace& t) {
         t.capacities = {{2, 1, 1, CapacitySource::assumed, "2026-11-21"}};
       }},
      {"a disk capacity that was not measured has a day, or its day is not one",
       [](Trace& t) {
         t.capacities = {{2, 1, 1, CapacitySource::measured, "2026-11-32"}};
       }},
      {"the disk counters at 7 belong to no disk",
       [](Trace& t) {
         t.disk_counters = {{1, 7, 0, 0}};
       }},
      {"the request issued at 7 went to no disk",
       [](Trace& t) {
         t.disk_ios = {{0, 1, 7, 8, 0}};
       }},
      {"the request issued at 7 was submitted by no thread",
       [](Trace& t) {
         t.disk_ios = {{2, 2, 7, 8, 0}};
       }},
      {"the request issued at 7 was complete before, at 6",
       [](Trace& t) {
         t.disk_ios = {{kNoActor, 2, 7, 6, 0}};
       }},
  })));
}

}  // namespace
}  // namespace offwait
