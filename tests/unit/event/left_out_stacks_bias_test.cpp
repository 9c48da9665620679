// SPDX-License-Identifier: GPL-2.0-or-later
// Waits whose stacks are known lose them by chance, as in the kernel, 1,000 times. What LeftOutStacks gives
// them must add up to the truth: on average, and within what chance explains.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "event/left_out_stacks.h"
#include "recordings.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::threads_of;
using test::wait_of;

constexpr int kBits = 20;
constexpr double kCertain = 1 << kBits;
constexpr int kSeeds = 1000;
constexpr std::uint64_t kDuration = std::uint64_t{1} << 40;

/// Lengths in parts of the shortest that is certain to be drawn.
class Lengths {
 public:
  double exponential(double mean) { return std::exponential_distribution<double>(1 / mean)(random_); }
  double lognormal(double median, double sigma) {
    return std::lognormal_distribution<double>(std::log(median), sigma)(random_);
  }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 random_{1};
};

struct Population {
  std::vector<offwait_wait> waits;

  void add(std::uint32_t tid, std::uint32_t place, test::Waker waker, double at, double length,
           std::uint32_t stack, std::uint32_t waker_stack = 0) {
    const auto block = 1 + static_cast<std::uint64_t>(at * static_cast<double>(kDuration));
    const auto wake = block + static_cast<std::uint64_t>(length * kCertain);
    offwait_wait wait = wait_of(tid, block, wake, wake, waker);
    wait.wait_user = stack;
    wait.wait_kernel = 1000 + stack;
    wait.waker_user = waker_stack;
    wait.draw = OFFWAIT_DRAW_CHANCE | kBits << OFFWAIT_DRAW_BITS_SHIFT | place << OFFWAIT_DRAW_PLACE_SHIFT;
    waits.push_back(wait);
  }
};

/// One thread waits for one other, with all kinds of lengths; short waits have another stack later on.
void add_one_pair(Population& population, Lengths& lengths) {
  for (int i = 0; i < 1500; ++i) {
    const double at = i / 1500.0;
    const bool late = at > 0.4;
    switch (lengths.below(8)) {
      case 0:
        population.add(1, 1, by_thread(50), at, lengths.lognormal(0.5, 0.8), 13, 53);
        break;
      case 1:
        population.add(1, 1, by_thread(50), at, 0.9, 14, 54);
        break;
      case 2:
        population.add(1, 1, by_thread(50), at, lengths.one_in(2) ? 0.55 : 1.7, 15, 55);
        break;
      default:
        population.add(1, 1, by_thread(50), at, lengths.exponential(0.03), late ? 12 : 11, late ? 52 : 51);
    }
  }
}

/// Many threads wake one another: hardly two waits have both threads in common.
void add_pool(Population& population, Lengths& lengths) {
  for (int i = 0; i < 1500; ++i) {
    const std::uint32_t tid = 100 + lengths.below(20);
    const std::uint32_t waker = 200 + lengths.below(10);
    const bool is_short = !lengths.one_in(5);
    const double length = is_short ? lengths.exponential(0.05) : lengths.exponential(0.7);
    population.add(tid, 2, by_thread(waker), i / 1500.0, length, is_short ? 21 : 22 + tid % 2,
                   waker * 10 + (is_short ? 1 : 2));
  }
}

/// Threads that wait seldom.
void add_sleepers(Population& population, Lengths& lengths) {
  for (int i = 0; i < 300; ++i) {
    const bool is_short = lengths.one_in(2);
    const double length = is_short ? lengths.lognormal(0.1, 1) : lengths.lognormal(0.8, 0.3);
    population.add(300 + lengths.below(60), 3, kTimer, i / 300.0, length, is_short ? 31 : 32);
  }
}

/// All waits of a thread take the same time, and their stacks change again and again.
void add_constant(Population& population) {
  for (std::uint32_t i = 0; i < 600; ++i) {
    population.add(2, 4, kTimer, i / 600.0, 0.5, 41 + i / 37 % 2);
    population.add(3, 5, kTimer, i / 600.0, 0.97, 43 + i / 3 % 2);
    population.add(4, 6, kTimer, i / 600.0, 0.06, i % 10 == 0 ? 45 : 46);
  }
}

Population population_of_all() {
  Population population;
  Lengths lengths;
  add_one_pair(population, lengths);
  add_pool(population, lengths);
  add_sleepers(population, lengths);
  add_constant(population);
  std::stable_sort(population.waits.begin(), population.waits.end(),
                   [](const offwait_wait& a, const offwait_wait& b) { return a.wake_ns < b.wake_ns; });
  return population;
}

double length_of(const offwait_wait& wait) { return static_cast<double>(wait.wake_ns - wait.block_ns); }

