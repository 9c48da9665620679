// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/what_if.h"

#include <catch2/catch.hpp>

#include "unit/replay/program.h"

using namespace offwait;

TEST_CASE("changes are read as written") {
  const Result<WhatIf> parsed = parse_what_if(
      " disk loop0 /2, comm:rocksdb:low cpu /4,cpus *2 , comm:db* io vda *3,comm:a sleep /1.6 ");
  REQUIRE(parsed.ok());
  CHECK(parsed->asked ==
        "disk loop0 /2, comm:rocksdb:low cpu /4,cpus *2 , comm:db* io vda *3,comm:a sleep /1.6");
  CHECK(parsed->changes == std::vector<NamedChange>{{Resource::disk, "", "loop0", 0.5},
                                                    {Resource::cpu, "rocksdb:low", "", 0.25},
                                                    {Resource::cpus, "", "", 0.5},
                                                    {Resource::io, "db*", "vda", 3},
                                                    {Resource::sleep, "a", "", 1 / 1.6}});
}

TEST_CASE("names of threads may have blanks, and may be words of the language") {
  const Result<WhatIf> parsed =
      parse_what_if("comm:GC  Thread#? cpu /2, comm:cpu cpu /2, comm:disk io io /2, comm: x remote *0.001");
  REQUIRE(parsed.ok());
  CHECK(parsed->changes == std::vector<NamedChange>{{Resource::cpu, "GC  Thread#?", "", 0.5},
                                                    {Resource::cpu, "cpu", "", 0.5},
                                                    {Resource::io, "disk", "io", 0.5},
                                                    {Resource::remote, "x", "", 0.001}});
}

TEST_CASE("what is no change is a usage error that quotes the wrong word and shows a right one") {
  const std::string nothing = "is nothing that can be changed: write 'disk vda /2', 'cpus *2' or ";
  const std::string factor = " stands where a factor is expected: /2 is half of the time, *2 twice as much";
  const std::string number = " is no factor: a number from 0.001 to 1000 follows ";
  const std::string threads =
      " is nothing that threads spend time on: write cpu, sleep, remote, io DISK or threads";
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"", "--what-if names no change: write 'disk vda /2'"},
      {" , ", "--what-if names no change: write 'disk vda /2'"},
      {"disk vda /2, /2", "--what-if '/2': '/2' says how much, but not of what: write 'disk vda /2'"},
      {"disk /2", "--what-if 'disk /2': 'disk' needs the name of a disk behind it, as in 'disk vda /2'"},
      {"disk vda sdb /2", "--what-if 'disk vda sdb /2': 'sdb' is one word too many: write 'disk vda /2'"},
      {"disk vda", "--what-if 'disk vda': 'vda'" + factor},
      {"disk vda 2", "--what-if 'disk vda 2': '2'" + factor},
      {"cpus", "--what-if 'cpus': 'cpus'" + factor},
      {"disk vda /0", "--what-if 'disk vda /0': '/0'" + number + "/, as in /2"},
      {"disk vda /-1", "--what-if 'disk vda /-1': '/-1'" + number},
      {"disk vda /nan", "--what-if 'disk vda /nan': '/nan'" + number},
      {"disk vda /inf", "--what-if 'disk vda /inf': '/inf'" + number},
      {"disk vda /2x", "--what-if 'disk vda /2x': '/2x'" + number},
      {"disk vda *1001", "--what-if 'disk vda *1001': '*1001'" + number + "*, as in *2"},
      {"disk vda /1e999", "--what-if 'disk vda /1e999': '/1e999'" + number},
      {"cpus /", "--what-if 'cpus /': '/'" + number},
      {"cpus *2 cpus *2", "--what-if 'cpus *2 cpus *2': '*2' is one word too many: write 'cpus *2'"},
      {"cpus *2, cpus *2", "--what-if 'cpus *2': this part is changed before already"},
      {"comm: cpu /2", "--what-if 'comm: cpu /2': 'comm:' needs the name of threads behind it"},
      {"comm:a /2", "--what-if 'comm:a /2': 'comm:a' needs cpu, sleep, remote, io DISK or threads behind it"},
      {"comm:a net /2", "--what-if 'comm:a net /2': 'net'" + threads},
      {"comm:a cpu vda /2", "--what-if 'comm:a cpu vda /2': 'vda'" + threads},
      {"service /2", "--what-if 'service /2': 'service' needs where it is asked behind it"},
      {"service a:1 /2, service a:1 /3", "--what-if 'service a:1 /3': this part is changed before already"},
      {"comm:a io /2", "--what-if 'comm:a io /2': 'io' needs the name of a disk behind it"},
      {"rocksdb cpu /2", "--what-if 'rocksdb cpu /2': 'rocksdb' " + nothing}};
  for (const auto& [text, sentence] : mistakes) {
    const Result<WhatIf> parsed = parse_what_if(text);
    INFO(text);
    REQUIRE(!parsed.ok());
    CHECK(parsed.error().exit_status == 2);
    CHECK(parsed.error().message.substr(0, sentence.size()) == sentence);
  }
}

