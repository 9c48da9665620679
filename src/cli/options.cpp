// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/escape.h"
#include "cli/help.h"
#include "cli/mistakes.h"
#include "cli/option_values.h"
#include "cli/version.h"

namespace offwait::cli {
namespace {

using Texts = std::vector<std::string>;

/// Hands what `parse` makes of an option's value to `target`. A value that is wrong ends parsing with the
/// sentence of the parser.
template <class T, class Target>
std::function<void(const std::string&)> into(Target& target, Result<T> (*parse)(std::string_view)) {
  return [&target, parse](const std::string& text) {
    Result<T> parsed = parse(text);
    if (!parsed) throw CLI::ValidationError(parsed.error().message);
    target = std::move(parsed).value();
  };
}

/// The same for an option that may be given several times.
template <class T>
std::function<void(const Texts&)> into_list(std::vector<T>& list, Result<T> (*parse)(std::string_view)) {
  return [&list, parse](const Texts& texts) {
    for (const std::string& text : texts) {
      Result<T> parsed = parse(text);
      if (!parsed) throw CLI::ValidationError(parsed.error().message);
      list.push_back(std::move(parsed).value());
    }
  };
}

/// `what` has to have a name: a shell's variable may be empty.
std::function<void(const std::string&)> name_into(std::string& name, const char* what) {
  return [&name, what](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError(fmt::format("the name of a {} is empty", what));
    name = text;
  };
}

Result<std::string> parse_pattern(std::string_view text) {
  if (text.empty()) return Error{"the pattern of a name is empty, and would match nobody"};
  return std::string(text);
}

/// An option whose values accumulate: each time it takes one word.
CLI::Option* repeated(CLI::Option* option) { return option->take_all()->allow_extra_args(false); }

void add_target_options(CLI::App& app, TargetOptions& target) {
  CLI::Option* const pid = repeated(app.add_option_function<Texts>(
      "-p,--pid",
      [&target](const Texts& texts) {
        Result<std::vector<std::int32_t>> pids = parse_pids(texts);
        if (!pids) throw CLI::ValidationError(pids.error().message);
        target.pids = std::move(pids).value();
      },
      "these processes, and those that they create"));
  pid->type_name("PID[,PID...]")->group("Target");
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

void add_recording_options(CLI::App& app, RecordingOptions& recording) {
  app.add_option_function<std::string>(
         "-d,--duration",
         [&recording](const std::string& text) {
           const Result<Nanos> duration = parse_duration(text);
           if (!duration) throw CLI::ValidationError(duration.error().message);
           recording.duration = *duration;
         },
         "how long to record: 90, 90s, 1m30s, 500ms; without it, until Ctrl-C or until the target exits. A "
         "last word after the target means the same: offwait -p 1234 30")
      ->type_name("TIME")
      ->group("Recording");
  app.add_option_function<std::string>(
         "--sample-hz", into(recording.sample_hz, parse_sample_hz),
         "how often to sample, on each CPU, which code the recorded threads run (default 99; 0: never)")
      ->type_name("HZ")
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
  app.add_flag("--java", recording.java,
               "get names of compiled Java code at the end of the recording: runs jcmd for each JVM of the "
               "target (JDK 17 or later)")
      ->group("Recording");
  app.add_flag("--debuginfod", recording.debuginfod,
               "get debug files from the servers in DEBUGINFOD_URLS; runs debuginfod-find")
      ->group("Recording");
}

void add_output_options(CLI::App& app, OutputOptions& output) {
  app.add_option_function<std::string>(
         "--json", name_into(output.json, "file"),
         "write the report as JSON; '-' is standard output, in place of the text")
      ->type_name("FILE")
      ->group("Output");
  CLI::Option* const folded =
      app.add_option_function<std::string>(
             "--folded", name_into(output.folded, "file"),
             "write stacks for flamegraph.pl; '-' is standard output, in place of the text")
          ->type_name("FILE")
          ->group("Output");
  app.add_option_function<std::string>("--folded-kind", into(output.folded_kind, parse_folded_kind),
                                       "which stacks --folded writes: where threads waited (off-cpu, the "
                                       "default), that and where the waker "
                                       "woke them (off-wake), or where they ran (on-cpu)")
      ->type_name("off-cpu|off-wake|on-cpu")
      ->needs(folded)
      ->group("Output");
  app.add_option_function<std::string>(
         "--folded-weight", into(output.folded_weight, parse_folded_weight),
         "what --folded counts, in microseconds: how long waits took (wait, the default), or their weight, "
         "which adds the time that others waited behind them")
      ->type_name("wait|weight")
      ->needs(folded)
      ->group("Output");
  app.add_flag("--explain", output.explain, "show each step of the search for knots, and its reason")
      ->group("Output");
  app.add_flag("--full-stacks", output.full_stacks,
               "show the frames that start threads, and those inside the libraries that wait and wake")
      ->group("Output");
  app.add_flag("-v,--verbose", output.verbosity, "show every edge and whole stacks")->group("Output");
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
  app.add_flag_callback(
         "--no-merge", [&analysis] { analysis.merge = false; }, "show similar threads one by one")
      ->group("Analysis");
  app.add_flag("--keep-false-wakeups", analysis.keep_false_wakeups,
               "count a wakeup even if the thread waits for the same futex again at once")
      ->group("Analysis");
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

/// Options that say which progress counts, and which changes to it are asked about.
void add_answer_options(CLI::App& app, AnalysisOptions& analysis) {
  repeated(app.add_option_function<Texts>(
               "--progress", into_list(analysis.progress.threads, parse_progress),
               "more work done by these threads is what the answers are about: a name, or a pattern as "
               "worker*; threads outside of the target count as well, such as its clients"))
      ->type_name("GLOB")
      ->group("Answers");
  repeated(app.add_option_function<Texts>(
               "--what-if",
               [&analysis](const Texts& texts) {
                 constexpr std::size_t kMost = 16;
                 if (texts.size() > kMost) throw CLI::ValidationError("--what-if may be given 16 times");
                 into_list(analysis.what_ifs, parse_what_if)(texts);
               },
               "say what these changes together would gain, as 'disk vda /2, cpus *2': disk NAME, cpus, or "
               "comm:GLOB with cpu, sleep, remote or io DISK; /2 is half of the time, *2 twice as much"))
      ->type_name("CHANGE[,CHANGE...]")
      ->group("Answers");
}

void add_quiet(CLI::App& app, bool& quiet, const char* description) {
  app.add_flag("-q,--quiet", quiet, description)->group("Output");
}

constexpr const char* kQuiet = "print no progress and no notes";

void add_help(CLI::App& app, const HelpText& text) {
  set_help(app, text);
  app.set_help_flag("-h,--help", "print this help")->group("Other");
}

/// The commands as CLI11 knows them, and where their values go.
struct CommandLine {
  CommandLine();

  CLI::App app{"", "offwait"};
  ProfileOptions profile;
  ReportOptions report;
  DumpOptions dump;
  CalibrateOptions calibrate;
  DoctorOptions doctor;

 private:
  CLI::App& add_command(const char* name, const char* description);
};

CLI::App& CommandLine::add_command(const char* name, const char* description) {
  return *app.add_subcommand(name, description)->allow_extras();
}

CommandLine::CommandLine() {
  app.set_help_flag();  // comes last in the list of options
  app.require_subcommand(0, 1)->allow_extras();
  add_target_options(app, profile.recording.target);
  add_recording_options(app, profile.recording);
  add_output_options(app, profile.output);
  add_quiet(app, profile.recording.quiet, kQuiet);
  add_answer_options(app, profile.analysis);
  add_analysis_options(app, profile.analysis);
  add_help(app, kProfileHelp);
  app.set_version_flag("-V,--version", fmt::format("offwait {}", kVersion), "print the version")
      ->group("Other");

  CLI::App& of_report = add_command("report", "report on waits that 'offwait dump' has written");
  of_report.add_option("FILE", report.input, "the waits; '-' is standard input")->group("Arguments");
  add_output_options(of_report, report.output);
  add_quiet(of_report, report.quiet, kQuiet);
  add_answer_options(of_report, report.analysis);
  add_analysis_options(of_report, report.analysis);
  add_help(of_report, kReportHelp);

  CLI::App& of_dump = add_command("dump", "record, and write the waits as text for 'offwait report'");
  add_target_options(of_dump, dump.recording.target);
  add_recording_options(of_dump, dump.recording);
  of_dump
      .add_option_function<std::string>("-o,--output", name_into(dump.output, "file"),
                                        "where to write; '-' (the default) is standard output")
      ->type_name("FILE")
      ->group("Output");
  add_quiet(of_dump, dump.recording.quiet, kQuiet);
  add_help(of_dump, kDumpHelp);

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
  add_help(of_doctor, kDoctorHelp);
}

KnownCommand known(const CLI::App& app, std::string name) {
  KnownCommand command{std::move(name), {}};
  for (const CLI::Option* option : app.get_options()) {
    KnownOption one;
    for (const std::string& letter : option->get_snames()) one.names.push_back("-" + letter);
    for (const std::string& word : option->get_lnames()) one.names.push_back("--" + word);
    if (option->get_items_expected_max() > 0) one.value = option->get_type_name();
    command.options.push_back(std::move(one));
  }
  return command;
}

KnownCommands known_commands(const CLI::App& app) {
  KnownCommands commands = {known(app, "")};
  for (const CLI::App* command : app.get_subcommands({}))
    commands.push_back(known(*command, command->get_name()));
  return commands;
}

/// `command` is the one whose help explains the mistake; empty: offwait itself.
Exit usage(const std::string& command, const std::string& what) {
  return Exit{2, fmt::format("offwait: {} (see offwait {}{}--help)\n", escape(what), command,
                             command.empty() ? "" : " ")};
}

/// The options of a target among those that were given, as their errors call them.
Texts given_targets(const TargetOptions& target, bool is_command) {
  Texts given;
  if (!target.pids.empty()) given.emplace_back("-p");
  if (target.tid != 0) given.emplace_back("-t");
  if (!target.cgroup.empty()) given.emplace_back("-c");
  if (!target.unit.empty()) given.emplace_back("--unit");
  if (!target.container.empty()) given.emplace_back("--container");
  if (target.all) given.emplace_back("-a");
  if (is_command) given.emplace_back("-- COMMAND");
  return given;
}

constexpr const char* kSayWhat =
    "say what to record: -p PID, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND";

/// Is one of these the option of a target?
bool has_target(const Texts& options) {
  static const std::set<std::string_view> kTargets = {"-p",       "--pid",  "-t",          "--tid", "-c",
                                                      "--cgroup", "--unit", "--container", "-a",    "--all"};
  return std::any_of(options.begin(), options.end(),
                     [](const std::string& option) { return kTargets.count(option) > 0; });
}

bool begins_with_digit(const std::string& word) { return word.find_first_of("0123456789") == 0; }

/// The words of the user, and what they were understood to be.
struct Parsed {
  Texts words;                   ///< without offwait's name, and without a program and its arguments
  std::optional<Texts> program;  ///< what follows `--`, where a program may
  CommandLine& line;
  KnownCommands commands;
  Reading reading;
  std::string complaint;  ///< of CLI11; empty: none
};

/// A last word that is the duration, as other tools take it; otherwise a sentence about words that are
/// neither options nor their values.
std::optional<std::string> take_last_word(const Parsed& parsed, RecordingOptions& recording) {
  const std::vector<Stray>& strays = parsed.reading.strays;
  if (strays.empty()) return std::nullopt;
  const Stray& first = strays.front();
  const bool knows_target = has_target(parsed.reading.options) || parsed.program;
  const bool is_alone = strays.size() == 1 && first.is_last;
  const bool is_duration = !first.is_option && begins_with_digit(first.word);
  if (is_duration && !knows_target) {
    return parse_id(first.word) ? fmt::format("unexpected '{}'; did you mean -p {}?", first.word, first.word)
                                : fmt::format("unexpected '{}'; {}", first.word, kSayWhat);
  }
  if (!first.is_option && !is_duration) {
    if (parsed.reading.command->name.empty()) return unknown_command(parsed.commands, first.word);
    return fmt::format("unexpected '{}': to run a program and record it, write -- before it", first.word);
  }
  for (const Stray& stray : strays) {
    if (stray.is_option) return unknown_option(parsed.commands, *parsed.reading.command, stray.word);
  }
  if (!is_alone || recording.duration) {
    return fmt::format(
        "unexpected '{}': a duration is -d TIME or one last word, several processes are -p 1,2", first.word);
  }
  const Result<Nanos> duration = parse_duration(first.word);
  if (!duration) return duration.error().message;
  recording.duration = *duration;
  return std::nullopt;
}

/// A sentence about what is wrong with the words, if anything is, whatever the command.
std::optional<std::string> wrong_words(const Parsed& parsed) {
  const Reading& reading = parsed.reading;
  if (reading.lacks_value) return reading.lacks_value;
  const bool records = reading.command->name.empty() || reading.command->name == "dump";
  for (const Stray& stray : reading.strays) {
    if (!records && stray.is_option) return unknown_option(parsed.commands, *reading.command, stray.word);
  }
  const std::vector<CLI::App*> commands = parsed.line.app.get_subcommands();
  for (const CLI::App* command : commands) {
    for (const CLI::Option* option : parsed.line.app.get_options()) {
      if (option->count() == 0) continue;
      return fmt::format("{} stands before {}, whose options stand after it", option->get_name(),
                         command->get_name());
    }
  }
  const CLI::App& command = commands.empty() ? parsed.line.app : *commands.front();
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 1 && option->get_expected_max() == 1)
      return fmt::format("{} is given more than once", option->get_name());
  }
  return std::nullopt;
}

std::optional<std::string> wrong_output(const OutputOptions& output) {
  if (output.json.empty() || output.json != output.folded) return std::nullopt;
  if (output.json == "-")
    return "--json - and --folded - both want standard output: write one of them to a file";
  return fmt::format("--json and --folded both want {}: write one of them to another file", output.json);
}

/// What a recording would not have, and its report is asked for.
std::optional<std::string> wrong_combination(const RecordingOptions& recording, const OutputOptions& output) {
  if (output.folded.empty()) return std::nullopt;
  if (!recording.stacks) return "--folded writes stacks, and --no-stacks records none";
  if (output.folded_kind == StackKind::on_cpu && recording.sample_hz == 0)
    return "--folded-kind on-cpu writes samples, and --sample-hz 0 takes none";
  return std::nullopt;
}

std::optional<std::string> wrong_target(const Parsed& parsed, TargetOptions& target) {
  const Texts given = given_targets(target, parsed.program.has_value());
  if (given.empty()) return kSayWhat;
  if (given.size() > 1)
    return fmt::format("{} and {} each say what to record: choose one", given[0], given[1]);
  if (!parsed.program) return std::nullopt;
  if (parsed.program->empty()) return "nothing follows --: write the program to record after it";
  target.command_line = *parsed.program;
  return std::nullopt;
}

/// Words that the command has no use for; CLI11 keeps the `--` before them.
Texts extra_words(const CLI::App& command) {
  Texts words = command.remaining();
  std::erase(words, "--");
  return words;
}

/// Exactly one word in place of `placeholder`.
std::optional<std::string> wrong_argument(const CLI::App& command, const std::string& given,
                                          const char* placeholder, const char* meaning) {
  if (given.empty()) {
    return fmt::format("{} needs a {}: {}", command.get_name(), placeholder, meaning);
  }
  if (const Texts more = extra_words(command); !more.empty()) {
    return fmt::format("unexpected '{}': {} takes one {}", more.front(), command.get_name(), placeholder);
  }
  return std::nullopt;
}

/// The first sentence there is; none means success.
using Complaint = std::optional<std::string>;

std::variant<Options, Exit> finish(const Parsed& parsed, const Complaint& complaint, Options options) {
  if (complaint) return usage(parsed.reading.command->name, *complaint);
  return options;
}

std::variant<Options, Exit> finish_profile(const Parsed& parsed) {
  ProfileOptions& profile = parsed.line.profile;
  Complaint wrong = take_last_word(parsed, profile.recording);
  if (!wrong && !parsed.complaint.empty()) wrong = parsed.complaint;
  if (!wrong) wrong = wrong_output(profile.output);
  if (!wrong) wrong = wrong_target(parsed, profile.recording.target);
  if (!wrong) wrong = wrong_combination(profile.recording, profile.output);
  return finish(parsed, wrong, std::move(profile));
}

std::variant<Options, Exit> finish_dump(const Parsed& parsed) {
  DumpOptions& dump = parsed.line.dump;
  Complaint wrong = take_last_word(parsed, dump.recording);
  if (!wrong && !parsed.complaint.empty()) wrong = parsed.complaint;
  if (!wrong) wrong = wrong_target(parsed, dump.recording.target);
  const bool says_where = parsed.line.app.get_subcommand("dump")->count("--output") > 0;
  if (!wrong && parsed.program && !says_where)
    wrong = "standard output is the command's: say where the waits are to go with -o FILE";
  return finish(parsed, wrong, std::move(dump));
}

std::variant<Options, Exit> finish_report(const Parsed& parsed) {
  ReportOptions& report = parsed.line.report;
  if (!parsed.complaint.empty()) return finish(parsed, parsed.complaint, report);
  Complaint wrong = wrong_argument(*parsed.line.app.get_subcommand("report"), report.input, "FILE",
                                   "what 'offwait dump -o FILE' has written, or - for standard input");
  if (!wrong) wrong = wrong_output(report.output);
  return finish(parsed, wrong, std::move(report));
}

std::variant<Options, Exit> finish_calibrate(const Parsed& parsed) {
  CalibrateOptions& calibrate = parsed.line.calibrate;
  if (!parsed.complaint.empty()) return finish(parsed, parsed.complaint, calibrate);
  const Complaint wrong = wrong_argument(*parsed.line.app.get_subcommand("calibrate"), calibrate.place,
                                         "DEVICE or PATH", "what to measure, as /dev/vda or /var/lib/mysql");
  return finish(parsed, wrong, std::move(calibrate));
}

std::variant<Options, Exit> finish_doctor(const Parsed& parsed) {
  Complaint wrong;
  if (!parsed.complaint.empty()) wrong = parsed.complaint;
  const Texts more = extra_words(*parsed.line.app.get_subcommand("doctor"));
  if (!wrong && !more.empty())
    wrong = fmt::format("unexpected '{}': doctor takes nothing but options", more.front());
  return finish(parsed, wrong, parsed.line.doctor);
}

/// Where the words of offwait end: at the `--` before a program to record. (Before a file, as in
/// `report -- FILE`, it is CLI11's business.)
Texts::const_iterator end_of_own(const Texts& words) {
  const bool may_run = !words.empty() && (words.front().starts_with('-') || words.front() == "dump");
  if (!may_run) return words.end();
  return std::find(words.begin(), words.end(), "--");
}

}  // namespace

std::variant<Options, Exit> parse_options(int argc, const char* const* argv) {
  Texts words(argv + std::min(argc, 1), argv + argc);
  const auto own_end = end_of_own(words);
  std::optional<Texts> program;
  if (own_end != words.end()) program.emplace(own_end + 1, words.cend());
  words.erase(own_end, words.cend());
  const bool is_help = !words.empty() && words.front() == "help";  // and `help COMMAND`
  if (is_help) {
    words.erase(words.begin());
    words.emplace_back("--help");
  }

  CommandLine line;
  const KnownCommands commands = known_commands(line.app);
  Reading reading = read_words(commands, words);
  std::string complaint;
  try {
    line.app.parse(Texts(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    if (is_help && !reading.strays.empty())
      return usage("", unknown_command(commands, reading.strays.front().word));
    return Exit{0, line.app.help()};  // of the command, if there is one
  } catch (const CLI::CallForVersion&) {
    return Exit{0, fmt::format("offwait {}\n", kVersion)};
  } catch (const CLI::ParseError& error) {
    complaint = error.what();
  }
  const Parsed parsed = {std::move(words), std::move(program), line, commands, std::move(reading), complaint};
  if (const Complaint wrong = wrong_words(parsed)) return usage(parsed.reading.command->name, *wrong);
  const std::string command =
      line.app.get_subcommands().empty() ? "" : line.app.get_subcommands().front()->get_name();
  if (command == "report") return finish_report(parsed);
  if (command == "dump") return finish_dump(parsed);
  if (command == "calibrate") return finish_calibrate(parsed);
  if (command == "doctor") return finish_doctor(parsed);
  return finish_profile(parsed);
}

}  // namespace offwait::cli
