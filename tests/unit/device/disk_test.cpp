// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/disk.h"

#include <catch2/catch.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace offwait {
namespace {

constexpr ActorId kWriter = 0;
constexpr ActorId kReader = 1;
constexpr ActorId kDisk = 2;
constexpr std::uint64_t kMegabyte = 1'000'000;

// Two threads and one disk of 100 MB/s and 1,000 IO/s.
Trace trace_of(Nanos window_ns) {
  Trace trace;
  trace.window = {0, window_ns};
  trace.actors.resize(3);
  trace.actors[kDisk].kind = ActorKind::disk;
  trace.actors[kDisk].name = "vda";
  trace.capacities.push_back({kDisk, 100e6, 1000, CapacitySource::given});
  return trace;
}

void read_counters(Trace& trace, Nanos at, std::uint64_t bytes, std::uint64_t ios) {
  trace.disk_counters.push_back({kDisk, at, bytes, ios});
}

void io(Trace& trace, Nanos issue, Nanos complete, std::uint64_t bytes, ActorId thread = kWriter) {
  trace.disk_ios.push_back({thread, kDisk, issue, complete, bytes});
}

DiskUse only_use(const Trace& trace) {
  const std::vector<DiskUse> use = disk_use(trace);
  REQUIRE(use.size() == 1);
  CHECK(use[0].disk == kDisk);
  CHECK(use[0].busy_ns + use[0].idle_ns == trace.window.length());
  return use[0];
}

TEST_CASE("an interval is busy by the larger of its two fractions of the capacity") {
  Trace trace = trace_of(2 * kSecond);
  read_counters(trace, 0, 7, 3);
  read_counters(trace, kSecond, 7 + 50 * kMegabyte, 3 + 100);      // 0.5 by bytes, 0.1 by requests
  read_counters(trace, 2 * kSecond, 7 + 51 * kMegabyte, 3 + 900);  // 0.01 by bytes, 0.8 by requests
  const DiskUse use = only_use(trace);
  CHECK(use.busy_ns == 1'300'000'000);
  CHECK(use.bytes == 51 * kMegabyte);
  CHECK(use.ios == 900);
  CHECK_FALSE(use.capacity_raised);
  CHECK(use.capacity.source == CapacitySource::given);
}

TEST_CASE("counters need not be in order, and time they do not cover counts as the rest") {
  Trace trace = trace_of(4 * kSecond);
  read_counters(trace, 3 * kSecond, 75 * kMegabyte, 0);
  read_counters(trace, 1 * kSecond, 0, 0);
  read_counters(trace, 2 * kSecond, 50 * kMegabyte, 0);
  const DiskUse use = only_use(trace);
  CHECK(use.busy_ns == 1'500'000'000);  // 0.5 and 0.25: 0.375 of 4 s
  CHECK(use.bytes == 75 * kMegabyte);
}

TEST_CASE("an interval partly outside the window counts in proportion") {
  Trace trace = trace_of(kSecond);
  trace.window = {10 * kSecond, 11 * kSecond};
  read_counters(trace, 8 * kSecond, 0, 0);
  read_counters(trace, 9 * kSecond, 90 * kMegabyte, 990);  // outside: ignored
  read_counters(trace, 9'750'000'000, 90 * kMegabyte, 990);
  read_counters(trace, 10'250'000'000, 110 * kMegabyte, 993);  // half of 20 MB, 3 IO in 0.5 s: 0.4
  read_counters(trace, 11'250'000'000, 190 * kMegabyte, 993);  // three quarters of 80 MB: 0.8
  const DiskUse use = only_use(trace);
  CHECK(use.busy_ns == 700'000'000);  // 0.25 × 0.4 + 0.75 × 0.8
  CHECK(use.bytes == 70 * kMegabyte);
  CHECK(use.ios == 2);  // 1.5, rounded
}

TEST_CASE("the capacity is raised to the highest rates seen, separately for bytes and requests") {
  Trace trace = trace_of(3 * kSecond);
  read_counters(trace, 0, 0, 0);
  read_counters(trace, kSecond, 200 * kMegabyte, 0);
  read_counters(trace, 2 * kSecond, 200 * kMegabyte, 4000);
  read_counters(trace, 3 * kSecond, 300 * kMegabyte, 5000);
  const DiskUse use = only_use(trace);
  CHECK(use.capacity_raised);
  CHECK(use.capacity.bytes_per_s == 200e6);
  CHECK(use.capacity.ios_per_s == 4000);
  CHECK(use.busy_ns == 2'500'000'000);  // 1, 1, max(0.5, 0.25)
}

TEST_CASE("an interval shorter than 100 ms raises nothing and is busy for no longer than it lasts") {
  Trace trace = trace_of(1'099'999'999);
  read_counters(trace, 0, 0, 0);
  read_counters(trace, 99'999'999, 50 * kMegabyte, 0);
  read_counters(trace, 1'099'999'999, 100 * kMegabyte, 0);
  const DiskUse use = only_use(trace);
  CHECK_FALSE(use.capacity_raised);
  CHECK(use.capacity.bytes_per_s == 100e6);
  CHECK(use.busy_ns == 599'999'999);

  Trace longer = trace_of(1'100'000'000);
  read_counters(longer, 0, 0, 0);
  read_counters(longer, 100'000'000, 50 * kMegabyte, 0);
  read_counters(longer, 1'100'000'000, 100 * kMegabyte, 0);
  CHECK(only_use(longer).capacity.bytes_per_s == 500e6);
}

TEST_CASE("an interval whose counters go backwards is counted from the requests") {
  Trace trace = trace_of(2 * kSecond);
  read_counters(trace, 0, 900 * kMegabyte, 100);
  read_counters(trace, kSecond, 5 * kMegabyte, 200);  // a 32-bit counter came round
  read_counters(trace, 2 * kSecond, 25 * kMegabyte, 200);
  io(trace, 100'000'000, 900'000'000, 30 * kMegabyte);
  const DiskUse use = only_use(trace);
  CHECK(use.bytes == 50 * kMegabyte);
  CHECK(use.ios == 1);
  CHECK(use.busy_ns == 500'000'000);  // 0.3 from the request, 0.2 from the counters
  // Nor do the counters say anything if only the requests go backwards.
  trace.disk_counters[1] = {kDisk, kSecond, 905 * kMegabyte, 50};
  trace.disk_counters[2] = {kDisk, 2 * kSecond, 925 * kMegabyte, 50};
  CHECK(only_use(trace).busy_ns == 500'000'000);
}

TEST_CASE("a disk without counters is counted from its requests") {
  Trace trace = trace_of(kSecond);
  io(trace, -5, 0, 99 * kMegabyte);  // completed before the window
  io(trace, 0, 400'000'000, 10 * kMegabyte);
  io(trace, 200'000'000, 500'000'000, 10 * kMegabyte, kNoActor);
  io(trace, 950'000'000, kNever, 10 * kMegabyte);  // not complete
  const DiskUse use = only_use(trace);
  CHECK(use.bytes == 20 * kMegabyte);
  CHECK(use.ios == 2);
  CHECK(use.busy_ns == 200'000'000);
  // One reading makes no interval, and the counters of another disk do not matter.
  read_counters(trace, 0, 0, 0);
  trace.disk_counters.push_back({kWriter, kSecond, 900 * kMegabyte, 0});
  CHECK(only_use(trace).busy_ns == 200'000'000);
}

TEST_CASE("time without a request in flight is idle in any case") {
  Trace trace = trace_of(kSecond);
  io(trace, 0, 100'000'000, 40 * kMegabyte);
  io(trace, 50'000'000, 150'000'000, 40 * kMegabyte);
  io(trace, 900'000'000, 950'000'000, 0);
  CHECK(only_use(trace).busy_ns == 200'000'000);  // 0.8 by bytes, but in flight for 0.2 s
  read_counters(trace, 0, 0, 0);
  read_counters(trace, kSecond, 80 * kMegabyte, 3);
  CHECK(only_use(trace).busy_ns == 200'000'000);
  // In two intervals: the first request reaches into the second one.
  trace.disk_counters = {{kDisk, 0, 0, 0}, {kDisk, 100'000'000, 1, 1}, {kDisk, kSecond, 90 * kMegabyte, 2}};
  CHECK(only_use(trace).busy_ns == 101'000'000);  // 1 IO: 1 ms; then 0.05 s + 0.05 s in flight
}

TEST_CASE("without known requests a disk's use is that of its counters") {
  Trace trace = trace_of(2 * kSecond);
  read_counters(trace, 0, 0, 0);
  read_counters(trace, kSecond, 50 * kMegabyte, 0);
  read_counters(trace, 2 * kSecond, 100 * kMegabyte, 0);
  io(trace, 0, 200'000'000, 1);
  CHECK(only_use(trace).busy_ns == 700'000'000);  // 0.2 s in flight; 0.5 s by bytes
}

TEST_CASE("a disk without a capacity has the one assumed for an SSD, and is idle if it is not used") {
  Trace trace = trace_of(kSecond);
  trace.capacities.clear();
  DiskUse use = only_use(trace);
  CHECK(use.capacity.bytes_per_s == 500e6);
  CHECK(use.capacity.source == CapacitySource::assumed);
  CHECK(use.idle_ns == kSecond);
  trace.capacities.push_back({kDisk, 0, 100, CapacitySource::given});
  use = only_use(trace);
  CHECK(use.capacity.ios_per_s == 50'000);
  CHECK(use.capacity.source == CapacitySource::assumed);
  trace.window = {5, 5};
  CHECK(only_use(trace).idle_ns == 0);
}

TEST_CASE("every disk has an entry, in order of id") {
  Trace trace = trace_of(kSecond);
  trace.actors.resize(5);
  trace.actors[4].kind = ActorKind::disk;
  trace.actors[3].kind = ActorKind::nic;
  const std::vector<DiskUse> use = disk_use(trace);
  REQUIRE(use.size() == 2);
  CHECK(use[0].disk == 2);
  CHECK(use[1].disk == 4);
}

TEST_CASE("the longest window there is") {
  Trace trace = trace_of(std::numeric_limits<Nanos>::max());
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  read_counters(trace, 0, 0, 0);
  read_counters(trace, 200'000'000, kMost, kMost);
  io(trace, 0, kNever, kMost);
  io(trace, 0, kNever, kMost, kReader);
  const DiskUse use = only_use(trace);
  CHECK(use.busy_ns == trace.window.length());
  CHECK(use.bytes == kMost);
  std::vector<DiskUse> idle{use};
  idle[0].idle_ns = trace.window.length();
  const std::vector<Edge> edges = idle_edges(trace, idle);
  REQUIRE(edges.size() == 2);
  CHECK(edges[0].wait_ns - edges[1].wait_ns == 1);
}

TEST_CASE("a disk with 16 requests in flight is busy, whatever its capacity") {
  Trace trace = trace_of(kSecond);
  for (int i = 0; i < 16; ++i) io(trace, i, 600'000'000 + i, 512, i % 2 == 0 ? kWriter : kReader);
  CHECK(only_use(trace).busy_ns == 600'000'000 - 15);
  io(trace, 0, kSecond, 512);
  CHECK(only_use(trace).busy_ns == 600'000'001 - 14);
  trace.disk_ios.pop_back();
  trace.disk_ios.pop_back();
  CHECK(only_use(trace).busy_ns == 15'000'000);  // 15 of 1,000 IO/s
}

TEST_CASE("a disk's requests are summed by thread") {
  Trace trace = trace_of(kSecond);
  io(trace, 0, 100'000'000, 4096, kReader);
  io(trace, -200'000'000, 200'000'000, 8192, kWriter);
  io(trace, 900'000'000, kNever, 1024, kReader);
  io(trace, 1, 1, 0, kNoActor);
  io(trace, -9, -5, 77, kReader);
  io(trace, kSecond, kSecond + 1, 77, kReader);
  const DiskUse use = only_use(trace);
  REQUIRE(use.users.size() == 3);
  CHECK(use.users[0].thread == kWriter);
  CHECK(use.users[0].bytes == 8192);
  CHECK(use.users[0].ios == 1);
  CHECK(use.users[0].service_ns == 200'000'000);
  CHECK(use.users[1].thread == kReader);
  CHECK(use.users[1].bytes == 5120);
  CHECK(use.users[1].ios == 2);
  CHECK(use.users[1].service_ns == 200'000'000);
  CHECK(use.users[2].thread == kNoActor);
  REQUIRE(use.activity.has_value());
  CHECK(use.activity->ios == 3);  // 100 ms, 200 ms of 400 ms, and 0; 100 ms of one that is not complete
  CHECK(use.activity->bytes == 12288);
  CHECK(use.activity->each_ns() == Approx(400e6 / 3));
  CHECK(use.activity->in_flight(trace.window) == Approx(0.4));
  CHECK(use.activity->under_way_ns == 300'000'000);
  CHECK(use.activity->in_flight_while_busy() == Approx(4.0 / 3));
}

TEST_CASE("what was under way is not known if the counters show requests and the tracepoints none") {
  Trace trace = trace_of(kSecond);
  read_counters(trace, 0, 0, 0);
  read_counters(trace, kSecond, 4096, 1);
  CHECK_FALSE(only_use(trace).activity.has_value());
  trace.disk_counters.back().ios = 0;
  trace.disk_counters.back().bytes = 0;
  REQUIRE(only_use(trace).activity.has_value());
  CHECK(only_use(trace).activity->under_way_ns == 0);
}

TEST_CASE(
    "a request whose completion was not seen is left out of what was under way, but not of the idle time") {
  Trace trace = trace_of(kSecond);
  read_counters(trace, 0, 0, 0);
  read_counters(trace, kSecond, 8192, 2);
  io(trace, 500'000'000, 600'000'000, 4096);
  const DiskUse before = only_use(trace);
  io(trace, 100'000'000, kNever, 4096);
  const DiskUse use = only_use(trace);
  CHECK(use.unseen == 1);
  CHECK(use.activity->under_way_ns == 100'000'000);
  CHECK(use.users[0].ios == 1);
  CHECK(use.idle_ns == before.idle_ns);
}

DiskCheck check_of(const Trace& trace) {
  const DiskUse use = only_use(trace);
  REQUIRE(use.check.has_value());
  return *use.check;
}

TEST_CASE("counters and tracepoints are compared, in requests and in bytes") {
  Trace trace = trace_of(2 * kSecond);
  CHECK_FALSE(only_use(trace).check.has_value());
  for (int i = 0; i < 100; ++i) io(trace, 10'000'000 * i, 10'000'000 * i + 5'000'000, 1000);
  CHECK_FALSE(only_use(trace).check.has_value());
  read_counters(trace, 0, 500, 50);
  CHECK_FALSE(only_use(trace).check.has_value());
  read_counters(trace, kSecond, 500 + 102 * 1000, 152);
  CHECK(check_of(trace).counted_ios == 102);
  CHECK(check_of(trace).counted_bytes == 102'000);
  CHECK(check_of(trace).seen_ios == 100);
  CHECK(check_of(trace).seen_bytes == 100'000);
  CHECK_FALSE(check_of(trace).mismatch);  // 2 of 102
  trace.disk_counters[1] = {kDisk, kSecond, 500 + 103 * 1000, 152};
  CHECK(check_of(trace).mismatch);  // bytes
  trace.disk_counters[1] = {kDisk, kSecond, 500 + 100 * 1000, 153};
  CHECK(check_of(trace).mismatch);  // requests
  trace.disk_counters[1] = {kDisk, kSecond, 500, 50};
  CHECK(check_of(trace).mismatch);  // a disk that does not count
  trace.disk_counters[1] = {kDisk, kSecond, 500 + 97 * 1000, 147};
  CHECK(check_of(trace).mismatch);
}

TEST_CASE("one request more or less is no mismatch, however few there were") {
  Trace trace = trace_of(2 * kSecond);
  for (int i = 0; i < 10; ++i) io(trace, 10'000'000 * i + 5'000'000, 10'000'000 * i + 9'000'000, 1000);
  for (const int counted : {8, 9, 10, 11, 12}) {
    const auto ios = static_cast<std::uint64_t>(counted);
    trace.disk_counters = {{kDisk, 0, 0, 0}, {kDisk, kSecond, 1000 * ios, ios}};
    CHECK(check_of(trace).mismatch == (counted == 8 || counted == 12));
  }
}

TEST_CASE("what was in flight when the counters were read, or completed just then, is no mismatch") {
  Trace trace = trace_of(2 * kSecond);
  for (int i = 0; i < 100; ++i) io(trace, 10'000'000 * i, 10'000'000 * i + 5'000'000, 1000);
  trace.disk_counters = {{kDisk, 0, 0, 0, 4}, {kDisk, kSecond, 104'000, 104, 0}};
  CHECK_FALSE(check_of(trace).mismatch);  // four were submitted before the first reading
  trace.disk_counters[1].ios = 105;
  CHECK(check_of(trace).mismatch);
  trace.disk_counters = {{kDisk, 0, 0, 0, 0}, {kDisk, kSecond, 97'000, 97, 0}};
  CHECK(check_of(trace).mismatch);
  for (int i = 0; i < 3; ++i) io(trace, 990'000'000, kSecond + 1'100'000, 1000);
  CHECK(check_of(trace).mismatch);
  trace.disk_ios.resize(97);
  for (int i = 0; i < 3; ++i) io(trace, 990'000'000, kSecond - 900'000, 1000);
  CHECK_FALSE(check_of(trace).mismatch);
}

TEST_CASE("counters that went backwards are not compared") {
  Trace trace = trace_of(2 * kSecond);
  for (int i = 0; i < 100; ++i) io(trace, 20'000'000 * i, 20'000'000 * i + 5'000'000, 1000);
  trace.disk_counters = {{kDisk, 0, 900, 900}, {kDisk, kSecond, 0, 0}, {kDisk, 2 * kSecond, 50'000, 50}};
  CHECK(check_of(trace).seen_ios == 50);
  CHECK(check_of(trace).counted_ios == 50);
  CHECK_FALSE(check_of(trace).mismatch);
}

std::vector<DiskUse> idle_for(Nanos idle_ns) {
  DiskUse use;
  use.disk = kDisk;
  use.idle_ns = idle_ns;
  return {use};
}

TEST_CASE("idle time is split by bytes and sums to the nanosecond") {
  Trace trace = trace_of(kSecond);
  trace.actors.resize(4);
  io(trace, 0, 10, 4096, kWriter);
  io(trace, 10, 20, 4096, kWriter);
  io(trace, 0, 10, 4096, kReader);
  io(trace, 0, 10, 0, 3);  // a flush: 512
  const std::vector<Edge> edges = idle_edges(trace, idle_for(1000));
  REQUIRE(edges.size() == 3);
  // 1000 × (8192, 4096, 512) ÷ 12800 = 640, 320, 40.
  CHECK(edges[0].from == kDisk);
  CHECK(edges[0].to == kWriter);
  CHECK(edges[0].wait_ns == 640);
  CHECK(edges[0].weight_ns == 640);
  CHECK(edges[0].waits == 2);
  CHECK(edges[0].stacks.empty());
  CHECK(edges[0].class_wait_ns == std::array<Nanos, kWaitClasses>{});
  CHECK(edges[1].to == kReader);
  CHECK(edges[1].wait_ns == 320);
  CHECK(edges[2].to == 3);
  CHECK(edges[2].wait_ns == 40);
}

TEST_CASE("the shares with the largest remainders get the rest, the smaller id first among equal ones") {
  Trace trace = trace_of(kSecond);
  trace.actors.resize(4);
  io(trace, 0, 10, 1, kWriter);
  io(trace, 0, 10, 1, kReader);
  io(trace, 0, 10, 5, 3);
  // 10 × (1, 1, 5) ÷ 7 = 1 3/7, 1 3/7, 7 1/7.
  const std::vector<Edge> edges = idle_edges(trace, idle_for(10));
  REQUIRE(edges.size() == 3);
  CHECK(edges[0].wait_ns == 2);
  CHECK(edges[1].wait_ns == 1);
  CHECK(edges[2].wait_ns == 7);
}

// The writer keeps `depth` requests of 100 ns under way: it waits until one is done, and sends another at
// once.
Trace rolling(int depth, bool any_request) {
  Trace trace = trace_of(100'000);
  trace.sites = {{kWriter, kDisk, WaitClass::disk}};
  trace.sites[0].any_request = any_request;
  const Nanos spacing = 100 / depth;
  for (int i = 0; i < 100; ++i) {
    const Nanos issue = 1000 + i * spacing;
    io(trace, issue, issue + 100, 4096);
    if (i >= depth) {
      trace.waits.push_back({0, kNoObject, issue - spacing, issue, issue});
    }
  }
  io(trace, 0, 10, 4096, kReader);
  return trace;
}

TEST_CASE("a disk does not wait for a thread that keeps several requests under way") {
  for (const auto& [depth, edges] :
       std::vector<std::pair<int, std::size_t>>{{1, 2}, {2, 2}, {4, 1}, {20, 1}}) {
    CAPTURE(depth);
    const std::vector<Edge> found = idle_edges(rolling(depth, true), idle_for(1010));
    REQUIRE(found.size() == edges);
    // The shares of the other threads do not change.
    CHECK(found.back().to == kReader);
    CHECK(found.back().wait_ns == 10);
  }
}

TEST_CASE("a thread that waits for all of its many requests, as fsync does, has an idle edge") {
  CHECK(idle_edges(rolling(20, false), idle_for(1010)).size() == 2);
}

TEST_CASE("which of a thread's waits took more time decides") {
  Trace trace = rolling(20, true);
  trace.sites.push_back({kWriter, kDisk, WaitClass::disk});
  Nanos any = 0;
  for (const Wait& wait : trace.waits) {
    any += wait.wake - wait.block;
  }
  trace.waits.push_back({1, kNoObject, 50'000, 50'000 + any - 1, 50'000 + any});
  CHECK(idle_edges(trace, idle_for(1010)).size() == 1);
  trace.waits.back().wake += 1;
  CHECK(idle_edges(trace, idle_for(1010)).size() == 2);
}

TEST_CASE("a thread that does not wait for the disk has its share, whatever is under way") {
  Trace trace = rolling(20, true);
  trace.waits.clear();
  CHECK(idle_edges(trace, idle_for(1010)).size() == 2);
}

TEST_CASE("a thread that did not use the disk in the window has no idle edge") {
  Trace trace = trace_of(kSecond);
  CHECK(idle_edges(trace, idle_for(1000)).empty());
  io(trace, -20, -10, 4096, kReader);
  io(trace, kSecond, 2 * kSecond, 4096, kReader);
  io(trace, 0, 10, 4096, kNoActor);
  CHECK(idle_edges(trace, idle_for(1000)).empty());
  io(trace, -20, 10, 4096, kWriter);
  const std::vector<Edge> edges = idle_edges(trace, idle_for(1000));
  REQUIRE(edges.size() == 1);
  CHECK(edges[0].to == kWriter);
  CHECK(edges[0].wait_ns == 1000);
  CHECK(idle_edges(trace, idle_for(0)).empty());
}

}  // namespace
}  // namespace offwait
