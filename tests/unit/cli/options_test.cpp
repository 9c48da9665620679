// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

namespace offwait {
namespace {

using Words = std::vector<std::string>;
using Pids = std::vector<std::int32_t>;

std::variant<Options, Exit> parse(const Words& words) {
  std::vector<const char*> argv = {"/usr/bin/offwait"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

Options good(const Words& words) {
  const auto parsed = parse(words);
  if (const Exit* exit = std::get_if<Exit>(&parsed)) FAIL(exit->text);
  return std::get<Options>(parsed);
}

/// The message about a wrong command line, without what all of them have.
std::string wrong(const Words& words) {
  const auto parsed = parse(words);
  const Exit* exit = std::get_if<Exit>(&parsed);
  REQUIRE(exit != nullptr);
  CHECK(exit->status == 2);
  const std::string head = "offwait: ";
  const std::string tail = " (see offwait --help)\n";
  REQUIRE(exit->text.size() > head.size() + tail.size());
  CHECK(exit->text.substr(0, head.size()) == head);
  CHECK(exit->text.substr(exit->text.size() - tail.size()) == tail);
  std::string message = exit->text.substr(head.size(), exit->text.size() - head.size() - tail.size());
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

std::string text_of(const Words& words) {
  const auto parsed = parse(words);
  const Exit* exit = std::get_if<Exit>(&parsed);
  REQUIRE(exit != nullptr);
  CHECK(exit->status == 0);
  return exit->text;
}

TEST_CASE("a target alone: everything else as documented") {
  const Options options = good({"-p", "1234"});
  CHECK(options.command == Command::profile);
  CHECK(options.pids == Pids{1234});
  CHECK(options.tid == 0);
  CHECK_FALSE(options.duration.has_value());
  CHECK(options.stacks);
  CHECK(options.sample_hz == 99);
  CHECK(options.json.empty());
  CHECK(options.min_weight.is_part);
  CHECK(options.min_weight.part == 0.20);
  CHECK(options.noise.is_part);
  CHECK(options.noise.part == 0.01);
  CHECK(options.merge);
  CHECK(options.disk_capacities.empty());
  CHECK_FALSE(options.keep_false_wakeups);
  CHECK(options.spins.empty());
  CHECK_FALSE(options.explain);
  CHECK_FALSE(options.full_stacks);
  CHECK(options.verbosity == 0);
  CHECK_FALSE(options.quiet);
}

TEST_CASE("every option of the profile command") {
  const Options options = good({"--pid=7",
                                "-d",
                                "1m30s",
                                "--no-stacks",
                                "--json",
                                "out.json",
                                "--min-weight",
                                "500ms",
                                "--noise",
                                "2%",
                                "--no-merge",
                                "--disk-capacity",
                                "vda=500M,50k",
                                "--disk-capacity",
                                "sda=1M,150",
                                "--explain",
                                "--full-stacks",
                                "--java",
                                "--debuginfod",
                                "-vv",
                                "-q",
                                "--keep-false-wakeups",
                                "--spin",
                                "tas_lock,tas_unlock",
                                "--spin",
                                "spin"});
  CHECK(options.command == Command::profile);
  CHECK(options.pids == Pids{7});
  CHECK(options.duration == 90 * kSecond);
  CHECK_FALSE(options.stacks);
  CHECK(options.json == "out.json");
  CHECK_FALSE(options.min_weight.is_part);
  CHECK(options.min_weight.duration == kSecond / 2);
  CHECK(options.noise.is_part);
  CHECK(options.noise.part == Approx(0.02));
  CHECK_FALSE(options.merge);
  CHECK(options.keep_false_wakeups);
  REQUIRE(options.spins.size() == 2);
  CHECK(options.spins[0].lock == "tas_lock");
  CHECK(options.spins[0].unlock == "tas_unlock");
  CHECK(options.spins[1].lock == "spin");
  CHECK(options.spins[1].unlock.empty());
  for (const char* bad : {"", "a,", ",b", "a,b,c"}) {
    CHECK(
        wrong({"-p", "1", "--spin", bad}).find("bad --spin '" + std::string(bad) + "': expected FUNCTION") !=
        std::string::npos);
  }
  REQUIRE(options.disk_capacities.size() == 2);
  CHECK(options.disk_capacities[0].disk == "vda");
  CHECK(options.disk_capacities[0].bytes_per_s == 500e6);
  CHECK(options.disk_capacities[0].ios_per_s == 50e3);
  CHECK(options.disk_capacities[1].disk == "sda");
  CHECK(options.disk_capacities[1].ios_per_s == 150);
  CHECK(options.explain);
  CHECK(options.full_stacks);
  CHECK(options.java);
  CHECK(options.debuginfod);
  CHECK(options.verbosity == 2);
  CHECK(options.quiet);
}

TEST_CASE("the rate of samples is bounded, and 0 is none") {
  CHECK(good({"-p", "1", "--sample-hz", "9999"}).sample_hz == 9999);
  CHECK(good({"dump", "-p", "1", "--sample-hz=0"}).sample_hz == 0);
  for (const char* bad : {"10000", "-1", "", "99Hz", "4294967297"}) {
    CHECK(wrong({"-p", "1", "--sample-hz", bad}) ==
          "bad rate '" + std::string(bad) + "': expected samples a second from 1 to 9999, or 0 for none");
  }
}

TEST_CASE("folded stacks: one kind and one weight, to a file or instead of the text") {
  Options options = good({"-p", "1", "--folded", "f.txt"});
  CHECK(options.folded == "f.txt");
  CHECK(options.folded_kind == FoldedKind::off_cpu);
  CHECK(options.folded_weight == FoldedWeight::wait);
  options = good({"report", "w.txt", "--folded", "-", "--folded-kind", "off-wake", "--folded-weight",
                  "weight", "--json", "j.json"});
  CHECK(options.folded == "-");
  CHECK(options.folded_kind == FoldedKind::off_wake);
  CHECK(options.folded_weight == FoldedWeight::weight);
  CHECK(good({"-p", "1", "--folded", "f", "--folded-kind", "on-cpu"}).folded_kind == FoldedKind::on_cpu);
  CHECK(wrong({"-p", "1", "--folded", "f", "--folded-kind", "cpu"}) ==
        "bad kind 'cpu': expected off-cpu, off-wake or on-cpu");
  CHECK(wrong({"-p", "1", "--folded", "f", "--folded-weight", "count"}) ==
        "bad weight 'count': expected wait or weight");
  CHECK(wrong({"-p", "1", "--folded-kind", "on-cpu"}) == "--folded-kind requires --folded");
  CHECK(wrong({"report", "w.txt", "--folded", "-", "--json", "-"}) ==
        "--json - and --folded - both want standard output: write one of them to a file");
}

TEST_CASE("long and short forms are the same") {
  CHECK(good({"-p1"}).pids == Pids{1});
  CHECK(good({"--pid", "1"}).pids == Pids{1});
  CHECK(good({"-t", "5"}).tid == 5);
  CHECK(good({"--tid=5"}).tid == 5);
  CHECK(good({"-t", "5"}).pids.empty());
  CHECK(good({"-p", "1", "-d90"}).duration == 90 * kSecond);
  CHECK(good({"-p", "1", "--duration", "500ms"}).duration == kSecond / 2);
  CHECK(good({"-p", "1", "--verbose", "--quiet"}).verbosity == 1);
  CHECK(good({"-p", "2147483647"}).pids == Pids{2147483647});
}

TEST_CASE("report reads a file and takes every option of the analysis") {
  Options options = good({"report", "w.txt"});
  CHECK(options.command == Command::report);
  CHECK(options.input == "w.txt");
  CHECK(good({"report", "-"}).input == "-");
  options = good({"report", "--json", "-", "--min-weight", "5%", "--noise", "1ms", "--no-merge",
                  "--disk-capacity", "vda=1,2", "w.txt", "--explain", "-v", "-q"});
  CHECK(options.input == "w.txt");
  CHECK(options.json == "-");
  CHECK(options.min_weight.part == Approx(0.05));
  CHECK(options.noise.duration == 1'000'000);
  CHECK_FALSE(options.merge);
  CHECK(options.disk_capacities.size() == 1);
  CHECK(options.explain);
  CHECK(options.verbosity == 1);
  CHECK(options.quiet);
  CHECK(good({"report", "--", "-odd-name"}).input == "-odd-name");
}

TEST_CASE("doctor needs no target") {
  CHECK(good({"doctor"}).command == Command::doctor);
  CHECK(good({"doctor"}).json.empty());
  CHECK(good({"doctor", "--json"}).json == "-");
  wrong({"doctor", "-p", "1"});
}

TEST_CASE("a cgroup or the whole system can be recorded") {
  CHECK(good({"-c", "system.slice/x.service"}).cgroup == "system.slice/x.service");
  CHECK(good({"dump", "--cgroup", "/"}).cgroup == "/");
  CHECK(good({"--unit", "redis", "-d", "1"}).unit == "redis");
  CHECK(good({"dump", "--container", "4f1a"}).container == "4f1a");
  CHECK(good({"-a"}).all);
  CHECK(good({"--all", "-d", "1"}).cgroup.empty());
}

TEST_CASE("calibrate measures a disk and records nothing") {
  Options options = good({"calibrate", "/dev/vda"});
  CHECK(options.command == Command::calibrate);
  CHECK(options.input == "/dev/vda");
  CHECK_FALSE(options.duration.has_value());
  CHECK(options.file_bytes == 1'000'000'000);
  CHECK_FALSE(options.quiet);
  options = good({"calibrate", "-d", "500ms", "--size", "64M", "-q", "/mnt"});
  CHECK(options.duration == kSecond / 2);
  CHECK(options.file_bytes == 64'000'000);
  CHECK(options.quiet);
  CHECK(good({"calibrate", "/", "--size", "1000G"}).file_bytes == 1'000'000'000'000);
  for (const char* bad :
       {"", "M", "1", "1T", "-8M", "7M", "1001G", "99999999999999999999G", "64 M", "64MB"}) {
    CHECK(wrong({"calibrate", "/", "--size", bad}) ==
          "bad size '" + std::string(bad) + "': expected something like 256M or 1G, from 8M to 1000G");
  }
  wrong({"calibrate"});
  wrong({"calibrate", "/", "-p", "1"});
  wrong({"-p", "1", "calibrate", "/"});
}

TEST_CASE("dump records and takes no option of the analysis") {
  const Options options = good({"dump", "-t", "8", "-d", "2", "-o", "w.txt", "--no-stacks", "-q"});
  CHECK(options.command == Command::dump);
  CHECK(options.tid == 8);
  CHECK(options.duration == 2 * kSecond);
  CHECK(options.output == "w.txt");
  CHECK_FALSE(options.stacks);
  CHECK(options.quiet);
  CHECK(good({"dump", "-p", "8"}).output == "-");
  CHECK(wrong({"dump", "-p", "8", "--explain"}) == "The following argument was not expected: --explain");
  CHECK(wrong({"dump", "-p", "8", "--json", "x"}).find("--json") != std::string::npos);
}

TEST_CASE("each wrong command line has its own sentence") {
  CHECK(wrong({}) ==
        "say what to record: -p PID, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  CHECK(wrong({"-d", "10"}) ==
        "say what to record: -p PID, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  CHECK(wrong({"dump"}) ==
        "say what to record: -p PID, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  CHECK(wrong({"-p", "1", "-t", "1"}) == "-p and -t each say what to record: choose one");
  CHECK(wrong({"dump", "-c", "x", "-t", "1"}) == "-t and -c each say what to record: choose one");
  CHECK(wrong({"-a", "-c", "x", "-p", "1"}) == "-p and -c each say what to record: choose one");
  CHECK(wrong({"--unit", "a", "--container", "b"}) ==
        "--unit and --container each say what to record: choose one");
  CHECK(wrong({"--container", ""}) == "the name of a container is empty");
  CHECK(wrong({"-c", ""}) == "the name of a cgroup is empty");
  CHECK(wrong({"-p"}) == "--pid: 1 required PID[,PID...] missing");
  CHECK(wrong({"-p", "1", "-p", "2"}) == "--pid: At Most 1 required but received 2");
  CHECK(wrong({"report"}) == "FILE is required");
  CHECK(wrong({"report", "a", "b"}) == "The following argument was not expected: b");
  CHECK(wrong({"frob"}) == "unexpected 'frob': to run a program and record it, write -- before it");
  CHECK(wrong({"-p", "1", "--frob"}) == "The following argument was not expected: --frob");
  CHECK(wrong({"-p", "1", "-d", "5 s"}) ==
        "bad duration '5 s': expected something like 90, 90s, 1m30s or 500ms, at most 24h");
  CHECK(wrong({"-p", "1", "--min-weight", "120%"}) ==
        "bad threshold '120%': expected a part of the window like 20%, or a duration like 500ms");
  CHECK(wrong({"-p", "1", "--noise", "x"}) ==
        "bad threshold 'x': expected a part of the window like 20%, or a duration like 500ms");
  CHECK(wrong({"-p", "1", "--nic-capacity", "eth0"}) ==
        "interface capacity 'eth0': has no '='; it must be NAME=BITS/s or NAME=RECEIVED,SENT, for example "
        "eth0=10G or eth0=1G,100M");
  CHECK(wrong({"-p", "1", "--disk-capacity", "vda"}) ==
        "disk capacity 'vda': has no '='; it must be NAME=BYTES/s,IO/s, for example vda=500M,50k");
  CHECK(wrong({"report", "x", "--disk-capacity", "vda"}) ==
        "disk capacity 'vda': has no '='; it must be NAME=BYTES/s,IO/s, for example vda=500M,50k");
}

TEST_CASE("the number of a process is a whole number above 0") {
  for (const std::string text :
       {"abc", "0", "-5", "1.5", "1x", "0x10", " 1", "2147483648", "99999999999999999999"}) {
    for (const std::string option : {"--pid=", "--tid="}) {
      CHECK(wrong({option + text}) ==
            "bad number of a process or thread '" + text + "': expected a whole number from 1 to 2147483647");
    }
  }
}

TEST_CASE("several processes, none of them twice") {
  CHECK(good({"-p", "3,1,2"}).pids == Pids{3, 1, 2});
  CHECK(good({"dump", "--pid=3,1"}).pids == Pids{3, 1});
  CHECK(wrong({"-p", "1,2,1"}) == "process 1 is given twice");
  for (const std::string text : {"1,", ",1", "1,,2", ","}) {
    CHECK(wrong({"-p", text}) ==
          "bad number of a process or thread '': expected a whole number from 1 to 2147483647");
  }
  CHECK(wrong({"-p", "1, 2"}).starts_with("bad number of a process or thread ' 2'"));
}

TEST_CASE("parts of the target by name, several times each") {
  const Options options = good({"-p", "1", "--comm", "a*", "--threads", "b", "--comm=c"});
  CHECK(options.filter.comms == Words{"a*", "c"});
  CHECK(options.filter.threads == Words{"b"});
  CHECK(good({"report", "x", "--threads", "t"}).filter.threads == Words{"t"});
  CHECK(good({"report", "--threads", "t", "x"}).input == "x");
  CHECK(good({"-p", "1"}).filter.empty());
  CHECK(wrong({"dump", "-p", "1", "--comm", "a"}).starts_with("The following argument"));
}

TEST_CASE("a command is all that follows --, options or not") {
  CHECK(good({"--", "ls"}).command_line == Words{"ls"});
  CHECK(good({"-d", "5", "--", "ls", "-d", "--", "dump"}).command_line == Words{"ls", "-d", "--", "dump"});
  CHECK(good({"-d", "5", "--", "ls"}).duration == 5 * kSecond);
  CHECK(good({"dump", "-o", "w", "--", "ls"}).command_line == Words{"ls"});
  CHECK(good({"dump", "-o", "-", "--", "ls"}).command == Command::dump);
  CHECK(good({"-p", "1"}).command_line.empty());
  CHECK(good({"report", "--", "-file"}).input == "-file");
  CHECK(wrong({"--"}) == "-- is followed by the command to record");
  CHECK(wrong({"-p", "1", "--", "ls"}) == "-p and -- COMMAND each say what to record: choose one");
  CHECK(wrong({"dump", "--", "ls"}) ==
        "standard output is the command's: say where the waits are to go with -o FILE");
  for (const Words& words :
       {Words{"ls"}, Words{"ls", "-l"}, Words{"-d", "5", "ls", "-l"}, Words{"ls", "--", "-l"}})
    CHECK(wrong(words) == "unexpected 'ls': to run a program and record it, write -- before it");
}

TEST_CASE("an option before a command is refused, not forgotten") {
  CHECK(wrong({"-d", "5", "report", "x"}) == "--duration stands before report, whose options stand after it");
  CHECK(wrong({"-p", "1", "dump", "-t", "2"}) == "--pid stands before dump, whose options stand after it");
  CHECK(wrong({"--explain", "dump", "-p", "1"}) ==
        "--explain stands before dump, whose options stand after it");
  CHECK(wrong({"report", "x", "dump", "-p", "1"}).find("dump") != std::string::npos);
}

TEST_CASE("what the user wrote is shown harmless") {
  CHECK(wrong({"\x1b[31m\n"}) ==
        "unexpected '\\x1b[31m\\x0a': to run a program and record it, write -- before it");
  CHECK(wrong({"-p", "1", "-d", "\xff\x07"}) ==
        "bad duration '\\xff\\x07': expected something like 90, 90s, 1m30s or 500ms, at most 24h");
}

TEST_CASE("--help of each command has its options and examples") {
  struct Help {
    Words words;
    Words contains;
  };
  for (const Help& help :
       {Help{{"--help"},
             {"-p,--pid PID[,PID...]",
              "-t,--tid TID",
              "-d,--duration TIME",
              "--no-stacks",
              "--spin LOCK[,UNLOCK]",
              "--json FILE",
              "--min-weight PART",
              "--noise PART",
              "--no-merge",
              "--keep-false-wakeups",
              "--disk-capacity NAME=BYTES/s,IO/s",
              "--explain",
              "-v,--verbose",
              "-q,--quiet",
              "--version",
              "report",
              "dump",
              "Examples:\n",
              "  offwait -p 1234 -d 30s",
              "Exit status: 0 "}},
        Help{{"report", "--help"},
             {"FILE", "--json FILE", "--explain", "--no-merge", "Examples:\n", "  offwait report w.txt"}},
        Help{{"dump", "--help"},
             {"-p,--pid PID[,PID...]", "-t,--tid TID", "-o,--output FILE", "Examples:\n",
              "  offwait dump -p 1234 -d 10s -o w.txt"}}}) {
    const std::string text = text_of(help.words);
    for (const std::string& part : help.contains) {
      CAPTURE(part);
      CHECK(text.find(part) != std::string::npos);
    }
    CHECK(text.back() == '\n');
  }
  CHECK(text_of({"-h"}) == text_of({"--help"}));
  CHECK(text_of({"dump", "--help"}).find("--explain") == std::string::npos);
  CHECK(text_of({"report", "--help"}).find("--pid") == std::string::npos);
}

TEST_CASE("--version is one line") { CHECK(text_of({"--version"}) == "offwait 0.1.0\n"); }

}  // namespace
}  // namespace offwait
