// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/disk_activity.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace offwait {
namespace {

constexpr Nanos kMs = 1'000'000;
constexpr Window kWindow{0, 1000 * kMs};
const DiskCapacity kCapacity{0, 100e6, 1000, CapacitySource::given};

DiskIo request(Nanos issue, Nanos complete, std::uint64_t bytes = 4096) {
  return {kNoActor, 0, issue, complete, bytes};
}

// `count` requests of `length` each, one every `period`.
std::vector<DiskIo> steady(int count, Nanos period, Nanos length, std::uint64_t bytes = 4096) {
  std::vector<DiskIo> ios;
  for (int i = 0; i < count; ++i) ios.push_back(request(i * period, i * period + length, bytes));
  return ios;
}

DiskKind kind(const std::vector<DiskIo>& ios) {
  return kind_of(disk_activity(ios, kWindow), kCapacity, kWindow);
}

TEST_CASE("requests that overlap, touch, and leave a gap") {
  const DiskActivity activity =
      disk_activity({request(300 * kMs, 400 * kMs), request(0, 100 * kMs, 1), request(50 * kMs, 150 * kMs, 2),
                     request(150 * kMs, 200 * kMs)},
                    kWindow);
  CHECK(activity.under_way_ns == 300 * kMs);
  CHECK(activity.request_ns == Approx(350e6));
  CHECK(activity.ios == 4);
  CHECK(activity.bytes == 8195);
  CHECK(activity.each_ns() == Approx(87.5e6));
}

TEST_CASE("only what lies in the window counts") {
  const DiskActivity activity =
      disk_activity({request(-50 * kMs, 50 * kMs), request(950 * kMs, 1050 * kMs), request(980 * kMs, kNever),
                     request(-20 * kMs, 0), request(1000 * kMs, 1010 * kMs)},
                    kWindow);
  CHECK(activity.under_way_ns == 100 * kMs);
  CHECK(activity.request_ns == Approx(120e6));
  CHECK(activity.ios == 1);
}

// Little's law, and the utilisation law beside it, hold whatever the requests are.
TEST_CASE("completions per second times the time of each are the mean number in flight") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<DiskIo> ios;
    for (int i = std::uniform_int_distribution(1, 60)(random); i > 0; --i) {
      const Nanos issue = std::uniform_int_distribution<Nanos>(-100, 1000)(random) * kMs;
      const Nanos length = std::uniform_int_distribution<Nanos>(0, 300)(random) * kMs;
      ios.push_back(request(issue, length > 290 * kMs ? kNever : issue + length));
    }
    const DiskActivity activity = disk_activity(ios, kWindow);
    if (activity.ios == 0) continue;
    const double per_s = static_cast<double>(activity.ios) / to_seconds(kWindow.length());
    CHECK(per_s * activity.each_ns() / 1e9 == Approx(activity.in_flight(kWindow)));
    CHECK(to_seconds(activity.under_way_ns) * activity.in_flight_while_busy() ==
          Approx(activity.in_flight(kWindow) * to_seconds(kWindow.length())));
    CHECK(activity.under_way_ns <= kWindow.length());
    if (activity.under_way_ns > 0) CHECK(activity.in_flight_while_busy() >= 1.0);

    // The order of the requests does not matter.
    std::shuffle(ios.begin(), ios.end(), random);
    CHECK(disk_activity(ios, kWindow).under_way_ns == activity.under_way_ns);
  }
}

TEST_CASE("the kind of a disk's use") {
  CHECK(kind({}) == DiskKind::idle);
  CHECK(kind(steady(10, 100 * kMs, 49 * kMs)) == DiskKind::occasional);
  CHECK(kind({request(5, 5)}) == DiskKind::occasional);
  CHECK(kind(steady(100, 10 * kMs, 9 * kMs)) == DiskKind::latency_bound);
  CHECK(kind(steady(100, 10 * kMs, 40 * kMs)) == DiskKind::parallel);
  CHECK(kind(steady(900, kMs, kMs)) == DiskKind::ios_bound);
  CHECK(kind(steady(600, kMs, kMs)) == DiskKind::latency_bound);
  CHECK(kind(steady(100, 10 * kMs, 9 * kMs, 900'000)) == DiskKind::bandwidth_bound);
  CHECK(kind(steady(100, 10 * kMs, 9 * kMs, 700'000)) == DiskKind::latency_bound);
}

TEST_CASE("the names of the kinds") {
  CHECK(to_string(DiskKind::idle) == "idle");
  CHECK(to_string(DiskKind::occasional) == "occasional");
  CHECK(to_string(DiskKind::latency_bound) == "latency-bound");
  CHECK(to_string(DiskKind::parallel) == "parallel");
  CHECK(to_string(DiskKind::ios_bound) == "ios-bound");
  CHECK(to_string(DiskKind::bandwidth_bound) == "bandwidth-bound");
}

TEST_CASE("of the requests open at the end, the last counters say how many are") {
  const std::vector<DiskIo> ios = {request(10 * kMs, kNever), request(20 * kMs, kNever),
                                   request(30 * kMs, 40 * kMs), request(995 * kMs, kNever),
                                   request(999 * kMs + 500'000, kNever)};
  const auto left = [&ios](std::vector<DiskCounters> readings) {
    std::vector<Nanos> issues;
    for (const DiskIo& io : without_unseen(ios, readings)) issues.push_back(io.issue / kMs);
    return issues;
  };
  const DiskCounters begin{0, 0, 0, 0, 0};
  const auto end = [](std::uint64_t ios_then, std::uint64_t in_flight) {
    return DiskCounters{0, 1000 * kMs, 4096, ios_then, in_flight};
  };
  using Issues = std::vector<Nanos>;
  // What was issued within 1 ms of the reading may not be in it yet.
  CHECK(left({begin, end(9, 0)}) == Issues{30, 999});
  CHECK(left({begin, end(9, 1)}) == Issues{30, 995, 999});
  CHECK(left({begin, end(9, 2)}) == Issues{20, 30, 995, 999});
  CHECK(left({begin, end(9, 3)}) == Issues{10, 20, 30, 995, 999});
  CHECK(left({begin, end(9, 70)}) == Issues{10, 20, 30, 995, 999});
  CHECK(left({begin, end(0, 0)}) == Issues{10, 20, 30, 995, 999});
  CHECK(left({end(9, 0)}) == Issues{10, 20, 30, 995, 999});
  CHECK(left({}) == Issues{10, 20, 30, 995, 999});
}

}  // namespace
}  // namespace offwait
