// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/never_seen.h"

#include <catch2/catch.hpp>
#include <vector>

namespace offwait {
namespace {

Trace threads(std::size_t count) {
  Trace trace;
  trace.window = {100, 900};
  trace.actors.resize(count);
  for (Actor& actor : trace.actors) {
    actor.start = 50;
    actor.seen = 100;
  }
  return trace;
}

std::vector<Nanos> seen(const Trace& trace) {
  std::vector<Nanos> found;
  for (const Actor& actor : trace.actors) found.push_back(actor.seen);
  return found;
}

TEST_CASE("a thread that was only found at the begin is not runnable: its state is not known") {
  Trace trace = threads(1);
  trace.preemptions = {{0, 100, kNever}};
  forget_never_seen(trace);
  CHECK(trace.preemptions.empty());
  CHECK(seen(trace) == std::vector<Nanos>{900});
}

TEST_CASE("a thread that was seen to lose its CPU, or to do anything else, is runnable") {
  Trace trace = threads(7);
  trace.actors[0].start = 100;  // born at the start
  trace.actors[1].exit = 500;   // seen to exit
  trace.cpu_samples = {{4, kNoStack, 99}};
  trace.actors[6].parent = 5;  // has forked
  trace.preemptions = {{0, 100, kNever}, {1, 100, kNever}, {2, 90, kNever},
                       {3, 100, 200},    {4, 100, kNever}, {5, 100, kNever}};
  forget_never_seen(trace);
  CHECK(trace.preemptions.size() == 6);
  CHECK(seen(trace) == std::vector<Nanos>(7, 100));
}

}  // namespace
}  // namespace offwait
