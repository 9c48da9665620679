// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/nic.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace offwait {
namespace {

constexpr Nanos kTenSeconds = 10'000'000'000;
constexpr Nanos kOneSecond = 1'000'000'000;

Trace with_nic(double received_per_s, double sent_per_s) {
  Trace trace;
  trace.window = {0, kTenSeconds};
  Actor nic;
  nic.kind = ActorKind::nic;
  nic.name = "eth0";
  trace.actors = {nic};
  if (received_per_s > 0) trace.nic_capacities = {{0, received_per_s, sent_per_s, CapacitySource::given}};
  return trace;
}

TEST_CASE("each direction has its own idle time") {
  Trace trace = with_nic(1000, 100);
  trace.nic_counters = {{0, 0, 5000, 0}, {0, 5 * kOneSecond, 7500, 500}, {0, kTenSeconds, 7500, 500}};
  const std::vector<NicUse> uses = nic_use(trace);
  REQUIRE(uses.size() == 1);
  CHECK(uses[0].source == CapacitySource::given);
  CHECK_FALSE(uses[0].capacity_raised);
  CHECK(uses[0].received.bytes == 2500);
  CHECK(uses[0].received.busy_ns == kTenSeconds / 4);  // half of it in half of the time
  CHECK(uses[0].received.idle_ns == kTenSeconds / 4 * 3);
  CHECK(uses[0].sent.bytes == 500);
  CHECK(uses[0].sent.busy_ns == kTenSeconds / 2);
  CHECK(uses[0].sent.idle_ns == kTenSeconds / 2);
}

TEST_CASE("idle is never negative: a capacity is raised to the highest rate seen") {
  Trace trace = with_nic(1000, 100);
  trace.nic_counters = {{0, 0, 0, 0}, {0, kTenSeconds, 40000, 0}};
  const NicUse use = nic_use(trace).at(0);
  CHECK(use.capacity_raised);
  CHECK(use.received.capacity_per_s == 4000);
  CHECK(use.received.idle_ns == 0);
  CHECK(use.sent.capacity_per_s == 100);
  CHECK(use.sent.idle_ns == kTenSeconds);
}

TEST_CASE("a burst in a short interval raises no capacity, and its time is at most busy") {
  Trace trace = with_nic(1000, 1000);
  trace.nic_counters = {{0, 0, 0, 0}, {0, kTenSeconds - 1000, 0, 0}, {0, kTenSeconds, 40000, 0}};
  const NicUse use = nic_use(trace).at(0);
  CHECK_FALSE(use.capacity_raised);
  CHECK(use.received.busy_ns == 1000);
}

TEST_CASE("an interface without a capacity carries bytes, and is neither busy nor idle") {
  Trace trace = with_nic(0, 0);
  trace.nic_counters = {{0, 0, 0, 0}, {0, kTenSeconds, 40000, 10}};
  const NicUse use = nic_use(trace).at(0);
  CHECK_FALSE(use.source.has_value());
  CHECK(use.received.bytes == 40000);
  CHECK(use.received.busy_ns == 0);
  CHECK(use.received.idle_ns == 0);
}

TEST_CASE(
    "intervals that reach out of the window count for their part; counters that went backwards do not") {
  Trace trace = with_nic(1000, 1000);
  trace.window = {kOneSecond, kTenSeconds};
  trace.nic_counters = {{0, 0, 0, 0}, {0, 2 * kOneSecond, 2000, 0}, {0, 3 * kOneSecond, 10, 0}};
  const NicUse use = nic_use(trace).at(0);
  CHECK(use.received.bytes == 1000);
  CHECK(use.received.idle_ns == 0);
  trace.nic_counters.resize(1);
  CHECK(nic_use(trace).empty());
}

TEST_CASE("hostile counters") {
  Trace trace = with_nic(1e-300, 1e300);
  trace.nic_counters = {
      {0, 0, 0, 0}, {0, 1, UINT64_MAX, UINT64_MAX}, {0, kNever - 1, UINT64_MAX, UINT64_MAX}};
  const NicUse use = nic_use(trace).at(0);
  CHECK(use.received.busy_ns + use.received.idle_ns == kTenSeconds);
  CHECK(use.received.idle_ns >= 0);
  CHECK(use.sent.idle_ns >= 0);
}

}  // namespace
}  // namespace offwait
