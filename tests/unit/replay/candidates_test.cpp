// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/candidates.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "unit/replay/program.h"

using namespace offwait;

TEST_CASE("what runs outside of the target is a candidate only if the target waits for it, or its like do") {
  const auto tries = [](long waits_us, const char* name) {
    test::Program program(100'000);
    program.thread(1, "server");
    program.thread(2, "client", "start=0 exit=- outside=yes");
    program.thread(3, "behind", "start=0 exit=- outside=yes");
    program.wait(1, 1000, 1000 + waits_us, "thread:2", "class=pipe");
    program.wait(2, 50'000, 60'000, "thread:3", "class=pipe");
    const Trace trace = program.trace();
    const ThreadGroups groups = group_threads(trace);
    const WaitKinds kinds = kinds_of_waits(trace, groups);
    const std::vector<Change> tried = candidates_of(trace, groups, kinds, uses_of(trace, groups, kinds), 10);
    return std::any_of(tried.begin(), tried.end(), [&](const Change& change) {
      return change.resource == Resource::cpu && groups.groups[change.group].name == name;
    });
  };
  CHECK(tries(10'000, "server"));
  CHECK(tries(10'000, "client"));
  CHECK(tries(10'000, "behind"));
  CHECK(tries(10, "server"));
  CHECK_FALSE(tries(10, "client"));
  CHECK_FALSE(tries(10, "behind"));
}
