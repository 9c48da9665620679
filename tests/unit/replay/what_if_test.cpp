// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/what_if.h"

#include <catch2/catch.hpp>

#include "unit/replay/program.h"

using namespace offwait;

TEST_CASE("changes are read as written") {
  const Result<std::vector<WhatIf>> parsed =
      parse_what_if("disk loop0 /2, comm:rocksdb:low cpu /4,cpus *2 , comm:db* io vda *3,comm:a sleep /1.5");
  REQUIRE(parsed.ok());
  CHECK(*parsed == std::vector<WhatIf>{{Resource::disk, "", "loop0", 0.5},
                                       {Resource::cpu, "rocksdb:low", "", 0.25},
                                       {Resource::cpus, "", "", 0.5},
                                       {Resource::io, "db*", "vda", 3},
                                       {Resource::sleep, "a", "", 1 / 1.5}});
}

TEST_CASE("what is no change is a usage error that shows it") {
  for (const char* const text : {"",
                                 " , ",
                                 "disk /2",
                                 "disk vda",
                                 "disk vda 2",
                                 "disk vda /0",
                                 "disk vda /-1",
                                 "disk vda /nan",
                                 "disk vda /2x",
                                 "disk vda /1e999",
                                 "cpus",
                                 "cpus /",
                                 "comm: cpu /2",
                                 "comm:a /2",
                                 "comm:a net /2",
                                 "comm:a io /2",
                                 "comm:a cpu vda /2",
                                 "rocksdb cpu /2",
                                 "disk vda sdb /2",
                                 "cpus *2 cpus *2"}) {
    const Result<std::vector<WhatIf>> parsed = parse_what_if(text);
    INFO(text);
    REQUIRE(!parsed.ok());
    CHECK(parsed.error().exit_status == 2);
    CHECK(parsed.error().message.starts_with("--what-if"));
  }
}

TEST_CASE("patterns and disks are looked up in the trace") {
  test::Program program(1000);
  program.thread(1, "db1");
  program.thread(2, "web");
  program.wait(1, 0, 10, "disk:vda", "class=disk");
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  const Result<Scenario> scenario =
      scenario_of({{Resource::disk, "", "vda", 0.5}, {Resource::cpu, "*b*", "", 0.25}}, trace, groups);
  REQUIRE(scenario.ok());
  REQUIRE(scenario->size() == 3);
  CHECK((*scenario)[0] == Change{Resource::disk, kNoGroup, 2, 0.5});
  CHECK((*scenario)[1] == Change{Resource::cpu, 0, kNoActor, 0.25});
  CHECK((*scenario)[2] == Change{Resource::cpu, 1, kNoActor, 0.25});
  CHECK(scenario_of({{Resource::disk, "", "sda", 0.5}}, trace, groups).error().message ==
        "--what-if: nobody waited for a disk called sda");
  CHECK(scenario_of({{Resource::cpu, "x*", "", 0.5}}, trace, groups).error().message ==
        "--what-if: no thread's name matches x*");
}