/// The waits as the kernel would record them.
std::vector<offwait_wait> drawn(const std::vector<offwait_wait>& waits, std::mt19937_64& random) {
  std::vector<offwait_wait> records = waits;
  for (offwait_wait& record : records) {
    if (static_cast<double>(random() >> (64 - kBits)) < length_of(record)) {
      record.draw |= OFFWAIT_DRAW_TAKEN;
    } else {
      record.wait_user = record.wait_kernel = record.waker_user = 0;
    }
  }
  return records;
}

constexpr std::size_t kStacks = 3000;
/// Time by the id of a stack, waiters' and wakers' alike: no stack is both here.
using Sums = std::array<double, kStacks>;

void add_to(Sums& sums, const offwait_wait& wait, double value) {
  sums.at(wait.wait_user) += value;
  if (wait.waker_kind == OFFWAIT_WAKER_THREAD) sums.at(wait.waker_user) += value;
}

/// The waits with stacks given to those that were left out.
std::vector<offwait_wait> filled(std::vector<offwait_wait> records) {
  LeftOutStacks left_out;
  for (const offwait_wait& record : records) left_out.note(record, threads_of(record));
  for (offwait_wait& record : records) left_out.fill(record, threads_of(record));
  return records;
}

}  // namespace

TEST_CASE("sums of time by stack are those of all waits on average, and within what chance explains") {
  const std::vector<offwait_wait> waits = population_of_all().waits;
  Sums truth{};
  Sums variance{};  // of the estimate by Horvitz and Thompson
  for (const offwait_wait& wait : waits) {
    const double length = length_of(wait);
    add_to(truth, wait, length);
    if (length < kCertain) add_to(variance, wait, length * (kCertain - length));
  }
  Sums errors{};
  Sums squares{};
  Sums estimated{};  // the variance, from the drawn waits alone
  int within = 0;
  int pairs = 0;
  std::mt19937_64 random(1);
  for (int seed = 0; seed < kSeeds; ++seed) {
    Sums sums{};
    const std::vector<offwait_wait> records = drawn(waits, random);
    for (const offwait_wait& wait : records)
      add_to(estimated, wait, stands_for(wait) * (stands_for(wait) - 1) * length_of(wait) * length_of(wait));
    for (const offwait_wait& wait : filled(records)) add_to(sums, wait, length_of(wait));
    for (std::size_t stack = 0; stack < kStacks; ++stack) {
      const double error = sums[stack] - truth[stack];
      if (error == 0) continue;
      errors[stack] += error;
      squares[stack] += error * error;
      ++pairs;
      if (std::abs(error) <= 3 * std::sqrt(variance[stack])) ++within;
    }
  }
  for (std::size_t stack = 0; stack < kStacks; ++stack) {
    if (squares[stack] == 0) continue;
    const double mean = errors[stack] / kSeeds;
    const double deviation = std::sqrt(squares[stack] / kSeeds - mean * mean);
    CAPTURE(stack, truth[stack] / kCertain, mean / kCertain, deviation / kCertain);
    CHECK(std::abs(mean) < 4 * deviation / std::sqrt(kSeeds));
    CHECK(deviation < 1.05 * std::sqrt(variance[stack]));
    CHECK(std::sqrt(estimated[stack] / kSeeds) == Approx(std::sqrt(variance[stack])).epsilon(0.05));
  }
  CHECK(pairs > 40 * kSeeds);
  CHECK(within >= 0.995 * pairs);
}

TEST_CASE("left-out waits mostly have a stack of their own thread, and of their own time") {
  const std::vector<offwait_wait> waits = population_of_all().waits;
  double at_place = 0;
  double of_another_thread = 0;
  double early_or_late = 0;
  double of_another_time = 0;
  double pairs = 0;
  double torn = 0;
  std::mt19937_64 random(2);
  for (int seed = 0; seed < 20; ++seed) {
    const std::vector<offwait_wait> records = filled(drawn(waits, random));
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::uint32_t stack = records[i].wait_user;
      const double length = length_of(records[i]);
      if (stack == 22 || stack == 23) {
        at_place += length;
        if (stack != 22 + records[i].tid % 2) of_another_thread += length;
      }
      if (stack == 11 || stack == 12) {
        early_or_late += length;
        if (waits[i].wait_user == 23 - stack) of_another_time += length;
      }
      if (records[i].tid == 1) {
        pairs += length;
        if (records[i].waker_user != stack + 40) torn += length;
      }
    }
  }
  CHECK(of_another_thread < 0.1 * at_place);
  CHECK(of_another_time < 0.05 * early_or_late);
  CHECK(torn < 0.01 * pairs);
}

}  // namespace offwait
