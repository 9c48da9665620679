// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "unit/cli/parsed.h"

namespace offwait::cli {
namespace {

using test::good;
using test::parse;
using test::text_of;
using test::Words;
using test::wrong;

using Pids = std::vector<std::int32_t>;

RecordingOptions recording(const Words& words) { return good<ProfileOptions>(words).recording; }
TargetOptions target(const Words& words) { return recording(words).target; }
RecordingOptions dumped(const Words& words) { return good<DumpOptions>(words).recording; }

TEST_CASE("a target alone: everything else as documented") {
  const ProfileOptions options = good<ProfileOptions>({"-p", "1234"});
  CHECK(options.recording.target.pids == Pids{1234});
  CHECK(options.recording.target.tid == 0);
  CHECK_FALSE(options.recording.duration.has_value());
  CHECK(options.recording.stacks);
  CHECK(options.recording.sample_hz == 99);
  CHECK(options.output.json.empty());
  CHECK(options.analysis.min_weight.is_part);
  CHECK(options.analysis.min_weight.part == 0.20);
  CHECK(options.analysis.noise.is_part);
  CHECK(options.analysis.noise.part == 0.01);
  CHECK(options.analysis.merge);
  CHECK(options.analysis.capacities.disks.empty());
  CHECK_FALSE(options.analysis.keep_false_wakeups);
  CHECK(options.recording.spins.empty());
  CHECK_FALSE(options.output.explain);
  CHECK_FALSE(options.output.full_stacks);
  CHECK(options.output.verbosity == 0);
  CHECK_FALSE(options.recording.quiet);
}

TEST_CASE("every option of the profile command") {
  const ProfileOptions options = good<ProfileOptions>({"--pid=7",
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
  CHECK(options.recording.target.pids == Pids{7});
  CHECK(options.recording.duration == 90 * kSecond);
  CHECK_FALSE(options.recording.stacks);
  CHECK(options.output.json == "out.json");
  CHECK_FALSE(options.analysis.min_weight.is_part);
  CHECK(options.analysis.min_weight.duration == kSecond / 2);
  CHECK(options.analysis.noise.is_part);
  CHECK(options.analysis.noise.part == Approx(0.02));
  CHECK_FALSE(options.analysis.merge);
  CHECK(options.analysis.keep_false_wakeups);
  REQUIRE(options.recording.spins.size() == 2);
  CHECK(options.recording.spins[0].lock == "tas_lock");
  CHECK(options.recording.spins[0].unlock == "tas_unlock");
  CHECK(options.recording.spins[1].lock == "spin");
  CHECK(options.recording.spins[1].unlock.empty());
  for (const char* bad : {"", "a,", ",b", "a,b,c"}) {
    CHECK(
        wrong({"-p", "1", "--spin", bad}).find("bad --spin '" + std::string(bad) + "': expected FUNCTION") !=
        std::string::npos);
  }
  REQUIRE(options.analysis.capacities.disks.size() == 2);
  CHECK(options.analysis.capacities.disks[0].disk == "vda");
  CHECK(options.analysis.capacities.disks[0].bytes_per_s == 500e6);
  CHECK(options.analysis.capacities.disks[0].ios_per_s == 50e3);
  CHECK(options.analysis.capacities.disks[1].disk == "sda");
  CHECK(options.analysis.capacities.disks[1].ios_per_s == 150);
  CHECK(options.output.explain);
  CHECK(options.output.full_stacks);
  CHECK(options.recording.java);
  CHECK(options.recording.debuginfod);
  CHECK(options.output.verbosity == 2);
  CHECK(options.recording.quiet);
}

TEST_CASE("a recording may begin at a multiple of whole seconds") {
  CHECK(recording({"-p", "1", "--start-at", "/1m30s"}).start_at == 90 * kSecond);
  CHECK(dumped({"dump", "-p", "1", "--start-at=/10"}).start_at == 10 * kSecond);
  for (const char* bad : {"10s", "/", "/0s", "/1.5s", "/100ms", "/25h", "noon", ""}) {
    CHECK(wrong({"-p", "1", "--start-at", bad}) ==
          "bad time '" + std::string(bad) +
              "': expected a slash and whole seconds, minutes or hours, as /10s");
  }
}

TEST_CASE("the overhead is a percentage, or off") {
  CHECK(recording({"-p", "1"}).max_overhead == 0.03);
  CHECK(recording({"-p", "1", "--max-overhead", "off"}).max_overhead == 0);
  CHECK(recording({"-p", "1", "--max-overhead", "0.5%"}).max_overhead == 0.005);
  CHECK(dumped({"dump", "-p", "1", "--max-overhead=20"}).max_overhead == 0.2);
  for (const char* bad : {"0", "0%", "101%", "-1", "", "%", "3%%", "three", "1e1", "nan", "inf"}) {
    CHECK(wrong({"-p", "1", "--max-overhead", bad}) ==
          "bad overhead '" + std::string(bad) +
              "': expected a percentage from 0.001% to 100%, as 3%, or off to take all stacks");
  }
}

TEST_CASE("the rate of samples is bounded, and 0 is none") {
  CHECK(recording({"-p", "1", "--sample-hz", "9999"}).sample_hz == 9999);
  CHECK(dumped({"dump", "-p", "1", "--sample-hz=0"}).sample_hz == 0);
  for (const char* bad : {"10000", "-1", "", "99Hz", "4294967297"}) {
    CHECK(wrong({"-p", "1", "--sample-hz", bad}) ==
          "bad rate '" + std::string(bad) + "': expected samples a second from 1 to 9999, or 0 for none");
  }
}

TEST_CASE("folded stacks: one kind and one weight, to a file or instead of the text") {
  const ProfileOptions profile = good<ProfileOptions>({"-p", "1", "--folded", "f.txt"});
  CHECK(profile.output.folded == "f.txt");
  CHECK(profile.output.folding.kind == StackKind::off_cpu);
  CHECK(profile.output.folding.weight == StackMeasure::wait);
  const ReportOptions options =
      good<ReportOptions>({"report", "w.txt", "--folded", "-", "--folded-kind", "off-wake", "--folded-weight",
                           "weight", "--json", "j.json"});
  CHECK(options.output.folded == "-");
  CHECK(options.output.folding.kind == StackKind::off_wake);
  CHECK(options.output.folding.weight == StackMeasure::weight);
  CHECK(good<ProfileOptions>({"-p", "1", "--folded", "f", "--folded-kind", "on-cpu"}).output.folding.kind ==
        StackKind::on_cpu);
  CHECK(wrong({"-p", "1", "--folded", "f", "--folded-kind", "cpu"}) ==
        "bad kind 'cpu': expected off-cpu, off-wake or on-cpu");
  CHECK(wrong({"-p", "1", "--folded", "f", "--folded-weight", "count"}) ==
        "bad weight 'count': expected wait or weight");
  CHECK(good<ReportOptions>({"report", "w.txt", "--view", "functions"}).output.view == View::functions);
  CHECK(good<ReportOptions>({"report", "w.txt", "--view", "files"}).output.view == View::files);
  CHECK(good<ProfileOptions>({"-p", "1", "--view", "threads"}).output.view == View::threads);
  CHECK_FALSE(good<ReportOptions>({"report", "w.txt"}).output.view);
  CHECK(wrong({"-p", "1", "--view", "code"}) ==
        "bad view 'code': expected functions, threads, locks or files");
  CHECK(wrong({"-p", "1", "--folded-kind", "on-cpu"}) == "--folded-kind requires --folded");
  CHECK(wrong({"report", "w.txt", "--folded", "-", "--json", "-"}) ==
        "--json - and --folded - both want standard output: write one of them to a file");
}

TEST_CASE("long and short forms are the same") {
  CHECK(target({"-p1"}).pids == Pids{1});
  CHECK(target({"--pid", "1"}).pids == Pids{1});
  CHECK(target({"-t", "5"}).tid == 5);
  CHECK(target({"--tid=5"}).tid == 5);
  CHECK(target({"-t", "5"}).pids.empty());
  CHECK(recording({"-p", "1", "-d90"}).duration == 90 * kSecond);
  CHECK(recording({"-p", "1", "--duration", "500ms"}).duration == kSecond / 2);
  CHECK(good<ProfileOptions>({"-p", "1", "--verbose", "--quiet"}).output.verbosity == 1);
  CHECK(target({"-p", "2147483647"}).pids == Pids{2147483647});
}

TEST_CASE("report reads a file and takes every option of the analysis") {
  ReportOptions options = good<ReportOptions>({"report", "w.txt"});
  CHECK(options.input.path == "w.txt");
  CHECK(good<ReportOptions>({"report", "-"}).input.path == "-");
  CHECK_FALSE(options.max_memory);
  CHECK(good<ReportOptions>({"report", "w.txt", "--max-memory", "300M"}).max_memory == 300'000'000);
  options =
      good<ReportOptions>({"report", "--json", "-", "--min-weight", "5%", "--noise", "1ms", "--no-merge",
                           "--disk-capacity", "vda=1,2", "w.txt", "--explain", "-v", "-q"});
  CHECK(options.input.path == "w.txt");
  CHECK(options.output.json == "-");
  CHECK(options.analysis.min_weight.part == Approx(0.05));
  CHECK(options.analysis.noise.duration == 1'000'000);
  CHECK_FALSE(options.analysis.merge);
  CHECK(options.analysis.capacities.disks.size() == 1);
  CHECK(options.output.explain);
  CHECK(options.output.verbosity == 1);
  CHECK(options.quiet);
  CHECK(good<ReportOptions>({"report", "--", "-odd-name"}).input.path == "-odd-name");
}

TEST_CASE("doctor needs no target") {
  CHECK_FALSE(good<DoctorOptions>({"doctor"}).json);
  CHECK(good<DoctorOptions>({"doctor", "--json"}).json);
  wrong({"doctor", "-p", "1"});
}

TEST_CASE("a cgroup or the whole system can be recorded") {
  CHECK(target({"-c", "system.slice/x.service"}).cgroup == "system.slice/x.service");
  CHECK(dumped({"dump", "--cgroup", "/"}).target.cgroup == "/");
  CHECK(target({"--unit", "redis", "-d", "1"}).unit == "redis");
  CHECK(dumped({"dump", "--container", "4f1a"}).target.container == "4f1a");
  CHECK(target({"-a"}).all);
  CHECK(target({"--all", "-d", "1"}).cgroup.empty());
}

TEST_CASE("calibrate measures a disk and records nothing") {
  CalibrateOptions options = good<CalibrateOptions>({"calibrate", "/dev/vda"});
  CHECK(options.place == "/dev/vda");
  CHECK(options.each == 3 * kSecond);
  CHECK(options.file_bytes == 1'000'000'000);
  CHECK_FALSE(options.quiet);
  options = good<CalibrateOptions>({"calibrate", "-d", "500ms", "--size", "64M", "-q", "/mnt"});
  CHECK(options.each == kSecond / 2);
  CHECK(options.file_bytes == 64'000'000);
  CHECK(options.quiet);
  CHECK(good<CalibrateOptions>({"calibrate", "/", "--size", "1000G"}).file_bytes == 1'000'000'000'000);
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
  const DumpOptions options =
      good<DumpOptions>({"dump", "-t", "8", "-d", "2", "-o", "w.txt", "--no-stacks", "-q"});
  CHECK(options.recording.target.tid == 8);
  CHECK(options.recording.duration == 2 * kSecond);
  CHECK(options.output == "w.txt");
  CHECK_FALSE(options.recording.stacks);
  CHECK(options.recording.quiet);
  CHECK(good<DumpOptions>({"dump", "-p", "8"}).output == "-");
  CHECK(wrong({"dump", "-p", "8", "--explain"}) ==
        "dump has no option --explain: offwait and offwait report have it");
  CHECK(wrong({"dump", "-p", "8", "--json", "x"}) ==
        "dump has no option --json: offwait, offwait report, offwait diff and offwait doctor have it");
}

TEST_CASE("each wrong command line has its own sentence") {
  CHECK(
      wrong({}) ==
      "say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  CHECK(
      wrong({"-d", "10"}) ==
      "say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  CHECK(
      wrong({"dump"}) ==
      "say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND");
  CHECK(wrong({"-p", "1", "-t", "1"}) == "-p and -t each say what to record: choose one");
  CHECK(wrong({"dump", "-c", "x", "-t", "1"}) == "-t and -c each say what to record: choose one");
  CHECK(wrong({"-a", "-c", "x", "-p", "1"}) == "-p and -c each say what to record: choose one");
  CHECK(wrong({"--unit", "a", "--container", "b"}) ==
        "--unit and --container each say what to record: choose one");
  CHECK(wrong({"--container", ""}) == "the name of a container is empty");
  CHECK(wrong({"-c", ""}) == "the name of a cgroup is empty");
  CHECK(wrong({"-p", "1", "--json", ""}) == "the name of a file is empty");
  CHECK(wrong({"report", "x", "--folded="}) == "--folded needs a value: FILE");
  CHECK(wrong({"report", "x", "--folded", ""}) == "the name of a file is empty");
  CHECK(wrong({"dump", "-p", "1", "-o", ""}) == "the name of a file is empty");
  CHECK(wrong({"-p", "1", "--comm", ""}) == "the pattern of a name is empty, and would match nobody");
  CHECK(wrong({"report", "x", "--threads", "a", "--threads", ""}) ==
        "the pattern of a name is empty, and would match nobody");
  CHECK(wrong({"-p"}) == "-p needs a value: PID|NAME[,...]");
  CHECK(wrong({"-p", "-d", "30"}) == "-p needs a value: PID|NAME[,...]");
  CHECK(wrong({"dump", "-p", "1", "-o"}) == "-o needs a value: FILE");
  CHECK(wrong({"-p", "1", "-d", "--", "ls"}) == "-d needs a value: TIME");
  CHECK(wrong({"-t", "1", "-t", "2"}) == "--tid is given more than once");
  CHECK(wrong({"-p", "1", "--json", "a", "--json", "b"}) == "--json is given more than once");
  CHECK(
      wrong({"report"}) ==
      "report needs a FILE: what 'offwait record' or 'offwait dump' has written, - for standard input, or a "
      "directory for the newest in it");
  CHECK(wrong({"report", "a", "b"}) == "unexpected 'b': report takes one FILE");
  CHECK(wrong({"calibrate"}) ==
        "calibrate needs a DEVICE or PATH: what to measure, as /dev/vda or /var/lib/mysql");
  CHECK(wrong({"calibrate", "/a", "/b"}) == "unexpected '/b': calibrate takes one DEVICE or PATH");
  CHECK(wrong({"doctor", "who"}) == "unexpected 'who': doctor takes nothing but options");
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
       {"0", "-5", "+5", "1.5", "1x", "0x10", "2147483648", "99999999999999999999"}) {
    for (const std::string option : {"--pid=", "--tid="}) {
      CHECK(wrong({option + text}) ==
            "bad number of a process or thread '" + text + "': expected a whole number from 1 to 2147483647");
    }
  }
}

TEST_CASE("processes by name, which is looked up later") {
  CHECK(target({"-p", "bash"}).names == Words{"bash"});
  CHECK(target({"-p", "1,systemd-journald", "-p", "tmux: server"}).names ==
        Words{"systemd-journald", "tmux: server"});
  CHECK(target({"-p", "1,systemd-journald"}).pids == Pids{1});
  CHECK(target({"-p", "bash"}).pids.empty());
  CHECK(wrong({"-p", "bash", "-a"}) == "-p and -a each say what to record: choose one");
}

TEST_CASE("a name where the number of a thread belongs: how to get the numbers") {
  CHECK(
      wrong({"-t", "worker"}) ==
      "-t takes the number of a thread, and 'worker' is a name: 'ps -L -p PID -o lwp,comm' lists the threads "
      "of a process, and -p PID --threads worker records it and reports on those of this name");
  // What pgrep prints if there is no such process.
  CHECK(wrong({"-p", ""}) == "-p has an empty list of processes: is the program running?");
  // No command is made of what a shell would take for something else.
  for (const std::string hostile : {"$(reboot)", "a;b", "a b", "a'b", "`x`", "a\nb"}) {
    CHECK(wrong({"-t", hostile}).starts_with("bad number of a process or thread '"));
  }
}

TEST_CASE("several processes, none of them twice") {
  CHECK(target({"-p", "1", "-p", "2,5", "--pid=4"}).pids == Pids{1, 2, 5, 4});
  CHECK(dumped({"dump", "-p", "1", "-p", "2"}).target.pids == Pids{1, 2});
  CHECK(wrong({"-p", "1", "-p", "2", "-p", "1"}) == "process 1 is given twice");
  CHECK(target({"-p", "3,1,2"}).pids == Pids{3, 1, 2});
  CHECK(dumped({"dump", "--pid=3,1"}).target.pids == Pids{3, 1});
  CHECK(wrong({"-p", "1,2,1"}) == "process 1 is given twice");
  // As pidof prints them.
  CHECK(target({"-p", "3 1 2"}).pids == Pids{3, 1, 2});
  CHECK(target({"-p", " 3, 1\n"}).pids == Pids{3, 1});
  for (const std::string text : {"1,", ",1", "1,,2", ",", "a,,b"}) {
    CHECK(wrong({"-p", text}) ==
          "bad number of a process or thread '': expected a whole number from 1 to 2147483647");
  }
}

TEST_CASE("parts of the target by name, several times each") {
  const ProfileOptions options =
      good<ProfileOptions>({"-p", "1", "--comm", "a*", "--threads", "b", "--comm=c"});
  CHECK(options.analysis.filter.comms == Words{"a*", "c"});
  CHECK(options.analysis.filter.threads == Words{"b"});
  CHECK(good<ReportOptions>({"report", "x", "--threads", "t"}).analysis.filter.threads == Words{"t"});
  CHECK(good<ReportOptions>({"report", "--threads", "t", "x"}).input.path == "x");
  CHECK(good<ProfileOptions>({"-p", "1"}).analysis.filter.empty());
  CHECK(wrong({"dump", "-p", "1", "--comm", "a"}) ==
        "dump has no option --comm: offwait, offwait report, offwait diff and offwait export have it");
}

const std::string kCommandNames =
    " (commands: record, top, report, diff, dump, export, calibrate, doctor; a running process is -p NAME, a "
    "program to run stands after --)";

TEST_CASE("a command is all that follows --, options or not") {
  CHECK(target({"--", "ls"}).command_line == Words{"ls"});
  CHECK(target({"-d", "5", "--", "ls", "-d", "--", "dump"}).command_line == Words{"ls", "-d", "--", "dump"});
  CHECK(recording({"-d", "5", "--", "ls"}).duration == 5 * kSecond);
  CHECK(dumped({"dump", "-o", "w", "--", "ls"}).target.command_line == Words{"ls"});
  CHECK(good<DumpOptions>({"dump", "-o", "-", "--", "ls"}).output == "-");
  CHECK(target({"-p", "1"}).command_line.empty());
  CHECK(good<ReportOptions>({"report", "--", "-file"}).input.path == "-file");
  CHECK(wrong({"--"}) == "nothing follows --: write the program to record after it");
  CHECK(wrong({"-p", "1", "--", "ls"}) == "-p and -- COMMAND each say what to record: choose one");
  CHECK(wrong({"dump", "--", "ls"}) ==
        "standard output is the program's: say where the waits are to go with -o FILE");
  for (const std::string option : {"--json", "--folded"})
    CHECK(wrong({option, "-", "--", "ls"}) ==
          "standard output is the program's: write to a file with " + option + " FILE");
  for (const Words& words :
       {Words{"ls"}, Words{"ls", "-l"}, Words{"-d", "5", "ls", "-l"}, Words{"ls", "--", "-l"}})
    CHECK(wrong(words) == "unknown command 'ls'" + kCommandNames);
  CHECK(good<DumpOptions>({"dump", "ls"}).input.path == "ls");
  CHECK(wrong({"dump", "ls", "-l"}) == "unexpected 'ls': to run a program and record it, write -- before it");
  CHECK(wrong({"dump", "-p", "1", "ls"}) ==
        "unexpected 'ls': to run a program and record it, write -- before it");
}

TEST_CASE("an unknown option is named, and the one that was probably meant") {
  CHECK(wrong({"-p", "1", "--frob"}) == "unknown option --frob");
  CHECK(wrong({"-p", "1", "--jsn", "f"}) == "unknown option --jsn; did you mean --json?");
  CHECK(wrong({"--jsn", "f"}) == "unknown option --jsn; did you mean --json?");
  CHECK(wrong({"--jsn=f", "-p", "1"}) == "unknown option --jsn; did you mean --json?");
  CHECK(wrong({"-p", "1", "--min-weigth", "5%"}) ==
        "unknown option --min-weigth; did you mean --min-weight?");
  CHECK(wrong({"-p", "1", "--dur", "5"}) == "unknown option --dur; did you mean --duration?");
  CHECK(wrong({"-p", "1", "-F", "99"}) == "unknown option -F; did you mean --sample-hz?");
  CHECK(wrong({"-p", "1", "-F99"}) == "unknown option -F; did you mean --sample-hz?");
  CHECK(wrong({"dump", "-p", "1", "-F", "99"}) == "dump has no option -F; did you mean --sample-hz?");
  CHECK(wrong({"-p", "1", "-o", "x"}) ==
        "unknown option -o; did you mean 'record -o' for the recording, or --json for the report?");
  CHECK(wrong({"report", "w.txt", "-o", "x"}) == "report has no option -o; did you mean --json?");
  CHECK(wrong({"-pid", "1"}) == "unknown option -pid; did you mean --pid?");
  CHECK(wrong({"-p", "1", "-json", "f"}) == "unknown option -json; did you mean --json?");
  CHECK(wrong({"-P", "1"}) == "unknown option -P; did you mean -p?");
  CHECK(wrong({"-p", "1", "-vz"}) == "unknown option -z");
  CHECK(wrong({"report", "-p", "1", "F"}) ==
        "report has no option -p: offwait, offwait record, offwait top and offwait dump have it");
  CHECK(wrong({"report", "F", "-p", "1"}) ==
        "report has no option -p: offwait, offwait record, offwait top and offwait dump have it");
  CHECK(wrong({"report", "F", "--explan"}) == "report has no option --explan; did you mean --explain?");
  CHECK(wrong({"calibrate", "/", "-p", "1"}) ==
        "calibrate has no option -p: offwait, offwait record, offwait top and offwait dump have it");
  CHECK(wrong({"doctor", "-p", "1"}) ==
        "doctor has no option -p: offwait, offwait record, offwait top and offwait dump have it");
}

TEST_CASE("a mistyped command: the nearest one, and all") {
  CHECK(wrong({"frob"}) == "unknown command 'frob'" + kCommandNames);
  CHECK(wrong({"dupm"}) == "unknown command 'dupm'; did you mean dump?" + kCommandNames);
  CHECK(wrong({"dupm", "-p", "1"}) == "unknown command 'dupm'; did you mean dump?" + kCommandNames);
  CHECK(wrong({"Report", "w.txt"}) == "unknown command 'Report'; did you mean report?" + kCommandNames);
  CHECK(wrong({"doc"}) == "unknown command 'doc'; did you mean doctor?" + kCommandNames);
  CHECK(wrong({"recrod", "-p", "1"}) == "unknown command 'recrod'; did you mean record?" + kCommandNames);
  CHECK(wrong({"-p", "1", "ls"}) == "unknown command 'ls'" + kCommandNames);
  CHECK(wrong({"help", "dupm"}) == "unknown command 'dupm'; did you mean dump?" + kCommandNames);
}

TEST_CASE("a number that follows the target is the duration") {
  CHECK(recording({"-p", "1", "5"}).duration == 5 * kSecond);
  CHECK(recording({"-q", "-p", "1", "-v", "1m30s"}).duration == 90 * kSecond);
  CHECK(recording({"-p", "1", "5"}).target.pids == Pids{1});
  CHECK(dumped({"dump", "-a", "0.5"}).duration == kSecond / 2);
  CHECK(wrong({"-p", "1", "5x"}) ==
        "bad duration '5x': expected something like 90, 90s, 1m30s or 500ms, at most 24h");
  for (const Words& words :
       {Words{"-p", "1", "-d", "5", "6"}, Words{"-p", "1", "6", "7"}, Words{"-p", "1", "6", "-q"}})
    CHECK(wrong(words) ==
          "unexpected '6': a duration is -d TIME or one last word, several processes are -p 1,2");
  CHECK(wrong({"-p", "1", "5", "--jsn"}) == "unknown option --jsn; did you mean --json?");
}

TEST_CASE("a number without a target is probably a process") {
  CHECK(wrong({"1234"}) == "unexpected '1234'; did you mean -p 1234?");
  CHECK(wrong({"1234", "5"}) == "unexpected '1234'; did you mean -p 1234?");
  CHECK(wrong({"-d", "30", "1234"}) == "unexpected '1234'; did you mean -p 1234?");
  CHECK(wrong({"dump", "1234"}) == "unexpected '1234'; did you mean -p 1234?");
  CHECK(wrong({"5s"}) ==
        "unexpected '5s'; say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, "
        "--container ID, -a or -- COMMAND");
}

TEST_CASE("two outputs do not share a file, and stacks are written only if they are recorded") {
  CHECK(wrong({"-p", "1", "--json", "f", "--folded", "f"}) ==
        "--json and --folded both want f: write one of them to another file");
  CHECK(wrong({"-p", "1", "--no-stacks", "--folded", "f"}) ==
        "--folded writes stacks, and --no-stacks records none");
  CHECK(wrong({"-p", "1", "--sample-hz", "0", "--folded", "f", "--folded-kind", "on-cpu"}) ==
        "--folded-kind on-cpu writes samples, and --sample-hz 0 takes none");
  CHECK(recording({"-p", "1", "--sample-hz", "0", "--folded", "f"}).sample_hz == 0);
}

TEST_CASE("an option before a command is refused, not forgotten") {
  CHECK(wrong({"-d", "5", "report", "x"}) == "--duration stands before report, whose options stand after it");
  CHECK(wrong({"-p", "1", "dump", "-t", "2"}) == "--pid stands before dump, whose options stand after it");
  CHECK(wrong({"--explain", "dump", "-p", "1"}) ==
        "--explain stands before dump, whose options stand after it");
  CHECK(wrong({"report", "x", "dump"}) == "unexpected 'dump': report takes one FILE");
}

TEST_CASE("what the user wrote is shown harmless") {
  CHECK(wrong({"\x1b[31m\n"}) == "unknown command '\\x1b[31m\\x0a'" + kCommandNames);
  CHECK(wrong({"-p", "1", "--\x1b[31m"}) == "unknown option --\\x1b[31m");
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
             {"-p,--pid PID|NAME[,...]",
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
              "  offwait -p mariadbd -d 30s",
              "Exit status: 0 "}},
        Help{{"report", "--help"},
             {"FILE", "--json FILE", "--explain", "--no-merge", "Examples:\n",
              "  offwait report day.offwait"}},
        Help{{"diff", "--help"},
             {"FILE", "--json FILE", "--folded FILE", "--noise PART", "  offwait diff before.txt after.txt"}},
        Help{{"dump", "--help"},
             {"-p,--pid PID|NAME[,...]", "-t,--tid TID", "-o,--output FILE", "Examples:\n",
              "  offwait dump -p 1234 -d 10s -o w.txt"}}}) {
    const std::string text = text_of(help.words);
    for (const std::string& part : help.contains) {
      CAPTURE(part);
      CHECK(text.find(part) != std::string::npos);
    }
    CHECK(text.back() == '\n');
  }
  CHECK(text_of({"help"}) == text_of({"--help"}));
  CHECK(text_of({"help", "dump"}) == text_of({"dump", "--help"}));
  CHECK(text_of({"dump", "--help"}).find("--explain") == std::string::npos);
  CHECK(text_of({"report", "--help"}).find("--pid") == std::string::npos);
}

TEST_CASE("--help begins with examples, has the options in groups, and fits 100 columns") {
  const std::string text = text_of({"--help"});
  std::size_t at = 0;
  for (const char* title : {"\nUsage: offwait TARGET ", "\nExamples:\n", "\nCommands:\n",
                            "\nTarget:\n  -p,--pid", "\nRecording:\n  -d,--duration", "\nOutput:\n  --json",
                            "\nAnalysis:\n  --min-weight", "\nOther:\n  -h,--help", "\nExit status: 0 "}) {
    CAPTURE(title);
    const std::size_t found = text.find(title, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  for (const Words& words :
       {Words{"--help"}, Words{"report", "--help"}, Words{"diff", "--help"}, Words{"dump", "--help"},
        Words{"export", "--help"}, Words{"calibrate", "--help"}, Words{"doctor", "--help"}}) {
    std::istringstream lines(text_of(words));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }) <= 100);
    }
  }
}

