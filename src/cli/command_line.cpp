// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command_line.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/help.h"
#include "cli/option_adders.h"
#include "cli/option_values.h"
#include "cli/version.h"

namespace offwait::cli {
namespace {

Result<std::string> parse_pattern(std::string_view text) {
  if (text.empty()) return Error{"the pattern of a name is empty, and would match nobody"};
  return std::string(text);
}

}  // namespace

void add_target_options(CLI::App& app, TargetOptions& target) {
  CLI::Option* const pid = repeated(app.add_option_function<Texts>(
      "-p,--pid",
      [&target](const Texts& texts) {
        Result<GivenProcesses> given = parse_processes(texts);
        if (!given) throw CLI::ValidationError(given.error().message);
        target.pids = std::move(given->pids);
        target.names = std::move(given->names);
      },
      "these processes, by number or name, and those that they create; a name has to be that of one "
      "process"));
  pid->type_name("PID|NAME[,...]")->group("Target");
  app.add_option_function<std::string>("-t,--tid", into(target.tid, parse_tid), "this thread alone")
      ->type_name("TID")
      ->group("Target");
  app.add_option_function<std::string>(
         "-c,--cgroup", name_into(target.cgroup, "cgroup"),
         "the processes in this cgroup (v2) and below it, as they come and go: its directory, or its path "
         "below the mount")
      ->type_name("PATH")
      ->group("Target");
  app.add_option_function<std::string>("--unit", name_into(target.unit, "unit"),
                                       "this unit of systemd: a service if the name has no suffix")
      ->type_name("NAME")
      ->group("Target");
  app.add_option_function<std::string>(
         "--container", name_into(target.container, "container"),
         "this container (Docker, Podman, Kubernetes, …): its id, or the first characters of it")
      ->type_name("ID")
      ->group("Target");
  app.add_flag("-a,--all", target.all, "the whole system")->group("Target");
}

namespace {

/// This option is for recordings whose records are kept until the end: a recording file takes them every
/// second.
void add_memory_option(CLI::App& app, RecordingOptions& recording) {
  app.add_option_function<std::string>(
         "--max-memory", into(recording.max_memory, parse_size),
         "the memory for records, as 512M (the default); the rest is kept in a file in $TMPDIR or /var/tmp "
         "until the end")
      ->type_name("BYTES")
      ->group("Recording");
}

}  // namespace

void add_counted_option(CLI::App& app, RecordingOptions& recording) {
  app.add_option_function<std::string>(
         "--progress-at",
         [&recording](const std::string& text) {
           Result<CountedFunction> counted = parse_counted(text);
           if (!counted) throw CLI::ValidationError(counted.error().message);
           recording.counted = std::move(counted).value();
         },
         "what the answers are about: more calls of this function of the target or one of its libraries; "
         "MODULE is the library's name, or a path")
      ->type_name("[MODULE:]FUNCTION")
      ->group("Answers");
}

namespace {

void add_recording_options(CLI::App& app, RecordingOptions& recording) {
  app.add_option_function<std::string>(
         "-d,--duration", into(recording.duration, parse_duration),
         "how long to record: 90, 90s, 1m30s, 500ms; without it, until Ctrl-C or until the target exits. A "
         "last word after the target means the same: offwait -p 1234 30")
      ->type_name("TIME")
      ->group("Recording");
  app.add_option_function<std::string>(
         "--start-at", into(recording.start_at, parse_start_at),
         "begin at the next multiple of this time by the wall clock, so that several hosts record the same "
         "window: /10s, /1m")
      ->type_name("/TIME")
      ->group("Recording");
  app.add_option_function<std::string>(
         "--sample-hz", into(recording.sample_hz, parse_sample_hz),
         "how often to sample, on each CPU, which code the recorded threads run (default 99; 0: never)")
      ->type_name("HZ")
      ->group("Recording");
  app.add_option_function<std::string>(
         "--max-overhead", into(recording.max_overhead, parse_overhead),
         "leave out stacks of short waits, by chance, when recording takes more than this part of the time "
         "that the CPUs are busy (default 3%; off: take the stacks of all waits); waits and their lengths "
         "are always recorded")
      ->type_name("PERCENT|off")
      ->group("Recording");
  app.add_flag_callback(
         "--no-stacks", [&recording] { recording.stacks = false; },
         "record no stacks and no samples; recording then costs about half")
      ->group("Recording");
  repeated(
      app.add_option_function<Texts>(
          "--spin",
          [&recording](const Texts& texts) {
            constexpr std::size_t kMost = 8;
            if (texts.size() > kMost) throw CLI::ValidationError("--spin may be given 8 times");
            into_list(recording.spins, parse_spin)(texts);
          },
          "count time in this function of the target as waiting; the waker is the thread that last called "
          "UNLOCK with the same first argument or, without UNLOCK, the one that last got through"))
      ->type_name("LOCK[,UNLOCK]")
      ->group("Recording");
  add_counted_option(app, recording);
  app.add_flag("--java", recording.java,
               "get names of compiled Java code at the end of the recording: runs jcmd for each JVM of the "
               "target (JDK 17 or later)")
      ->group("Recording");
  app.add_flag("--debuginfod", recording.debuginfod,
               "get debug files from the servers in DEBUGINFOD_URLS; runs debuginfod-find")
      ->group("Recording");
}

/// Options that say which stacks `writer` writes. `needed` is the option without which they have no effect;
/// none if parse_options() checks that.
void add_folded_options(CLI::App& app, FoldedOptions& folding, const char* writer, CLI::Option* needed) {
  const std::vector<CLI::Option*> options = {
      app.add_option_function<std::string>(
             "--folded-kind", into(folding.kind, parse_folded_kind),
             fmt::format(
                 "which stacks {} writes: where threads waited (off-cpu, the default), that and where "
                 "the waker woke them (off-wake), or where they ran (on-cpu)",
                 writer))
          ->type_name("off-cpu|off-wake|on-cpu"),
      app.add_option_function<std::string>(
             "--folded-weight", into(folding.weight, parse_folded_weight),
             fmt::format("what {} counts, in microseconds: how long waits took (wait, the default), or their "
                         "weight, which adds the time that others waited behind them",
                         writer))
          ->type_name("wait|weight"),
      app.add_flag(
          "--folded-objects", folding.objects,
          fmt::format("{} also says for which lock or file threads waited, as a last frame", writer))};
  for (CLI::Option* const option : options) {
    option->group("Output");
    if (needed != nullptr) option->needs(needed);
  }
}

constexpr const char* kFullStacks =
    "show the frames that start threads, and those inside the libraries that wait and wake";

void add_file_options(CLI::App& app, OutputOptions& output, const char* json_text, const char* folded_text) {
  app.add_option_function<std::string>("--json", name_into(output.json, "file"), json_text)
      ->type_name("FILE")
      ->group("Output");
  CLI::Option* const folded =
      app.add_option_function<std::string>("--folded", name_into(output.folded, "file"), folded_text)
          ->type_name("FILE")
          ->group("Output");
  add_folded_options(app, output.folding, "--folded", folded);
}

}  // namespace

void add_look_options(CLI::App& app, LookOptions& look) {
  app.add_option_function<std::string>("--color", into(look.color, parse_color),
                                       "colours: where a terminal shows the text (auto, the default), "
                                       "always, as for less -R, or never")
      ->type_name("auto|always|never")
      ->group("Output");
  app.add_option_function<std::string>("--width", into(look.width, parse_width),
                                       "how wide lines may be (default: the terminal, or 100)")
      ->type_name("COLUMNS")
      ->group("Output");
}

namespace {

CLI::Option* add_html_file(CLI::App& app, OutputOptions& output, const char* text) {
  return app.add_option_function<std::string>("--html", name_into(output.html, "file"), text)
      ->type_name("FILE")
      ->group("Output");
}

void add_html_options(CLI::App& app, OutputOptions& output) {
  CLI::Option* const html = add_html_file(
      app, output,
      "write the report as a page to look at: answers, graph, timeline and code in one file that a "
      "browser opens without a network; '-' is standard output, in place of the text");
  app.add_option_function<std::string>("--html-size", into(output.html_bytes, parse_page_size),
                                       "how large the page may be, as 900k or 20M (default 5M); single waits "
                                       "take what is left, the longest ones first")
      ->type_name("BYTES")
      ->group("Output")
      ->needs(html);
}

void add_output_options(CLI::App& app, OutputOptions& output) {
  add_file_options(app, output, "write the report as JSON; '-' is standard output, in place of the text",
                   "write stacks for flamegraph.pl; '-' is standard output, in place of the text");
  add_html_options(app, output);
  app.add_flag(
         "--redact", output.redact,
         "write paths without their directories, and addresses of other hosts as 10.0.3.x1, in all outputs; "
         "options that name a file or a service go by these names, too")
      ->group("Output");
  app.add_option_function<std::string>(
         "--view",
         [&output](const std::string& text) {
           const Result<View> view = parse_view(text);
           if (!view) throw CLI::ValidationError(view.error().message);
           output.view = *view;
         },
         "show a table in place of the report: functions by time on CPUs and in waits, threads by how "
         "critical they are, locks with their holders, or files by the time that threads waited for "
         "them; --json has all of them")
      ->type_name("functions|threads|locks|files")
      ->group("Output");
  app.add_flag("--explain", output.explain, "show each step of the search for knots, and its reason")
      ->group("Output");
  app.add_flag("--full-stacks", output.full_stacks, kFullStacks)->group("Output");
  app.add_flag("-v,--verbose", output.verbosity, "show every edge and whole stacks")->group("Output");
  add_look_options(app, output.look);
}

void add_filter_options(CLI::App& app, AnalysisOptions& analysis) {
  repeated(app.add_option_function<Texts>(
               "--comm", into_list(analysis.filter.comms, parse_pattern),
               "restrict the target to processes whose names match, as mysql*; the rest appear as "
               "(outside)"))
      ->type_name("GLOB")
      ->group("Analysis");
  repeated(app.add_option_function<Texts>(
               "--threads", into_list(analysis.filter.threads, parse_pattern),
               "restrict the target to threads whose own names match, as worker*; the rest appear "
               "as (outside)"))
      ->type_name("GLOB")
      ->group("Analysis");
}

void add_false_wakeups_option(CLI::App& app, AnalysisOptions& analysis) {
  app.add_flag("--keep-false-wakeups", analysis.keep_false_wakeups,
               "count a wakeup even if the thread waits for the same futex again at once")
      ->group("Analysis");
}

void add_analysis_options(CLI::App& app, AnalysisOptions& analysis) {
  app.add_option_function<std::string>("--min-weight", into(analysis.min_weight, parse_threshold),
                                       "keep edges of at least this weight when a knot is refined: a part of "
                                       "the window like 20%, or a time "
                                       "like 500ms (default 20%)")
      ->type_name("PART")
      ->group("Analysis");
  app.add_option_function<std::string>("--noise", into(analysis.noise, parse_threshold),
                                       "ignore edges of less than this weight (default 1%)")
      ->type_name("PART")
      ->group("Analysis");
  add_filter_options(app, analysis);
  app.add_flag_callback(
         "--no-merge", [&analysis] { analysis.merge = false; }, "show similar threads one by one")
      ->group("Analysis");
  add_false_wakeups_option(app, analysis);
  repeated(app.add_option_function<Texts>("--disk-capacity",
                                          into_list(analysis.capacities.disks, parse_capacity),
                                          "what a disk can do at most, as vda=500M,50k"))
      ->type_name("NAME=BYTES/s,IO/s")
      ->group("Analysis");
  repeated(app.add_option_function<Texts>(
               "--nic-capacity", into_list(analysis.capacities.nics, parse_nic_capacity),
               "what a network interface can receive and send at most, as eth0=10G or eth0=1G,100M"))
      ->type_name("NAME=BITS/s[,BITS/s]")
      ->group("Analysis");
}

}  // namespace

void add_progress_option(CLI::App& app, AnalysisOptions& analysis) {
  repeated(
      app.add_option_function<Texts>(
          "--progress",
          [&analysis](const Texts& texts) {
            Result<ProgressOptions> progress = parse_progress(texts);
            if (!progress) throw CLI::ValidationError(progress.error().message);
            analysis.progress = std::move(progress).value();
          },
          "what the answers are about: more work done by these threads, by name or pattern as worker*, be "
          "they of the target or its clients; or the end of the program after --, which is the default "
          "if it ends while it is recorded"))
      ->type_name("GLOB|end")
      ->group("Answers");
}

namespace {

/// Options that say which progress counts, and which changes to it are asked about.
void add_answer_options(CLI::App& app, AnalysisOptions& analysis) {
  add_progress_option(app, analysis);
  repeated(app.add_option_function<Texts>(
               "--what-if",
               [&analysis](const Texts& texts) {
                 constexpr std::size_t kMost = 16;
                 if (texts.size() > kMost) throw CLI::ValidationError("--what-if may be given 16 times");
                 into_list(analysis.what_ifs, parse_what_if)(texts);
               },
               "say what these changes together would gain, as 'disk vda /2, cpus *2': disk NAME, service "
               "ADDRESS, cpus, lock NAME (or lock NAME free: no thread waits for it), comm:GLOB with cpu, "
               "sleep, remote, io DISK or threads, or function NAME, alone or with cpu, io, sleep or remote; "
               "/2 is half of the time, *2 twice as much"))
      ->type_name("CHANGE[,CHANGE...]")
      ->group("Answers");
}

/// Options that choose a part of a recording.
void add_part_options(CLI::App& app, TracePart& part) {
  CLI::Option* const window =
      app.add_option_function<std::string>("--window", into(part, parse_window),
                                           "only this part of the recording: counted from its start, as "
                                           "30s..40s, 30s.. or ..40s, or by the clock of this host, as "
                                           "13:09:10..13:09:20 (13:09:10Z: UTC)")
          ->type_name("FROM..TO")
          ->group("Part");
  app.add_option_function<std::string>("--last", into(part, parse_last),
                                       "only the end of the recording, of this length")
      ->type_name("TIME")
      ->excludes(window)
      ->group("Part");
}

/// What is read of a recording depends on this as well.
void add_report_memory(CLI::App& app, ReportOptions& report) {
  app.add_option_function<std::string>(
         "--max-memory", into(report.max_memory, parse_size),
         "what the report may take of memory, as 512M (default: half of what is available); if the "
         "recording needs more, the report is of its last part that does not, and a note says so")
      ->type_name("BYTES")
      ->group("Part");
}

void add_quiet(CLI::App& app, bool& quiet, const char* description) {
  app.add_flag("-q,--quiet", quiet, description)->group("Output");
}

constexpr const char* kQuiet = "print no progress and no notes";

}  // namespace

void add_help(CLI::App& app, const HelpText& text) {
  set_help(app, text);
  app.set_help_flag("-h,--help", "print this help; -h prints the first examples alone")->group("Other");
}

CLI::App& CommandLine::add_command(const char* name, const char* description) {
  return *app.add_subcommand(name, description)->allow_extras();
}

/// Options of a recording of which only the last part is kept.
void CommandLine::add_flight() {
  CLI::App& command = *app.get_subcommand("record");
  CLI::Option* const flight = command
                                  .add_option_function<std::string>(
                                      "--flight", into(record.flight, parse_flight),
                                      "keep the last part of the recording, of this length (1s to 1h), and "
                                      "write it into a file in the directory -o on SIGUSR1, at the end, "
                                      "and when --when applies")
                                  ->type_name("TIME")
                                  ->group("Flight");
  repeated(command.add_option_function<Texts>(
               "--when", into_list(record.triggers, parse_trigger),
               "write a file when threads that could run did not run for more than this part of the last 5 "
               "seconds (runnable>50%; also running and blocked, of all time), or when one waits longer than "
               "this for a disk, a page, a lock of the kernel or a mutex (wait>500ms), or for anything of a "
               "class (wait:futex>500ms)"))
      ->type_name("STATE>PART|wait[:CLASS]>TIME")
      ->group("Flight")
      ->needs(flight);
  command
      .add_option_function<std::string>("--cooldown", into(record.cooldown, parse_duration),
                                        "write no file because of --when for so long after another (default "
                                        "60s)")
      ->type_name("TIME")
      ->group("Flight")
      ->needs(flight);
  command
      .add_option_function<std::string>(
          "--keep", into(record.keep, parse_keep),
          "keep this many files in the directory, and remove the oldest (default "
          "10)")
      ->type_name("NUMBER")
      ->group("Flight")
      ->needs(flight);
  command
      .add_option_function<std::string>("--max-memory", into(record.recording.max_memory, parse_size),
                                        "the memory for records, as 512M (the default); if that is too "
                                        "little, the part that is kept is shorter")
      ->type_name("BYTES")
      ->group("Flight")
      ->needs(flight);
}

void CommandLine::add_record() {
  CLI::App& of_record = add_command("record", "record into a file, for 'offwait report' and others");
  add_target_options(of_record, record.recording.target);
  add_recording_options(of_record, record.recording);
  add_flight();
  of_record
      .add_option_function<std::string>("-o,--output", name_into(record.output, "file"),
                                        "where to write (default offwait-NAME-TIME.offwait); '-' is standard "
                                        "output; with --flight a directory, which is made if need be")
      ->type_name("FILE")
      ->group("Output");
  repeated(of_record.add_option_function<Texts>("--label", into_list(record.labels, parse_label),
                                                "note this in the file, as version=10.11"))
      ->type_name("KEY=VALUE")
      ->group("Output");
  of_record
      .add_flag_callback(
          "--no-symbols", [this] { record.symbols = false; },
          "write modules, their build ids and offsets in place of the names of functions")
      ->group("Output");
  add_quiet(of_record, record.recording.quiet, kQuiet);
  add_help(of_record, kRecordHelp);
}

void CommandLine::add_export() {
  CLI::App& app_of_export = add_command("export", "write a recording for another program");
  app_of_export.add_option("FILE", exporting.input.path, "a recording; '-' is standard input")
      ->group("Arguments");
  add_part_options(app_of_export, exporting.input.part);
  app_of_export
      .add_option_function<std::string>("--format", into(exporting.format, parse_export_format),
                                        "what to write: a trace for ui.perfetto.dev (perfetto), a profile "
                                        "for go tool pprof (pprof), the wait "
                                        "graph for Graphviz (dot), stacks for flamegraph.pl (folded), "
                                        "profiles for speedscope.app (speedscope), "
                                        "or edges and waits for databases, one JSON object a line (ndjson)")
      ->type_name("perfetto|pprof|dot|folded|speedscope|ndjson")
      ->group("Output");
  app_of_export
      .add_option_function<std::string>("-o,--output", name_into(exporting.output, "file"),
                                        "where to write; '-' (the default) is standard output")
      ->type_name("FILE")
      ->group("Output");
  add_folded_options(app_of_export, exporting.folding, "--format folded", nullptr);
  app_of_export
      .add_flag("--full-stacks", exporting.full_stacks, std::string("--format folded: ") + kFullStacks)
      ->group("Output");
  add_quiet(app_of_export, exporting.quiet, "print no notes");
  add_progress_option(app_of_export, exporting.analysis);
  add_analysis_options(app_of_export, exporting.analysis);
  add_help(app_of_export, kExportHelp);
}

CommandLine::CommandLine() {
  app.set_help_flag();  // comes last in the list of options
  app.require_subcommand(0, 1)->allow_extras();
  add_target_options(app, profile.recording.target);
  add_recording_options(app, profile.recording);
  add_memory_option(app, profile.recording);
  add_output_options(app, profile.output);
  add_quiet(app, profile.recording.quiet, kQuiet);
  add_answer_options(app, profile.analysis);
  add_analysis_options(app, profile.analysis);
  add_help(app, kProfileHelp);
  app.set_version_flag("-V,--version", fmt::format("offwait {}", kVersion), "print the version")
      ->group("Other");

  add_record();
  add_top();

  CLI::App& of_report = add_command("report", "report on a recording");
  of_report
      .add_option("FILE", report.input.path,
                  "a recording; '-' is standard input, and of a directory it is the newest")
      ->group("Arguments");
  add_part_options(of_report, report.input.part);
  add_report_memory(of_report, report);
  add_output_options(of_report, report.output);
  add_quiet(of_report, report.quiet, kQuiet);
  add_answer_options(of_report, report.analysis);
  add_analysis_options(of_report, report.analysis);
  add_help(of_report, kReportHelp);

  add_diff();

  CLI::App& of_dump = add_command("dump", "write a recording as text, or record and do so");
  of_dump.add_option("FILE", dump.input.path, "a recording, in place of a target; '-' is standard input")
      ->group("Arguments");
  add_target_options(of_dump, dump.recording.target);
  add_recording_options(of_dump, dump.recording);
  add_memory_option(of_dump, dump.recording);
  of_dump
      .add_option_function<std::string>("-o,--output", name_into(dump.output, "file"),
                                        "where to write; '-' (the default) is standard output")
      ->type_name("FILE")
      ->group("Output");
  add_part_options(of_dump, dump.input.part);
  add_quiet(of_dump, dump.recording.quiet, kQuiet);
  add_help(of_dump, kDumpHelp);

  add_export();

  CLI::App& of_calibrate = add_command("calibrate", "measure what a disk can do at most");
  of_calibrate
      .add_option("DEVICE|PATH", calibrate.place,
                  "a block device, which is only read; or a directory (or a file in it) on the disk, where a "
                  "file is written, read and removed")
      ->group("Arguments");
  of_calibrate
      .add_option_function<std::string>("-d,--duration", into(calibrate.each, parse_duration),
                                        "how long each measurement takes (default 3s); there are 2 on a "
                                        "device and 4 on a path")
      ->type_name("TIME")
      ->group("Measuring");
  of_calibrate
      .add_option_function<std::string>("--size", into(calibrate.file_bytes, parse_size),
                                        "how large the file on a path is (default 1G); as much must remain "
                                        "free")
      ->type_name("BYTES")
      ->group("Measuring");
  add_quiet(of_calibrate, calibrate.quiet, "do not say what will be done");
  add_help(of_calibrate, kCalibrateHelp);

  CLI::App& of_doctor = add_command("doctor", "say what can be recorded on this host");
  of_doctor.add_flag("--json", doctor.json, "print JSON")->group("Output");
  add_look_options(of_doctor, doctor.look);
  add_help(of_doctor, kDoctorHelp);
}

void CommandLine::add_diff() {
  CLI::App& command = add_command("diff", "compare recordings before and after a change");
  command
      .add_option("FILE", diff.before,
                  "what 'offwait record' or 'offwait dump' has written: one file before and one after the "
                  "change, or several, with -- between those before and those after; '-' is standard input")
      ->type_name("")
      ->group("Arguments");
  add_file_options(
      command, diff.output, "write the comparison as JSON; '-' is standard output, in place of the text",
      "write stacks with their sums before and after, as difffolded.pl does; '-' is standard output, in "
      "place of the text");
  add_html_file(command, diff.output,
                "write the comparison as a page to look at; '-' is standard output, in place of the text");
  command.add_flag("--full-stacks", diff.output.full_stacks, kFullStacks)->group("Output");
  command
      .add_flag("-v,--verbose", diff.output.verbosity,
                "show all rows, also those within the spread, with the amounts of each recording")
      ->group("Output");
  add_look_options(command, diff.output.look);
  add_part_options(command, diff.part);
  add_progress_option(command, diff.analysis);
  command
      .add_option_function<std::string>("--noise", into(diff.analysis.noise, parse_threshold),
                                        "look at rows that fill this part of the window on one side (default "
                                        "1%)")
      ->type_name("PART")
      ->group("Analysis");
  add_filter_options(command, diff.analysis);
  add_false_wakeups_option(command, diff.analysis);
  add_help(command, kDiffHelp);
}

}  // namespace offwait::cli
