// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/stack_budget.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace offwait {
namespace {

constexpr double kMost = 0.03;
constexpr Nanos kStep = kSecond / 10;

/// What a second costs.
struct Load {
  double base_ns = 0;    ///< without stacks
  double waits = 0;      ///< all of the same length
  double length_ns = 0;  ///< of a wait
  double stack_ns = 2000;
  double busy_ns = 2e9;
};

/// A machine with a recorder that has a budget.
class Machine {
 public:
  explicit Machine(double most) : budget_(most) {}

  /// Returns the part of the busy time that recording took in this time.
  double run(const Load& load, double seconds) {
    const double cost_before = cost_;
    const double busy_before = busy_;
    for (Nanos end = at_ + static_cast<Nanos>(seconds * 1e9); at_ < end;) {
      const double part = static_cast<double>(kStep) / 1e9;
      const double taken =
          bits_ == 0 ? 1 : std::min(1.0, load.length_ns / std::ldexp(1.0, static_cast<int>(bits_)));
      const double stacks = load.waits * taken * load.stack_ns * part;
      stacks_ += bits_ == 0 ? 0 : stacks;
      cost_ += load.base_ns * part + stacks;
      busy_ += load.busy_ns * part;
      at_ += kStep;
      bits_ = budget_.next(
          {at_, static_cast<Nanos>(cost_), static_cast<Nanos>(stacks_), static_cast<Nanos>(busy_)});
      seen.push_back(bits_);
    }
    return (cost_ - cost_before) / (busy_ - busy_before);
  }

  std::vector<unsigned> seen;  ///< what the budget said, ten times a second

 private:
  StackBudget budget_;
  unsigned bits_ = 0;
  Nanos at_ = 5 * kSecond;
  double cost_ = 0;
  double stacks_ = 0;
  double busy_ = 0;
};

unsigned changes(const std::vector<unsigned>& seen, std::size_t from) {
  unsigned count = 0;
  for (std::size_t i = from + 1; i < seen.size(); ++i) count += seen[i] != seen[i - 1] ? 1U : 0U;
  return count;
}

TEST_CASE("all stacks are taken while that is cheap") {
  Machine machine(kMost);
  CHECK(machine.run({10e6, 5'000, 50'000}, 10) < kMost);
  CHECK(changes(machine.seen, 0) == 0);
  CHECK(machine.seen.back() == 0);
}

TEST_CASE("a busy load comes within the budget in two seconds, and has most of it for stacks") {
  const double base = 20e6;
  for (const double length : {3'000.0, 100'000.0, 2e6, 50e6}) {
    Machine machine(kMost);
    const Load load{base, 80'000, length};
    machine.run(load, 3);
    const double share = machine.run(load, 60);
    INFO(length);
    CHECK(share <= kMost);
    CHECK(share > 0.4 * (kMost - base / 2e9) + base / 2e9);
    CHECK(changes(machine.seen, 30) <=
          12);  // that all stacks are too dear is tried again less and less often
  }
}

TEST_CASE("a load that begins with the recording is within the budget a second later") {
  for (const double length : {3'000.0, 100'000.0, 2e6}) {
    Machine machine(kMost);
    const Load load{20e6, 80'000, length};
    machine.run(load, 1);
    INFO(length);
    CHECK(machine.run(load, 0.5) <= kMost);
  }
}

TEST_CASE(
    "a load that begins after a calm time is within the budget half a second later, whenever it begins") {
  const Load calm{1e6, 500, 300'000, 2000, 5e8};
  const Load busy{20e6, 80'000, 300'000};  // all stacks cost three times the budget
  for (int tenths = 0; tenths < 5; ++tenths) {
    Machine machine(kMost);
    machine.run(calm, 3 + tenths / 10.0);
    machine.run(busy, 0.5);
    INFO(tenths);
    CHECK(machine.run(busy, 2) <= kMost);
  }
}

TEST_CASE("a tenth of a second that costs twice the budget changes nothing if the next ones are calm") {
  Machine machine(kMost);
  const Load calm{1e6, 500, 300'000, 2000, 5e8};
  machine.run(calm, 3);
  machine.run({2.2 * kMost * 5e8, 0, 300'000, 2000, 5e8}, 0.1);
  machine.run(calm, 3);
  CHECK(changes(machine.seen, 0) == 0);
}

TEST_CASE("where waits without stacks cost more than the budget, stacks still have an eighth of it") {
  Machine machine(kMost);
  const Load load{400e6, 400'000, 5'000};
  machine.run(load, 5);
  const double stacks = machine.run(load, 20) - 400e6 / 2e9;
  CHECK(stacks <= kMost / 8);
  CHECK(stacks >= 0.4 * kMost / 8);
}

TEST_CASE("after the load all stacks are taken again, and soon fewer when it returns") {
  Machine machine(kMost);
  const Load busy{20e6, 80'000, 300'000};
  const Load quiet{1e6, 500, 300'000, 2000, 5e8};
  machine.run(busy, 10);
  CHECK(machine.seen.back() > 12);
  machine.run(quiet, 10);
  CHECK(machine.seen.back() == 0);
  machine.run(busy, 2.5);
  CHECK(machine.run(busy, 10) <= kMost);
}

TEST_CASE("a machine that sleeps has a budget") {
  Machine machine(kMost);
  machine.run({1e6, 100, 1e6, 2000, 2e6}, 10);
  CHECK(machine.seen.back() == 0);
}

TEST_CASE("readings that stand still or go back do no harm") {
  StackBudget budget(kMost);
  CHECK(budget.next({kSecond, 1000, 0, 1000}) == 0);
  CHECK(budget.next({kSecond, 2000, 0, 1000}) == 0);
  CHECK(budget.next({0, 0, 0, 0}) == 0);
  CHECK(budget.next({2 * kSecond, 0, 0, 0}) == 0);
  CHECK(budget.next({3 * kSecond, kSecond, 0, 2 * kSecond}) == 12);
  CHECK(budget.next({4 * kSecond, 2 * kSecond, kSecond, 2 * kSecond}) == 17);
}

}  // namespace
}  // namespace offwait