TEST_CASE("-h is short: the usage, the first five examples, and where the rest is") {
  const std::string text = text_of({"-h"});
  CHECK(std::count(text.begin(), text.end(), '\n') < 24);
  for (const char* part :
       {"\nUsage: offwait TARGET ", "\n  offwait -p mariadbd -d 30s ", "\n  offwait -- ./server",
        "\n  offwait record ", "\n  offwait report f ", "\n  offwait diff ",
        "\nAll options and commands: offwait --help, or man offwait\n"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text_of({"-p", "1", "-h"}) == text);
  CHECK(text_of({"-h", "--help"}) == text_of({"--help"}));
  for (const std::string command : {"record", "report", "diff", "dump", "export", "calibrate", "doctor"}) {
    const std::string brief = text_of({command, "-h"});
    CHECK(brief.find("\nAll options: offwait " + command + " --help, or man offwait-" + command + "\n") !=
          std::string::npos);
    CHECK(brief.size() < text_of({command, "--help"}).size());
  }
}

TEST_CASE("--version is one line") {
  CHECK(text_of({"--version"}) == "offwait 0.1.0\n");
  CHECK(text_of({"-V"}) == "offwait 0.1.0\n");
}

TEST_CASE("diff: two files, or -- between those of two sides") {
  const DiffOptions two = good<DiffOptions>({"diff", "a", "b"});
  CHECK(two.before == Words{"a"});
  CHECK(two.after == Words{"b"});
  CHECK(two.analysis.noise.part == 0.01);
  const DiffOptions many =
      good<DiffOptions>({"diff", "-v", "a", "b", "--json", "o", "--noise", "2%", "--", "c", "-d", "e"});
  CHECK(many.before == Words{"a", "b"});
  CHECK(many.after == Words{"c", "-d", "e"});
  CHECK(many.output.json == "o");
  CHECK(many.output.verbosity == 1);
  CHECK(many.analysis.noise.part == 0.02);
  CHECK(good<DiffOptions>({"diff", "a", "--", "b"}).after == Words{"b"});
}

}  // namespace
}  // namespace offwait::cli
