// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/memory_limit.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/temporary_directory.h"

namespace offwait {
namespace {

TEST_CASE("the limit of cgroup v2 is the lower one of memory.max and memory.high") {
  CHECK(parse_memory_limit("62914560\n", "max\n") == 62914560);
  CHECK(parse_memory_limit("max\n", "4096\n") == 4096);
  CHECK(parse_memory_limit("8192\n", "4096\n") == 4096);
  CHECK(parse_memory_limit("max\n", "max\n") == 0);
  CHECK(parse_memory_limit("", "") == 0);
}

TEST_CASE("cgroup v1 writes a number of bytes that no machine has for no limit") {
  CHECK(parse_limit_in_bytes("62914560\n") == 62914560);
  CHECK(parse_limit_in_bytes("9223372036854771712\n") == 0);
  CHECK(parse_limit_in_bytes("-1\n") == 0);
}

TEST_CASE("the files of a cgroup's memory are read by the version of its hierarchy") {
  const test::TemporaryDirectory directory;
  const std::string cgroup = directory / "a";
  std::filesystem::create_directory(cgroup);
  std::ofstream(cgroup + "/memory.max") << "62914560\n";
  std::ofstream(cgroup + "/memory.high") << "max\n";
  std::ofstream(cgroup + "/memory.current") << "62910464\n";
  std::ofstream(cgroup + "/memory.events.local") << "low 0\nhigh 3\nmax 40\noom 1\n";
  std::ofstream(cgroup + "/memory.stat")
      << "anon 4096\nworkingset_refault_anon 2\nworkingset_refault_file 700\n"
         "total_workingset_refault_file 800\n";
  const MemoryReading v2 = read_memory({directory / "", false}, "a");
  CHECK(v2.counts);
  CHECK(v2.limit == 62914560);
  CHECK(v2.used == 62910464);
  CHECK(v2.reached == 43);
  CHECK(v2.refaults == 700);
  CHECK(v2.swapped == 2);
  std::ofstream(cgroup + "/memory.limit_in_bytes") << "8192\n";
  std::ofstream(cgroup + "/memory.usage_in_bytes") << "4096\n";
  std::ofstream(cgroup + "/memory.failcnt") << "9\n";
  const MemoryReading v1 = read_memory({directory / "", true}, "a");
  CHECK(v1.limit == 8192);
  CHECK(v1.used == 4096);
  CHECK(v1.reached == 9);
  CHECK(v1.refaults == 800);  // with the cgroups below
  CHECK(v1.swapped == 0);
  CHECK_FALSE(read_memory({directory / "", false}, "gone").counts);
  std::ofstream(cgroup + "/memory.stat") << "cache 4096\n";  // of a kernel that does not count them
  CHECK_FALSE(read_memory({directory / "", true}, "a").counts);
}

TEST_CASE("the machine's memory is read from /proc/meminfo and /proc/vmstat") {
  const MemoryReading machine =
      machine_memory("MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    250 kB\n",
                     "workingset_refault_anon 5\nworkingset_refault_file 6\n");
  CHECK(machine.counts);
  CHECK(machine.limit == 1000 * 1024);
  CHECK(machine.used == 750 * 1024);
  CHECK(machine.reached == 0);
  CHECK(machine.refaults == 6);
  CHECK(machine.swapped == 5);
  CHECK_FALSE(machine_memory("", "").counts);
}

}  // namespace
}  // namespace offwait
