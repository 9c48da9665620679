// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/hierarchy.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

TEST_CASE("cgroup v2 is where mountinfo says, beside v1 or alone") {
  CHECK(cgroup_mount("31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
                     "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
                     "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n") ==
        "/sys/fs/cgroup/unified");
  CHECK(cgroup_mount(
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup rw,nsdelegate\n") ==
        "/sys/fs/cgroup");
  CHECK(cgroup_mount("30 23 0:26 / /a\\040b\\134c rw - cgroup2 none rw") == "/a b\\c");
}

TEST_CASE("where only v1 is mounted there is no cgroup v2") {
  CHECK_FALSE(cgroup_mount("").has_value());
  CHECK_FALSE(cgroup_mount("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n").has_value());
  CHECK_FALSE(cgroup_mount("35 31 0:32 / /x rw - ext4 cgroup2 rw\n35 31 0:32 / /y rw cgroup2").has_value());
}

}  // namespace
}  // namespace offwait
