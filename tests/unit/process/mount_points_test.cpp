// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/mount_points.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace offwait {
namespace {

TEST_CASE("mounts are read with their escapes") {
  CHECK(parse_mounts("36 35 98:3 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw\n"
                     "37 35 0:1048575 / /a\\040b\\134\\012\\377 rw - tmpfs x rw\n"
                     "38 35 8:1 / /last") ==
        std::vector<MountPoint>{{98U << 20U | 3, "/mnt1", "/mnt2", "ext3"},
                                {1048575, "/", "/a b\\\n\xff", "tmpfs"},
                                {8U << 20U | 1, "/", "/last", ""}});
}

TEST_CASE("what is no mount is left out, and what is no escape stays") {
  CHECK(parse_mounts("").empty());
  for (const std::string line :
       {"\n", "36", "36 35 98 / /a", "36 35 98: / /a", "36 35 x:1 / /a", "36 35 1:1048576 / /a",
        "36 35 1:-1 / /a", "36 35 1:1 a /a", "36 35 1:1 /  rw", "36 35 1:1x / /a"}) {
    INFO(line);
    CHECK(parse_mounts(line).empty());
  }
  CHECK(parse_mounts("1 1 1:1 / /\\04\\\\08\\999\\400") ==
        std::vector<MountPoint>{{1U << 20U | 1, "/", "/\\04\\\\08\\999\\400", ""}});
}

}  // namespace
}  // namespace offwait
