// SPDX-License-Identifier: GPL-2.0-or-later
// How --help looks: usage, examples, commands, then the options in groups. packaging/generate.py reads it. -h
// has the usage and the first examples alone.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace offwait::cli {

/// What a command's help has beside its options. Lines end with a newline.
struct HelpText {
  std::string_view description;
  std::string_view usage;     ///< what follows "Usage: ", a line for each form
  std::string_view examples;  ///< below "Examples:"
  std::string_view closing;   ///< after the options; may be empty
};

/// What -h prints of the command of this name; empty: offwait itself.
std::string short_help(const std::string& command, const HelpText& text);

/// Makes `app` print this help. No line is longer than 100 columns if the lines of `text` are not.
void set_help(CLI::App& app, const HelpText& text);

inline constexpr HelpText kProfileHelp = {
    R"(What limits a running program, and what would a fix gain? offwait records which thread waits for
which, replays the recording with one part changed, and prints the changes that gain most, each with
its gain and what that rests on. Below these answers it shows why: the knots, groups of threads and
devices that wait for each other and for nobody outside.
)",
    R"(offwait TARGET [OPTION]...
       offwait [OPTION]... -- PROGRAM [ARGUMENT]...
       offwait COMMAND [OPTION]...
)",
    R"(  offwait -p mariadbd -d 30s            what limits this process? Ctrl-C ends it earlier
  offwait -- ./server --flags           run a program and record it until it exits
  offwait record -p 1234 -d 30s -o f    record only, and
  offwait report f                      report later or on another machine, without root
  offwait diff before after             compare before and after a change
  offwait top -p mariadbd               watch this, while it happens
  offwait report f --what-if 'disk vda /2, cpus *2'    what would this change gain?
  offwait -p 1234 -d 30s --json r.json  the report, and everything as JSON
  offwait --container 4f1a -d 30s       a container, by the first characters of its id
  offwait -a -d 10s                     the whole system
  offwait export --format dot f         the same waits for another program
  offwait calibrate /var/lib/mysql      measure a disk once, so that its capacity is not assumed
  offwait doctor                        what can be recorded on this host?
)",
    R"(Exit status: 0 a report was printed, 1 it could not be, 2 the command line is wrong. After --, the
exit status is the program's: its own, 128 + the number of the signal that ended it, 126 if it
cannot be executed, or 127 if it was not found.
)"};

inline constexpr HelpText kRecordHelp = {
    "Record into a file, which 'offwait report' and others read as often as you like, on any machine and\n"
    "without root. What was recorded is in the file a second later, whatever happens. With --flight, record\n"
    "for weeks, and write the last minute when something happens.\n",
    R"(offwait record TARGET [-o FILE] [OPTION]...
       offwait record [-o FILE] [OPTION]... -- PROGRAM [ARGUMENT]...
       offwait record TARGET --flight TIME -o DIRECTORY [OPTION]...
)",
    R"(  offwait record -p 1234 -d 10m -o day.offwait
  offwait record --unit mariadb -d 60s -o before.offwait --label threads=64
  offwait report day.offwait --last 30s
  offwait record --unit mariadb --flight 60s -o /var/tmp/flights --when 'wait>500ms'
)",
    ""};

inline constexpr HelpText kTopHelp = {
    R"(Show while it happens what a program waits for, and what would help. Threads by what they do, CPUs,
progress and what offwait costs are those of the last seconds. Who waits for whom, locks and files
are analysed every few seconds, and the answers as often as the budget allows; each says how old it
is. Press ? for the keys.
)",
    R"(offwait top TARGET [OPTION]...
       offwait top --replay FILE [OPTION]...
)",
    R"(  offwait top -p mariadbd
  offwait top -a                        the whole system
  offwait top --replay day.offwait      a recording, at the pace at which it was made
  offwait top -p 1234 --once            one screen after 10 s, for scripts and watch
  offwait top -p 1234 --batch           a line each second, for a log
)",
    ""};

