// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/code_places.h"

#include <catch2/catch.hpp>

#include "stacks.h"

using namespace offwait;

TEST_CASE("Code places: by the innermost function of the program, whatever it calls and whoever calls it") {
  FoundSamples samples;
  samples.samples = 100;
  samples.stacks = {
      {0.3, 30, stack_of({"work(int)+0x10 (server) at src/a.cc:7", "main+0x1 (server)"})},
      {0.25, 25,
       stack_of({"copy_page+0x3", "do_syscall_64+0x1", "--", "write+0x1 (libc.so.6)", "log+0x2 (server)"})},
      {0.2, 20, stack_of({"work(int)+0x99 (server) at src/a.cc:9", "other+0x5 (server)"})},
      {0.15, 15, stack_of({"rcu_read+0x1", "--", "write+0x1 (libc.so.6)", "send+0x2 (server)"})},
      {0.1, 10, {}}};
  const std::vector<SampledPlace> places = code_places(samples);
  REQUIRE(places.size() == 2);
  CHECK(places[0].share == Approx(0.5));
  CHECK(places[0].stack == samples.stacks[0].stack);
  CHECK(places[1].share == Approx(0.4));
  CHECK(places[1].stack == samples.stacks[1].stack);
  CHECK(code_places({}).empty());
  // Nothing but the cut is known of the program.
  samples.stacks = {{1, 9, stack_of({"k+0x1", "--", "[cut: no mapping]"})}};
  CHECK(code_places(samples).size() == 1);
}
