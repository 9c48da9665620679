// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_memory.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/escape.h"

namespace offwait {
namespace {

std::string text_of(const FoundMemory& memory) {
  const Findings findings;
  return memory_text(memory, ActorNames(findings, [](std::string_view name) { return escape(name); }));
}

TEST_CASE("what had been in memory is told with the limit of a cgroup, whose name is escaped") {
  CHECK(
      text_of({"/a\x1b", 62'914'560, 62'910'464, 12'345, false, 184'000'000, 0, 188'000'000}) ==
      "Up to 98% of what the target read from disks (188 MB) had been in memory before, and was dropped: "
      "cgroup /a\\x1b may use 62.9 MB, and reached that 12,345 times. More memory, if all of it fits there, "
      "or less use of it saves these reads; a faster disk makes them shorter.");
}

TEST_CASE("without a limit of a cgroup it is the machine's memory") {
  CHECK(
      text_of({"", 24'000'000'000, 23'100'000'000, 0, true, 0, 5'000'000, 5'000'000})
          .find(
              "Up to 100% of what the target read from disks (5 MB) had been in memory before, and was "
              "dropped, as far as what all programs of the machine read again tells: the machine has 24 GB, "
              "and programs use 23.1 GB of it. ") == 0);
  CHECK(text_of({"", 24'000'000'000, 23'100'000'000, 0, false, 4'000'000, 1'000'000, 0})
            .find("5 MB of what was read from disks had been in memory before, and was dropped: ") == 0);
}

}  // namespace
}  // namespace offwait