inline constexpr HelpText kReportHelp = {
    "Print a report of a recording that 'offwait record' or 'offwait dump' has written. Neither root nor\n"
    "the recorded machine is needed.\n",
    "offwait report [OPTION]... FILE\n",
    R"(  offwait report day.offwait
  offwait report day.offwait --window 30s..40s   only this part; or by the clock, 13:09:10..13:09:20
  offwait report /var/tmp/flights                the newest recording in a directory
  offwait report day.offwait --explain           why these knots?
  offwait report --json - day.offwait | jq .knots
  offwait report day.offwait --html day.html     a page to look at: graph, timeline, code
)",
    ""};

inline constexpr HelpText kDiffHelp = {
    R"(Compare recordings before and after a change: which waits, locks, code and knots grew, shrank, came
or went, per unit of progress where both sides count the same, and per second otherwise. What lies
within the spread of the recordings is set aside. Three recordings of a side tell more than one.
)",
    R"(offwait diff [OPTION]... BEFORE AFTER
       offwait diff [OPTION]... BEFORE... -- AFTER...
)",
    R"(  offwait diff before.txt after.txt
  offwait diff a1.txt a2.txt a3.txt -- b1.txt b2.txt b3.txt
  offwait diff --folded - before.txt after.txt | flamegraph.pl > diff.svg
)",
    R"(Exit status: 0 a comparison was printed, whether anything changed or not, 1 it could not be, 2 the
command line is wrong.
)"};

inline constexpr HelpText kDumpHelp = {
    "Write a recording as text, which people and programs can read, and 'offwait report'. Without FILE it\n"
    "is recorded first.\n",
    R"(offwait dump FILE [OPTION]...
       offwait dump TARGET [OPTION]...
       offwait dump -o FILE [OPTION]... -- PROGRAM [ARGUMENT]...
)",
    R"(  offwait dump day.offwait | grep class=disk
  offwait dump -p 1234 -d 10s -o w.txt
  offwait dump -p 1234 -d 10s | ssh desk offwait report -
)",
    ""};

inline constexpr HelpText kExportHelp = {
    "Write a recording of 'offwait record' or 'offwait dump' in the form of another program. Neither root\n"
    "nor the recorded machine is needed.\n",
    "offwait export --format FORMAT [OPTION]... FILE\n",
    R"(  offwait export --format perfetto f -o f.pftrace    open it with https://ui.perfetto.dev
  offwait export --format pprof f -o f.pb.gz         go tool pprof -http=: f.pb.gz
  offwait export --format dot f | dot -Tsvg -o f.svg
)",
    ""};

inline constexpr HelpText kCalibrateHelp = {
    "Measure what a disk can do at most. Later recordings on this disk use the result.\n",
    "offwait calibrate [OPTION]... DEVICE|PATH\n",
    R"(  offwait calibrate /var/lib/mysql    reads and writes, on the disk that has this directory
  offwait calibrate /dev/nvme0n1      reads only
)",
    R"(The results are stored in /var/lib/offwait. They come out too low when something else uses the disk
meanwhile, and too high when a device answers reads of places that were never written without a
look at its medium.
)"};

inline constexpr HelpText kDoctorHelp = {
    "Say what this host allows offwait to record, and what to do about the rest.\n",
    "offwait doctor [OPTION]...\n", "",
    R"(offwait finds out by trying: it records itself for a moment. Without privileges it says what it
could not try.

Exit status: 0 recording is possible, 1 it is not, and the last line says why.
)"};

/// The help of the command of this name; empty: offwait itself.
constexpr const HelpText& help_text(std::string_view command) {
  if (command == "record") return kRecordHelp;
  if (command == "top") return kTopHelp;
  if (command == "report") return kReportHelp;
  if (command == "diff") return kDiffHelp;
  if (command == "dump") return kDumpHelp;
  if (command == "export") return kExportHelp;
  if (command == "calibrate") return kCalibrateHelp;
  return command == "doctor" ? kDoctorHelp : kProfileHelp;
}

}  // namespace offwait::cli
