// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/cpu_quota.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/temporary_directory.h"

namespace offwait {
namespace {

TEST_CASE("cpu.max is a quota and its period, or no limit") {
  const auto limit = parse_cpu_max("50000 100000\n");
  REQUIRE(limit);
  CHECK(limit->quota == 50'000'000);
  CHECK(limit->period == 100'000'000);
  for (const char* text : {"", "max 100000\n", "50000", "0 100000\n", "50000 0\n", "-1 100000\n", "1 2 3\n",
                           "9223372036854775807 100000\n"}) {
    INFO(text);
    CHECK_FALSE(parse_cpu_max(text));
  }
}

TEST_CASE("the quota of cgroup v1 is none if it is -1") {
  const auto limit = parse_cfs_bandwidth("25000\n", "50000\n");
  REQUIRE(limit);
  CHECK(limit->quota == 25'000'000);
  CHECK(limit->period == 50'000'000);
  CHECK_FALSE(parse_cfs_bandwidth("-1\n", "100000\n"));
  CHECK_FALSE(parse_cfs_bandwidth("", ""));
}

TEST_CASE("cpu.stat counts throttled periods; v2 gives µs and v1 ns") {
  const Throttling v2 =
      parse_cpu_stat("usage_usec 5\nnr_periods 100\nnr_throttled 92\nthrottled_usec 4100000\n");
  CHECK(v2.periods == 100);
  CHECK(v2.throttled_periods == 92);
  CHECK(v2.throttled == 4'100'000'000);
  const Throttling v1 = parse_cpu_stat("nr_periods 7\nnr_throttled 6\nthrottled_time 123\n");
  CHECK(v1.periods == 7);
  CHECK(v1.throttled_periods == 6);
  CHECK(v1.throttled == 123);
  const Throttling none = parse_cpu_stat("usage_usec 5\nnr_periods x\nthrottled_usec 9223372036854775807");
  CHECK(none.periods == 0);
  CHECK(none.throttled == 0);
}

TEST_CASE("the files of a cgroup are read by the version of its hierarchy") {
  const test::TemporaryDirectory directory;
  const std::string mount = directory / "";
  const std::string cgroup = directory / "a";
  std::filesystem::create_directory(cgroup);
  std::ofstream(cgroup + "/cpu.max") << "50000 100000\n";
  std::ofstream(cgroup + "/cpu.cfs_quota_us") << "20000\n";
  std::ofstream(cgroup + "/cpu.cfs_period_us") << "100000\n";
  std::ofstream(cgroup + "/cpu.stat")
      << "nr_periods 3\nnr_throttled 2\nthrottled_usec 1\nthrottled_time 1000\n";
  const QuotaReading v2 = read_quota({mount, false}, "/a");
  REQUIRE(v2.limit);
  CHECK(v2.limit->quota == 50'000'000);
  CHECK(v2.throttling.throttled_periods == 2);
  CHECK(v2.throttling.throttled == 1000);
  const QuotaReading v1 = read_quota({mount, true}, "/a");
  REQUIRE(v1.limit);
  CHECK(v1.limit->quota == 20'000'000);
  CHECK_FALSE(read_quota({mount, false}, "/b").limit);
}

}  // namespace
}  // namespace offwait
