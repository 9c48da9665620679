// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/sched_events.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trace/text.h"

using namespace offwait;

namespace {

Trace trace_of(const std::string& lines) {
  const Result<Trace> trace = parse_text("offwait-waits 1\nwindow 1000 2000\n" + lines, "test");
  if (!trace.ok()) FAIL(trace.error().message);
  return trace.value();
}

/// `1000 cpu0 11 comes`, `1100 cpu0 11 leaves wait`, `1200 cpu1 11 woken`: in the order of the events.
std::vector<std::string> told(const Trace& trace) {
  const SchedEvents events = sched_events(trace);
  std::vector<std::string> out;
  for (const SchedEvent& event : events.events) {
    const std::string where = fmt::format("{} cpu{}", event.at, event.cpu);
    if (event.kind == SchedEvent::Kind::waking) {
      const WaitSite& site = trace.sites[events.wakings[event.index].site];
      out.push_back(fmt::format("{} {} woken", where, trace.actors[site.thread].tid));
      continue;
    }
    const Run& run = events.runs[event.index];
    const std::vector<std::string> why = {"", " wait", " disk", " preempted", " gap", " exit"};
    out.push_back(event.kind == SchedEvent::Kind::comes
                      ? fmt::format("{} {} comes", where, trace.actors[run.thread].tid)
                      : fmt::format("{} {} leaves{}", where, trace.actors[run.thread].tid,
                                    why.at(static_cast<std::size_t>(run.leaving))));
  }
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("A thread runs, waits, is woken and runs on") {
  CHECK(told(trace_of("thread 11 tgid=11 comm=a start=0 exit=-\n"
                      "wait 11 block=1100 wake=1200 run=1300 waker=timer class=sleep\n")) ==
        Lines{"1000 cpu0 11 comes", "1100 cpu0 11 leaves wait", "1200 cpu0 11 woken", "1300 cpu0 11 comes"});
}

TEST_CASE("The waking is on the waker's CPU, before the waker leaves it") {
  CHECK(told(trace_of("thread 11 tgid=11 comm=a start=0 exit=-\n"
                      "thread 12 tgid=11 comm=b start=0 exit=-\n"
                      "wait 11 block=1100 wake=1200 run=1300 waker=thread:12 class=futex\n"
                      "wait 12 block=1200 wake=1400 run=1400 waker=disk:vda class=disk\n")) ==
        Lines{"1000 cpu0 11 comes", "1000 cpu1 12 comes", "1100 cpu0 11 leaves wait", "1200 cpu1 11 woken",
              "1200 cpu1 12 leaves disk", "1300 cpu0 11 comes", "1400 cpu1 12 woken", "1400 cpu1 12 comes"});
}

TEST_CASE("A wakeup that overtook the switch comes after it") {
  CHECK(told(trace_of("thread 11 tgid=11 comm=a start=0 exit=-\n"
                      "thread 12 tgid=11 comm=b start=0 exit=-\n"
                      "wait 11 block=1100 wake=1100 run=1100 waker=thread:12 class=futex\n")) ==
        Lines{"1000 cpu0 11 comes", "1000 cpu1 12 comes", "1100 cpu0 11 leaves wait", "1100 cpu0 11 woken",
              "1100 cpu0 11 comes"});
}

TEST_CASE("What a thread was doing when the window began") {
  CHECK(told(trace_of("thread 11 tgid=11 comm=blocked start=0 exit=-\n"
                      "thread 12 tgid=11 comm=woken start=0 exit=-\n"
                      "thread 13 tgid=11 comm=seen-late start=0 exit=- seen=1500\n"
                      "wait 11 block=500 wake=1200 run=1200 waker=timer class=sleep\n"
                      "wait 12 block=500 wake=600 run=1200 waker=timer class=sleep\n")) ==
        Lines{"1000 cpu0 11 comes", "1000 cpu0 11 leaves wait", "1000 cpu0 12 comes",
              "1000 cpu0 12 leaves preempted", "1200 cpu0 11 woken", "1200 cpu0 11 comes",
              "1200 cpu1 12 comes", "1500 cpu2 13 comes"});
}

TEST_CASE("Threads that leave for good, or without a record") {
  CHECK(told(trace_of("thread 11 tgid=11 comm=a start=1100 exit=1500\n"
                      "thread 12 tgid=11 comm=killed start=0 exit=1600\n"
                      "unknown 11 from=1200 to=1300\n"
                      "wait 12 block=1400 wake=- run=- waker=- class=lock\n")) ==
        Lines{"1000 cpu0 12 comes", "1100 cpu1 11 comes", "1200 cpu1 11 leaves gap", "1300 cpu1 11 comes",
              "1400 cpu0 12 leaves disk", "1500 cpu1 11 leaves exit", "1600 cpu0 12 comes",
              "1600 cpu0 12 leaves exit"});
}

TEST_CASE("The two parts of a wait for a packet have one waking") {
  CHECK(told(trace_of("thread 11 tgid=11 comm=a start=0 exit=-\n"
                      "thread 12 tgid=12 comm=b start=0 exit=-\n"
                      "wait 11 block=1100 wake=1200 run=1200 waker=thread:12 class=net\n"
                      "wait 11 block=1200 wake=1300 run=1400 waker=nic:lo class=net in_flight=yes\n")) ==
        Lines{"1000 cpu0 11 comes", "1000 cpu1 12 comes", "1100 cpu0 11 leaves wait", "1300 cpu0 11 woken",
              "1400 cpu0 11 comes"});
}

TEST_CASE("As many CPUs as threads run at one time, and a thread stays where it can") {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    lines += fmt::format("thread {} tgid=1 comm=t start={} exit={}\n", 100 + i, 1000 + 40 * i, 1080 + 40 * i);
  }
  const SchedEvents events = sched_events(trace_of(lines));
  CHECK(events.cpus == 2);
  const SchedEvents two = sched_events(
      trace_of("thread 11 tgid=11 comm=a start=0 exit=-\nthread 12 tgid=11 comm=b start=0 exit=-\n"
               "preempt 11 out=1100 run=1300\npreempt 12 out=1200 run=1400\n"));
  CHECK(two.cpus == 2);
  for (const Run& run : two.runs) CHECK(run.cpu == run.thread);
}

TEST_CASE("No two threads run on one CPU at a time") {
  std::string lines;
  for (int i = 0; i < 12; ++i) {
    lines += fmt::format("thread {} tgid=1 comm=t start=0 exit=-\n", 100 + i);
    for (int at = 1000 + 7 * i; at + 50 < 2000; at += 60 + i)
      lines += fmt::format("preempt {} out={} run={}\n", 100 + i, at, at + 10 + 3 * i);
  }
  SchedEvents events = sched_events(trace_of(lines));
  std::sort(events.runs.begin(), events.runs.end(), [](const Run& a, const Run& b) {
    return std::tuple(a.cpu, a.place) < std::tuple(b.cpu, b.place);
  });
  REQUIRE(events.runs.size() > 100);
  for (std::size_t i = 1; i < events.runs.size(); ++i) {
    if (events.runs[i].cpu == events.runs[i - 1].cpu) CHECK(events.runs[i].from >= events.runs[i - 1].to);
  }
}