TEST_CASE("there may be 64 changes and no more") {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    text += "disk d" + std::to_string(i) + " /2,";
  }
  REQUIRE(parse_what_if(text).ok());
  CHECK(parse_what_if(text + "cpus *2").error().message == "--what-if takes 64 changes at most");
}

TEST_CASE("services are looked up by where they are asked") {
  test::Program program(1000);
  program.thread(1, "app");
  program.thread(2, "db", "start=0 exit=- outside=yes");
  program.wait(1, 0, 10, "nic:eth0", "class=net peer=service:10.0.0.5:53");
  program.wait(1, 20, 30, "thread:2", "class=net peer=service:[::1]:3306");
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  const auto scenario = [&](const char* text) {
    std::vector<CodeStacks> code;
    return scenario_of(*parse_what_if(text), trace, groups, {}, code);
  };
  CHECK(
      *scenario("service [::1]:3306 /2, service  10.0.0.5:53 *4") ==
      Scenario{{Resource::remote, kNoGroup, kNoActor, 0.5, 1}, {Resource::remote, kNoGroup, kNoActor, 4, 0}});
  CHECK(scenario("service 10.0.0.5 /2").error().message ==
        "--what-if 'service 10.0.0.5 /2': the target does not wait for a service '10.0.0.5'; there are "
        "'10.0.0.5:53'");
  CHECK(*scenario("service [::1]:3306 (db) /2") == Scenario{{Resource::remote, kNoGroup, kNoActor, 0.5, 1}});
}

TEST_CASE("locks are looked up by the names that reports have") {
  const Trace trace = test::Program(1000).trace();
  const ThreadGroups groups = group_threads(trace);
  const std::vector<std::string> locks = {"app::work_mutex (cases)", "lock of LockAcquire",
                                          "lock #2 of get, set"};
  const auto scenario = [&](const char* text) {
    std::vector<CodeStacks> code;
    return scenario_of(*parse_what_if(text), trace, groups, locks, code);
  };
  const auto change = [](Resource resource, double factor, LockId lock) {
    return Change{resource, kNoGroup, kNoActor, factor, kNoService, lock};
  };
  CHECK(*scenario("lock work_mutex /4") == Scenario{change(Resource::held, 0.25, 0)});
  CHECK(*scenario("lock  app::work_mutex (cases)  free") == Scenario{change(Resource::waited, 0, 0)});
  CHECK(*scenario("lock lock of LockAcquire free, lock #2 of get? set *2") ==
        Scenario{change(Resource::waited, 0, 1), change(Resource::held, 2, 2)});
  CHECK(*scenario("lock of * /2") == Scenario{change(Resource::held, 0.5, 1)});
  CHECK(scenario("lock Mutex /2").error().message ==
        "--what-if 'lock Mutex /2': threads waited for no lock 'Mutex'; there are 'app::work_mutex (cases)'");
  CHECK(names_a_lock(*parse_what_if("cpus *2, lock a free")));
  CHECK_FALSE(names_a_lock(*parse_what_if("cpus *2, disk lock /2")));
}

