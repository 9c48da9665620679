// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/on_one_path.h"

#include <catch2/catch.hpp>

#include "replay/answers.h"
#include "replay/disk_channels.h"
#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

/// `threads` of a Go program that each compute for 1 ms and then wait for 3 ms, for a service.
Trace goroutines(int threads, int cpus) {
  test::Program program(400'000, cpus);
  for (int tid = 1; tid <= threads; ++tid) {
    program.thread(tid, "app");
    for (long at = 300L * tid; at + 4000 <= 400'000; at += 4000) {
      program.wait(tid, at, at + 3000, "nic:eth0",
                   "class=net peer=service:10.0.0.5:3306 stack=ep_poll;--;runtime.netpoll+0x23%20(app)");
    }
  }
  return program.trace();
}

GainRange on_one_path(const Trace& trace, const std::vector<double>& factors) {
  const ThreadGroups groups = group_threads(trace);
  const WaitKinds kinds = kinds_of_waits(trace, groups);
  const Uses uses = uses_of(trace, groups, kinds);
  const std::vector<DiskChannels> channels = disk_channels(trace, groups, kinds);
  const LockHolds holds(trace, groups, kinds, 3);
  const Histories histories(trace);
  const WaitsForSleepers sleepers = waits_for_sleepers_of(trace, groups, kinds, uses);
  const Ties ties = ties_of(trace, groups, kinds, uses, sleepers);
  const ReplayInput input{trace, groups,    kinds,    uses, channels,
                          holds, histories, sleepers, ties, usable_cpus(trace, histories)};
  Scenario scenario;
  for (const double factor : factors) scenario.push_back({Resource::cpu, 0, kNoActor, factor});
  return gains_on_one_path(input, scenario, Room(input));
}

}  // namespace

TEST_CASE("all that a change saves may lie on one path, which is no longer than the window") {
  // One thread computes for a quarter of the window; half of that is saved.
  CHECK(on_one_path(goroutines(2, 8), {0.5}).high == Approx(1 / (1 - 0.25) - 1).margin(0.02));
  // Twelve compute for three windows together: no path has more than one of these.
  CHECK(on_one_path(goroutines(12, 16), {0.5}).high == Approx(1.0).margin(0.02));
  // What is changed twice has the window once, and what takes longer saves nothing.
  CHECK(on_one_path(goroutines(12, 64), {0.5, 0.25}).high == Approx(3.0).margin(0.1));
  CHECK(on_one_path(goroutines(12, 16), {2}).high == 0);
  CHECK(on_one_path(goroutines(12, 16), {2}).low == Approx(-0.5).margin(0.02));
  CHECK(on_one_path(goroutines(12, 16), {0.5}).low == 0);
  // There are CPUs for a third more than now.
  CHECK(on_one_path(goroutines(12, 2), {0.5}).high < 0.5);
}

TEST_CASE("the range of a gain of tasks that threads run in turns reaches up to one path") {
  const Trace trace = goroutines(3, 8);
  AnswerOptions options;
  options.asked = {{{Resource::cpu, 0}}, {{Resource::cpu, 0, kNoActor, 2}}};
  const Answers found = test::answers(trace, options);
  REQUIRE(found.asked.size() == 2);
  const Gain& halved = found.asked[0];
  CHECK(halved.certainty == Certainty::approximate);
  // Each thread alone saves an eighth of its time. If the tasks wait for each other, it is three eighths.
  CHECK(halved.gain == Approx(1 / (1 - 0.125) - 1).margin(0.01));
  REQUIRE(halved.high);
  CHECK(*halved.high == Approx(1 / (1 - 0.375) - 1).margin(0.03));
  const Gain& doubled = found.asked[1];
  REQUIRE(doubled.high);
  CHECK(*doubled.high < 0);
  CHECK(*doubled.low == Approx(1 / (1 + 0.75) - 1).margin(0.03));
}
