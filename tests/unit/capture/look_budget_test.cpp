// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/look_budget.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace offwait {
namespace {

constexpr double kMostForAll = 0.03;
constexpr Nanos kMilli = kSecond / 1000;

/// A machine on which a look is wanted every 5 ms.
struct MachineWithLooks {
  Nanos at = kSecond;
  LookBudget budget{kMostForAll, at};
  Nanos busy = 0;
  Nanos longest_pause = 0;

  /// Returns the CPU time that looks took. `busy_cpus`: how many CPUs are busy.
  Nanos run(Nanos length, double busy_cpus, Nanos look) {
    Nanos taken = 0;
    Nanos last_look = at;
    for (const Nanos end = at + length; at < end; at += 5 * kMilli) {
      busy += static_cast<Nanos>(busy_cpus * 5 * kMilli);
      budget.take({at, 0, 0, busy});
      if (budget.time_left(at) <= 0) continue;
      budget.spend(at, look);
      taken += look;
      longest_pause = std::max(longest_pause, at - last_look);
      last_look = at;
    }
    return taken;
  }
};

}  // namespace

TEST_CASE("looks at processes take half of the budget where more are wanted") {
  MachineWithLooks machine;
  machine.run(5 * kSecond, 2, 2 * kMilli);
  const Nanos taken = machine.run(100 * kSecond, 2, 2 * kMilli);
  CHECK(taken >= 2990 * kMilli);  // 1.5 % of two busy CPUs
  CHECK(taken <= 3100 * kMilli);
}

TEST_CASE("looks at processes of an idle machine take 1 % of a CPU") {
  MachineWithLooks machine;
  machine.run(5 * kSecond, 0.1, 2 * kMilli);
  const Nanos taken = machine.run(100 * kSecond, 0.1, 2 * kMilli);
  CHECK(taken >= 990 * kMilli);
  CHECK(taken <= 1040 * kMilli);
}

TEST_CASE("looks that take less than the budget never wait") {
  MachineWithLooks machine;
  CHECK(machine.run(10 * kSecond, 2, kMilli / 10) == 200 * kMilli);
  CHECK(machine.longest_pause == 5 * kMilli);
}

TEST_CASE("time for looks that was not used is kept for a while") {
  MachineWithLooks machine;
  machine.run(60 * kSecond, 2, 0);
  const Nanos taken = machine.run(kSecond / 2, 2, 5 * kMilli);  // a hundred are wanted
  CHECK(taken >= 90 * kMilli);                                  // of 3 s
  CHECK(taken <= 125 * kMilli);                                 // and of the half second
}

TEST_CASE("after a long look the next one waits until the budget has room again") {
  MachineWithLooks machine;
  machine.run(60 * kSecond, 2, 0);
  machine.budget.spend(machine.at, 390 * kMilli);  // 90 ms were kept
  const Nanos begin = machine.at;
  while (machine.budget.time_left(machine.at) <= 0) machine.at += kMilli;
  CHECK(machine.at - begin >= 9990 * kMilli);
  CHECK(machine.at - begin <= 10'010 * kMilli);
}

}  // namespace offwait