TEST_CASE("patterns and disks are looked up in the trace") {
  test::Program program(1000);
  program.thread(1, "db1");
  program.thread(2, "web");
  program.thread(3, "db2");
  program.wait(1, 0, 10, "disk:vda", "class=disk");
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  REQUIRE(groups.groups.size() == 2);
  const auto scenario = [&](const char* text) {
    std::vector<CodeStacks> code;
    return scenario_of(*parse_what_if(text), trace, groups, {}, code);
  };
  const ActorId vda = 3;
  CHECK(*scenario("disk vda /2, comm:*b* cpu /4, cpus *2") ==
        Scenario{{Resource::disk, kNoGroup, vda, 0.5},
                 {Resource::cpu, 0, kNoActor, 0.25},
                 {Resource::cpu, 1, kNoActor, 0.25},
                 {Resource::cpus, kNoGroup, kNoActor, 0.5}});
  CHECK(*scenario("comm:web io vda *3") == Scenario{{Resource::io, 1, vda, 3}});
  // As reports name them: with their number, or with the id of one of them.
  CHECK(*scenario("comm:web×1 cpu /2") == Scenario{{Resource::cpu, 1, kNoActor, 0.5}});
  CHECK(*scenario("comm:db2/3 cpu /2") == Scenario{{Resource::cpu, 0, kNoActor, 0.5}});
  const auto mistake = [&](const char* text) { return scenario(text).error().message; };
  CHECK(mistake("comm:db9/3 cpu /2") ==
        "--what-if 'comm:db9/3 cpu /2': no recorded thread is called 'db9/3'; there are 'db1', 'db2', 'web'");
  CHECK(mistake("disk sda /2") ==
        "--what-if 'disk sda /2': no recorded disk is called 'sda'; there are 'vda'");
  CHECK(mistake("cpus *2, comm:x* cpu /2") ==
        "--what-if 'cpus *2, comm:x* cpu /2': no recorded thread is called 'x*'; there are 'db1', 'db2', "
        "'web'");
  CHECK(mistake("comm:db2 cpu /2") ==
        "--what-if 'comm:db2 cpu /2': 'db2' is the name of 1 of 2 similar threads, one of them 'db1', and "
        "they are changed together: write a pattern that matches all of them");
}

TEST_CASE("functions are read with what they spend time on, or as a whole") {
  const Result<WhatIf> parsed = parse_what_if(
      "function ns::parse cpu /2, function operator new io *2, function save /4, function cpu /2, function f "
      "sleep /2");
  REQUIRE(parsed.ok());
  CHECK(parsed->changes == std::vector<NamedChange>{{Resource::cpu, "", "", 0.5, "", "ns::parse", false},
                                                    {Resource::io, "", "", 2, "", "operator new", false},
                                                    {Resource::cpu, "", "", 0.25, "", "save", true},
                                                    {Resource::cpu, "", "", 0.5, "", "cpu", true},
                                                    {Resource::sleep, "", "", 0.5, "", "f", false}});
  CHECK(
      parse_what_if("function /2").error().message ==
      "--what-if 'function /2': 'function' needs the name of a function behind it, as in 'function ns::parse "
      "cpu /2'");
}

TEST_CASE("a function is looked up by its name, with argument types or without, or by a pattern") {
  test::Program program(1000);
  program.thread(1, "app");
  program.wait(1, 0, 10, "timer",
               "class=sleep stack=k;__x64_sys_clock_nanosleep;--;nanosleep;ns::f(int,%20long);main");
  program.wait(1, 20, 30, "timer", "class=sleep stack=k;--;nanosleep;ns::g<int>(char);[app%2b0x1a20];main");
  // Functions of others are not offered.
  program.thread(2, "other", "start=0 exit=- outside=yes");
  program.wait(2, 0, 10, "timer", "class=sleep stack=k;--;elsewhere");
  const Trace trace = program.trace();
  const ThreadGroups groups = group_threads(trace);
  std::vector<CodeStacks> code;
  const auto in = [&](const std::string& name) {
    const Result<Scenario> scenario =
        scenario_of(*parse_what_if("function " + name + " sleep /2"), trace, groups, {}, code);
    if (!scenario) FAIL(scenario.error().message);
    REQUIRE(scenario->size() == 1);
    CHECK(scenario->front().resource == Resource::sleep);
    CHECK(scenario->front().factor == 0.5);
    const CodeStacks& stacks = code[scenario->front().code];
    return std::pair(stacks[trace.sites[0].wait_stack], stacks[trace.sites[1].wait_stack]);
  };
  CHECK(in("ns::f") == std::pair(true, false));
  CHECK(in("ns::f(int? long)") == std::pair(true, false));
  CHECK(in("ns::g") == std::pair(false, true));
  CHECK(in("ns::*") == std::pair(true, true));
  CHECK(in("main") == std::pair(true, true));
  CHECK(in("[app+0x1a20]") == std::pair(false, true));
  CHECK(in("clock_nanosleep") == std::pair(true, false));  // a system call
  CHECK(code.size() == 7);
  const Result<Scenario> none = scenario_of(*parse_what_if("function h /2"), trace, groups, {}, code);
  REQUIRE(!none);
  CHECK(none.error().message ==
        "--what-if 'function h /2': no recorded stack has a function 'h'; there are 'main', 'nanosleep', "
        "'ns::f', 'ns::g'");
  const Result<Scenario> whole = scenario_of(*parse_what_if("function main /2"), trace, groups, {}, code);
  REQUIRE(whole);
  CHECK(whole->size() == 5);  // cpu, io, sleep, remote, runnable
}
