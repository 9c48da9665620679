// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/more_cpus.h"

#include <catch2/catch.hpp>

#include "unit/replay/program.h"
#include "unit/replay/replayer.h"

using namespace offwait;

namespace {

/// A thread that runs for half of the time beside others, which have so many CPUs, and queues for this part.
Gain gain_beside(double others, double queued, double& from_others) {
  test::Program program(100'000, 2);
  program.thread(1, "work");
  for (long at = 0; at < 100'000; at += 1000) program.wait(1, at + 500, at + 1000, "timer", "class=sleep");
  test::Replayer replayer(program.trace(), 1, others);
  replayer.input.cpus.shared = 2;
  replayer.input.cpus.queued = queued;
  Gain gain;
  gain.gain = 0.03;
  from_others = bound_more_cpus(replayer.input, {{Resource::cpus}}, gain);
  return gain;
}

}  // namespace

TEST_CASE("from other programs threads gain the CPU time that these leave, as far as they queued for it") {
  double from_others = 0;
  // They leave three times of what it has, and it queued most of the time: twice the time is asked about.
  CHECK(gain_beside(1.5, 0.8, from_others).gain == Approx(1));
  CHECK(from_others == Approx(1));
  // It queued for a fifth of the time.
  CHECK(gain_beside(1.5, 0.2, from_others).gain == Approx(0.25));
  // They have a tenth of a CPU.
  const Gain little = gain_beside(0.1, 0.8, from_others);
  CHECK(little.gain == Approx(0.2));
  CHECK(little.certainty == Certainty::up_to);
  // There are no others: it is what was simulated.
  CHECK(gain_beside(0, 0.8, from_others).gain == Approx(0.03));
  CHECK(from_others == 0);
}
