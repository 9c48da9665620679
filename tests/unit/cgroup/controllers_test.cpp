// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/controllers.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace offwait {
namespace {

const std::string kV2 = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
const std::string kCpuset = "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";
const std::string kCpu =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

TEST_CASE("a controller is that of cgroup v1 if it is mounted there, else that of v2") {
  REQUIRE(hierarchy_of("cpu", kV2 + kCpuset + kCpu));
  CHECK(hierarchy_of("cpu", kV2 + kCpuset + kCpu)->mount == "/sys/fs/cgroup/cpu,cpuacct");
  CHECK(hierarchy_of("cpu", kV2 + kCpuset + kCpu)->v1);
  REQUIRE(hierarchy_of("cpu", kV2 + kCpuset));
  CHECK(hierarchy_of("cpu", kV2 + kCpuset)->mount == "/sys/fs/cgroup/unified");
  CHECK_FALSE(hierarchy_of("cpu", kV2 + kCpuset)->v1);
  CHECK_FALSE(hierarchy_of("cpu", kCpuset));
  CHECK_FALSE(hierarchy_of("cpu", ""));
}

TEST_CASE("the cgroup of a process is read from /proc/PID/cgroup") {
  const std::string text = "9:name=systemd:/s\n3:cpuset:/x\n1:cpu,cpuacct:/a/b c\n0::/u/v:w\n";
  CHECK(cgroup_for("cpu", text, true) == "/a/b c");
  CHECK(cgroup_for("cpu", text, false) == "/u/v:w");
  CHECK_FALSE(cgroup_for("cpu", "3:cpuset:/x\n", true));
  CHECK_FALSE(cgroup_for("cpu", "3:cpuset:/x\n", false));
  CHECK_FALSE(cgroup_for("cpu", "0::/../other\n", false));
  CHECK_FALSE(cgroup_for("cpu", "0::\n", false));
  CHECK_FALSE(cgroup_for("cpu", "", false));
}

TEST_CASE("a cgroup's ancestors come after it, without the root") {
  CHECK(with_ancestors("/a/b/c") == std::vector<std::string>{"/a/b/c", "/a/b", "/a"});
  CHECK(with_ancestors("/").empty());
  CHECK(with_ancestors("").empty());
  CHECK(with_ancestors("ab").empty());
}

}  // namespace
}  // namespace offwait
