// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/cpus.h"

#include <catch2/catch.hpp>
#include <string>

namespace offwait {
namespace {

TEST_CASE("a list of CPUs is written as the kernel writes it, and read back") {
  const CpuList cpus = {{0, 3}, {5, 5}, {7, 8191}};
  CHECK(to_string(cpus) == "0-3,5,7-8191");
  CHECK(parse_cpu_list("0-3,5,7-8191") == cpus);
  CHECK(parse_cpu_list("4294967293,4294967295") ==
        CpuList{{4294967293, 4294967293}, {4294967295, 4294967295}});
  CHECK(to_string(CpuList{}).empty());
}

TEST_CASE("what is no list of CPUs is refused") {
  for (const char* text : {"", ",", "1,", "-1", "1-", "3-1", "1,1", "0,1", "2,0", "0-3,4", "0-4,3", "a", "1 ",
                           " 1", "1;2", "4294967296", "1-4294967296", "0--1"}) {
    INFO(text);
    CHECK_FALSE(parse_cpu_list(text));
  }
  std::string most = "0";
  for (std::size_t i = 1; i < kMostCpuRanges; ++i) most += "," + std::to_string(2 * i);
  CHECK(parse_cpu_list(most));
  CHECK_FALSE(parse_cpu_list(most + ",999999"));
}

TEST_CASE("a list contains the CPUs of its ranges") {
  const CpuList cpus = {{1, 2}, {6, 6}};
  for (const std::uint32_t cpu : {1U, 2U, 6U}) CHECK(contains(cpus, cpu));
  for (const std::uint32_t cpu : {0U, 3U, 5U, 7U}) CHECK_FALSE(contains(cpus, cpu));
  CHECK_FALSE(contains({}, 0));
}

}  // namespace
}  // namespace offwait
