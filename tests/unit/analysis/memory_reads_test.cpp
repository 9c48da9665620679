// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/memory_reads.h"

#include <catch2/catch.hpp>

#include "unit/analysis/scene.h"

using namespace offwait;
using namespace offwait::test;

namespace {

constexpr std::uint64_t kMachine = 16'000'000'000;

/// A thread that reads 1,000 bytes, and one outside that reads as much.
Trace with_memory(std::vector<MemoryUse> memory) {
  Scene scene;
  const ActorId reader = scene.thread("reader", 11);
  const ActorId other = scene.thread("other", 12, 2);
  scene.trace.actors[other].outside = true;
  const ActorId disk = scene.device(ActorKind::disk, "vda");
  scene.trace.disk_ios = {{reader, disk, 0, kMs, 600, kNoObject, DiskOperation::read},
                          {reader, disk, 0, kMs, 400, kNoObject, DiskOperation::read},
                          {reader, disk, 0, kMs, 5000, kNoObject, DiskOperation::write},
                          {other, disk, 0, kMs, 1000, kNoObject, DiskOperation::read}};
  scene.trace.memory = std::move(memory);
  return scene.trace;
}

}  // namespace

TEST_CASE("what the target read again is told with the limit that its cgroup reached") {
  const auto found = find_memory(with_memory({{"", false, kMachine, 8'000'000'000, 0, 900, 0},
                                              {"/a", true, 60'000, 59'000, 5, 700, 50},
                                              {"/b", false, 0, 10, 0, 100, 0}}));
  REQUIRE(found);
  CHECK(found->cgroup == "/a");
  CHECK(found->limit_bytes == 60'000);
  CHECK(found->used_bytes == 59'000);
  CHECK(found->reached == 5);
  CHECK_FALSE(found->of_all_programs);
  CHECK(found->refault_bytes == 700);
  CHECK(found->swap_bytes == 50);
  CHECK(found->read_bytes == 1000);
  CHECK(found->read_again() == Approx(0.75));
}

TEST_CASE("memory that was swapped to memory was not read from a disk") {
  Trace trace = with_memory({{"/a", true, 60'000, 59'000, 5, 0, 5000}, {"", false, kMachine, 0, 0, 0, 0}});
  trace.objects.resize(1);
  trace.disk_ios[0].file = 0;  // 600 of the 1,000 bytes
  CHECK(find_memory(trace)->swap_bytes == 400);
  trace.disk_ios[1].file = 0;
  CHECK_FALSE(find_memory(trace));
}

TEST_CASE("a limit of a cgroup above is told if the cgroup's own was not reached") {
  std::vector<MemoryUse> memory = {{"", false, kMachine, 0, 0, 900, 0},
                                   {"/a", false, 90'000, 90'000, 7, 800, 0},
                                   {"/a/b", true, 80'000, 10'000, 0, 800, 0},
                                   {"/ab", false, 70'000, 70'000, 9, 10, 0}};
  CHECK(find_memory(with_memory(memory))->cgroup == "/a");
  memory[2].reached = 1;
  CHECK(find_memory(with_memory(memory))->cgroup == "/a/b");
  memory[2].reached = 0;
  memory[1].limit_bytes = 0;  // what was reached is no limit of its own
  CHECK(find_memory(with_memory(memory))->cgroup.empty());
}

TEST_CASE("cgroups of the target add up, each once") {
  const auto found = find_memory(with_memory({{"", false, kMachine, 0, 0, 5000, 0},
                                              {"/a", true, 0, 1'000, 0, 400, 0},
                                              {"/a/b", true, 60'000, 60'000, 3, 300, 0},
                                              {"/c", true, 50'000, 50'000, 8, 200, 0}}));
  REQUIRE(found);
  CHECK(found->refault_bytes == 600);
  CHECK(found->cgroup == "/a/b");
}

TEST_CASE("without a limit that was reached it is the machine's memory, as far as the cgroup read again") {
  const auto found = find_memory(with_memory(
      {{"", false, kMachine, 15'000'000'000, 0, 5000, 0}, {"/a", true, 60'000, 1'000, 0, 300, 0}}));
  REQUIRE(found);
  CHECK(found->cgroup.empty());
  CHECK(found->limit_bytes == kMachine);
  CHECK(found->refault_bytes == 300);
  CHECK_FALSE(found->of_all_programs);
}

TEST_CASE("a target in no cgroup that counts is told what all programs read again") {
  const auto found = find_memory(with_memory({{"", false, kMachine, 15'000'000'000, 0, 5000, 0}}));
  REQUIRE(found);
  CHECK(found->of_all_programs);
  CHECK(found->read_again() == 1);
}

TEST_CASE("nothing is told where nothing was read again, or where it is not known") {
  CHECK_FALSE(find_memory(with_memory({})));
  CHECK_FALSE(
      find_memory(with_memory({{"", false, kMachine, 1, 0, 77, 0}, {"/a", true, 60'000, 59'000, 5, 0, 0}})));
}
