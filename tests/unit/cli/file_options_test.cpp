// SPDX-License-Identifier: GPL-2.0-or-later
// The command lines of recordings in files: record, and what reads them.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "unit/cli/parsed.h"

namespace offwait::cli {
namespace {

using test::good;
using test::Words;
using test::wrong;

TEST_CASE("a flight recorder: how long, when, how often, and how many files") {
  const auto options = good<RecordOptions>({"record",        "-p",         "1",
                                            "--flight",      "1m30s",      "-o",
                                            "dir",           "--when",     "runnable>50%",
                                            "--when",        "wait>500ms", "--when",
                                            "wait:futex>2s", "--cooldown", "5m",
                                            "--keep",        "3",          "--max-memory",
                                            "64M",           "-d",         "1h"});
  CHECK(options.flight == 90 * kSecond);
  CHECK(options.output == "dir");
  REQUIRE(options.triggers.size() == 3);
  CHECK(options.triggers[0].state == TriggerState::runnable);
  CHECK(options.triggers[0].share == 0.5);
  CHECK(options.triggers[0].text == "runnable>50%");
  CHECK(!options.triggers[1].state);
  CHECK(!options.triggers[1].wait_class);
  CHECK(options.triggers[1].longer_than == kSecond / 2);
  CHECK(options.triggers[2].wait_class == WaitClass::futex);
  CHECK(options.triggers[2].longer_than == 2 * kSecond);
  CHECK(options.cooldown == 300 * kSecond);
  CHECK(options.keep == 3);
  CHECK(options.recording.max_memory == 64'000'000);
  const auto least = good<RecordOptions>({"record", "-p", "1", "--flight", "60s", "-o", "dir"});
  CHECK(least.triggers.empty());
  CHECK(least.cooldown == 60 * kSecond);
  CHECK(least.keep == 10);
  CHECK(!good<RecordOptions>({"record", "-p", "1", "-o", "file"}).flight);
}

TEST_CASE("mistakes about a flight") {
  const Words start = {"record", "-p", "1", "-o", "dir"};
  const auto wrong_with = [&start](const Words& more) {
    Words words = start;
    words.insert(words.end(), more.begin(), more.end());
    return wrong(words);
  };
  const auto wrong_trigger = [&wrong_with](const std::string& text) {
    return wrong_with({"--flight", "60s", "--when", text});
  };
  const std::string expected =
      ": expected a share of a state, as runnable>50% (also running and blocked), or a wait, as wait>500ms "
      "or "
      "wait:futex>500ms";
  for (const std::string text : {"runnable", "runnable>", "runnable>50", "runnable>0%", "runnable>100%",
                                 "idle>50%", "wait>", "wait>50%", "wait", ">5s", "wait:futex", ""})
    CHECK(wrong_trigger(text) == "bad --when '" + text + "'" + expected);
  CHECK(wrong_trigger("wait:sleeping>5s") ==
        "bad --when 'wait:sleeping>5s': there are no waits of class 'sleeping'");
  CHECK(wrong_trigger("wait:>5s") == "bad --when 'wait:>5s': there are no waits of class ''");
  CHECK(wrong_with({"--flight", "2h"}) == "bad --flight '2h': expected a time from 1s to 1h");
  CHECK(wrong_with({"--flight", "60s", "--keep", "0"}) ==
        "bad number of files '0': expected a whole number from 1 to 10000");
  CHECK(wrong_with({"--keep", "5"}) == "--keep requires --flight");
  CHECK(wrong_with({"--when", "wait>5s"}) == "--when requires --flight");
  CHECK(wrong_with({"--max-memory", "64M"}) == "--max-memory requires --flight");
  for (const Words& words : {Words{"record", "-p", "1", "--flight", "60s", "-o", "-"},
                             Words{"record", "-p", "1", "--flight", "60s"}})
    CHECK(wrong(words) ==
          "--flight writes one file after the other: say into which directory with -o DIRECTORY");
}

TEST_CASE("export takes a format, a file, and options of the analysis") {
  const ExportOptions options =
      good<ExportOptions>({"export", "--format", "pprof", "w.txt", "-o", "w.pb.gz", "--comm", "my*",
                           "--keep-false-wakeups", "--progress", "worker*", "-q"});
  CHECK(options.format == ExportFormat::pprof);
  CHECK(options.input.path == "w.txt");
  CHECK(options.output == "w.pb.gz");
  CHECK(options.analysis.filter.comms == Words{"my*"});
  CHECK(options.analysis.keep_false_wakeups);
  CHECK(options.analysis.progress.threads == Words{"worker*"});
  CHECK(options.quiet);
  CHECK(good<ExportOptions>({"export", "--format=dot", "-"}).output == "-");
  const ExportOptions folded =
      good<ExportOptions>({"export", "w.txt", "--format", "folded", "--folded-kind", "off-wake",
                           "--folded-weight", "weight", "--full-stacks"});
  CHECK(folded.folding.kind == StackKind::off_wake);
  CHECK(folded.folding.weight == StackMeasure::weight);
  CHECK(folded.full_stacks);
  CHECK(good<ExportOptions>({"export", "w.txt", "--format", "folded", "--folded-objects"}).folding.objects);
}

TEST_CASE("export says what is missing, and what has no effect") {
  const std::string formats = "perfetto, pprof, dot, folded, speedscope or ndjson";
  CHECK(wrong({"export", "w.txt"}) == "export needs --format: " + formats);
  CHECK(wrong({"export", "--format", "svg", "w.txt"}) == "bad format 'svg': expected " + formats);
  CHECK(wrong({"export", "--format"}) ==
        "--format needs a value: perfetto|pprof|dot|folded|speedscope|ndjson");
  CHECK(
      wrong({"export", "--format", "dot"}) ==
      "export needs a FILE: what 'offwait record' or 'offwait dump' has written, - for standard input, or a "
      "directory for the newest in it");
  CHECK(wrong({"export", "--format", "dot", "a", "b"}) == "unexpected 'b': export takes one FILE");
  CHECK(wrong({"export", "--format", "dot", "a", "-o", ""}) == "the name of a file is empty");
  CHECK(wrong({"export", "--format", "dot", "--format", "folded", "a"}) ==
        "--format is given more than once");
  CHECK(wrong({"export", "--format", "dot", "a", "--folded-kind", "off-cpu"}) ==
        "--folded-kind is for --format folded, and has no effect on dot");
  CHECK(wrong({"export", "--format", "folded", "a", "--folded-kind", "on-cpu", "--folded-objects"}) ==
        "--folded-objects says what threads waited for, and --folded-kind on-cpu where they ran");
  CHECK(wrong({"export", "--format", "ndjson", "a", "--what-if", "cpus *2"}) ==
        "export has no option --what-if: offwait and offwait report have it");
  CHECK(wrong({"export", "a", "-f", "dot"}) == "export has no option -f; did you mean --format?");
}

TEST_CASE("dump of a file takes no option of a recording") {
  const DumpOptions options = good<DumpOptions>({"dump", "2026-11-22.offwait", "-o", "w.txt", "-q"});
  CHECK(options.input.path == "2026-11-22.offwait");
  CHECK(options.output == "w.txt");
  CHECK(options.recording.quiet);
  CHECK(good<DumpOptions>({"dump", "-"}).input.path == "-");
  CHECK(good<DumpOptions>({"dump", "-p", "1"}).input.path.empty());
  CHECK(wrong({"dump", "f", "-d", "10s"}) == "-d is about a recording, and f is one already");
  CHECK(wrong({"dump", "-p", "1", "--last", "10s"}) ==
        "--window and --last choose a part of a FILE: to record less, say -d TIME");
}

TEST_CASE("record takes a target, where to write, and labels") {
  const RecordOptions options = good<RecordOptions>(
      {"record", "-p", "8", "-d", "10m", "-o", "f", "--label", "a=b=c", "--label", "d=", "--no-symbols"});
  CHECK(options.recording.target.pids == std::vector<std::int32_t>{8});
  CHECK(options.recording.duration == 600 * kSecond);
  CHECK(options.output == "f");
  CHECK(options.labels == std::vector<Label>{{"a", "b=c"}, {"d", ""}});
  CHECK_FALSE(options.symbols);
  CHECK(options.command_line.front() == "offwait");
  CHECK(options.command_line.back() == "--no-symbols");
  CHECK(good<RecordOptions>({"record", "-o", "f", "--", "ls", "-l"}).recording.target.command_line ==
        std::vector<std::string>{"ls", "-l"});
  CHECK(good<RecordOptions>({"record", "-p", "8"}).output.empty());
  CHECK(
      wrong({"record", "-o", "f"}) ==
      "say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  CHECK(wrong({"record", "-o", "-", "--", "ls"}) ==
        "standard output is the program's: say where the recording is to go with -o FILE");
  for (const char* const label : {"", "a", "=b"})
    CHECK(wrong({"record", "-p", "8", "-o", "f", "--label", label}) ==
          "label '" + std::string(label) + "': it must be KEY=VALUE, for example version=10.11");
}

TEST_CASE("a part of a recording is a window or its end") {
  const auto part = [](const std::string& option, const std::string& value) {
    return good<ReportOptions>({"report", "f", option, value}).input.part;
  };
  CHECK(part("--window", "30s..40s").from == 30 * kSecond);
  CHECK(part("--window", "30s..40s").to == 40 * kSecond);
  CHECK(part("--window", "0..0.5").to == kSecond / 2);
  CHECK(part("--window", "0..0.5").from == 0);
  CHECK(part("--window", "1m..").from == 60 * kSecond);
  CHECK_FALSE(part("--window", "1m..").to);
  CHECK(part("--window", "..40s").to == 40 * kSecond);
  CHECK(part("--last", "10s").last == 10 * kSecond);
  CHECK(good<ExportOptions>({"export", "--format", "dot", "f", "--last", "1s"}).input.part.last == kSecond);
  for (const char* const bad : {"..", "30s", "40s..30s", "30s..30s"})
    CHECK(wrong({"report", "f", "--window", bad}) ==
          "window '" + std::string(bad) +
              "': it must be FROM..TO, for example 30s..40s, 30s.. or 13:09:10..13:09:20");
  wrong({"report", "f", "--window", "x..y"});
  const TracePart clock = part("--window", "13:09..2026-11-23T13:09:12.5Z");
  REQUIRE(clock.wall_from);
  CHECK(clock.wall_from->of_day == (13 * 60 + 9) * 60 * kSecond);
  CHECK_FALSE(clock.wall_from->date);
  CHECK_FALSE(clock.wall_from->utc);
  REQUIRE(clock.wall_to);
  CHECK(clock.wall_to->of_day == ((13 * 60 + 9) * 60 + 12) * kSecond + kSecond / 2);
  CHECK(clock.wall_to->date == std::chrono::year(2026) / 11 / 23);
  CHECK(clock.wall_to->utc);
  CHECK_FALSE(clock.to);
  CHECK(part("--window", "13:09..40s").to == 40 * kSecond);
  for (const std::string bad : {"24:00", "1:09", "13:60", "13:09:60", "13:09:1", "13:09:12x",
                                "13:", "13:09Zx", "2026-13-01T13:09", "13:09:"})
    CHECK(wrong({"report", "f", "--window", bad + ".."}) ==
          "bad time '" + bad +
              "': expected something like 13:09, 13:09:12.5, 13:09:12Z or 2026-11-23T13:09:12");
  wrong({"report", "f", "--last", "0"});
  wrong({"report", "f", "--last", "1", "--window", "1..2"});
}

}  // namespace
}  // namespace offwait::cli
