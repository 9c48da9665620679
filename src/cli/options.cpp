// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/exit_status.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/mistakes.h"
#include "cli/option_values.h"
#include "cli/version.h"

namespace offwait::cli {
namespace {

using Texts = std::vector<std::string>;

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
  return Exit{kUsage, fmt::format("offwait: {} (see offwait {}{}--help)\n", escape(what), command,
                                  command.empty() ? "" : " ")};
}

/// The options of a target among those that were given, as their errors call them.
Texts given_targets(const TargetOptions& target, bool is_command) {
  Texts given;
  if (!target.pids.empty() || !target.names.empty()) given.emplace_back("-p");
  if (target.tid != 0) given.emplace_back("-t");
  if (!target.cgroup.empty()) given.emplace_back("-c");
  if (!target.unit.empty()) given.emplace_back("--unit");
  if (!target.container.empty()) given.emplace_back("--container");
  if (target.all) given.emplace_back("-a");
  if (is_command) given.emplace_back("-- COMMAND");
  return given;
}

constexpr const char* kSayWhat =
    "say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND";

/// Is one of these the option of a target?
bool has_target(const Texts& options) {
  static const std::set<std::string_view> kTargets = {"-p",       "--pid",  "-t",          "--tid", "-c",
                                                      "--cgroup", "--unit", "--container", "-a",    "--all"};
  return std::any_of(options.begin(), options.end(),
                     [](const std::string& option) { return kTargets.count(option) > 0; });
}

bool begins_with_digit(const std::string& word) { return word.find_first_of("0123456789") == 0; }

/// Whether the command takes a target, and a program after `--`.
bool may_record(std::string_view command) {
  return command.empty() || command == "record" || command == "dump";
}

/// The words of the user, and what they were understood to be.
struct Parsed {
  Texts words;                   ///< without offwait's name, and without a program and its arguments
  std::optional<Texts> program;  ///< what follows `--`, where a program may, or the second side of a diff
  CommandLine& line;
  KnownCommands commands;
  Reading reading;
  std::string complaint;  ///< of CLI11; empty: none
};

/// `sleep 10` beside a target is how perf and strace are told for how long.
std::optional<std::string> how_long(const Texts& program) {
  if (program.size() != 2 || program.front() != "sleep" || !parse_duration(program.back()))
    return std::nullopt;
  return fmt::format("to record for so long, write -d {0} in place of sleep {0}", program.back());
}

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
    Texts words;
    for (const Stray& stray : strays) words.push_back(stray.word);
    if (std::optional<std::string> sleep = how_long(words); sleep && knows_target) return sleep;
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
  const bool records = may_record(reading.command->name);
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

std::optional<std::string> wrong_folding(const FoldedOptions& folding) {
  if (folding.kind != StackKind::on_cpu || !folding.objects) return std::nullopt;
  return "--folded-objects says what threads waited for, and --folded-kind on-cpu where they ran";
}

std::optional<std::string> wrong_output(const OutputOptions& output) {
  if (std::optional<std::string> wrong = wrong_folding(output.folding)) return wrong;
  const std::array<std::pair<std::string_view, const std::string*>, 3> files = {
      {{"--json", &output.json}, {"--folded", &output.folded}, {"--html", &output.html}}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = i + 1; k < files.size(); ++k) {
      const auto& [one, file] = files[i];
      const auto& [other, same] = files[k];
      if (file->empty() || *file != *same) continue;
      if (*file == "-")
        return fmt::format("{} - and {} - both want standard output: write one of them to a file", one,
                           other);
      return fmt::format("{} and {} both want {}: write one of them to another file", one, other, *file);
    }
  }
  return std::nullopt;
}

/// A sentence if an output is to go to standard output, which belongs to the program that is recorded.
std::optional<std::string> wrong_output_of_program(const OutputOptions& output) {
  for (const auto& [option, file] :
       {std::pair{"--json", &output.json}, {"--folded", &output.folded}, {"--html", &output.html}}) {
    if (*file == "-")
      return fmt::format("standard output is the program's: write to a file with {} FILE", option);
  }
  return std::nullopt;
}

/// A sentence if the outputs need something that the recording leaves out.
std::optional<std::string> wrong_combination(const RecordingOptions& recording, const OutputOptions& output) {
  if (output.folded.empty()) return std::nullopt;
  if (!recording.stacks) return "--folded writes stacks, and --no-stacks records none";
  if (output.folding.kind == StackKind::on_cpu && recording.sample_hz == 0)
    return "--folded-kind on-cpu writes samples, and --sample-hz 0 takes none";
  return std::nullopt;
}

std::optional<std::string> wrong_progress(const ProfileOptions& profile) {
  const ProgressOptions& progress = profile.analysis.progress;
  if (profile.recording.counted && (progress.end || !progress.threads.empty()))
    return fmt::format("--progress-at {} and --progress {} each say what counts: choose one",
                       profile.recording.counted->name, progress.end ? "end" : progress.threads.front());
  if (progress.end && profile.recording.target.command_line.empty())
    return "--progress end is the end of a program: write -- and the program last, or name threads";
  return std::nullopt;
}

std::optional<std::string> wrong_target(const Parsed& parsed, TargetOptions& target) {
  const Texts given = given_targets(target, parsed.program.has_value());
  if (given.empty()) return kSayWhat;
  if (std::optional<std::string> sleep = how_long(parsed.program.value_or(Texts{}));
      sleep && given.size() == 2)
    return sleep;
  if (given.size() > 1)
    return fmt::format("{} and {} each say what to record: choose one", given[0], given[1]);
  if (!parsed.program) return std::nullopt;
  if (parsed.program->empty()) return "nothing follows --: write the program to record after it";
  target.command_line = *parsed.program;
  return std::nullopt;
}

constexpr const char* kAnyRecording =
    "what 'offwait record' or 'offwait dump' has written, - for standard input, or a directory for the "
    "newest in it";

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
  if (!wrong && parsed.program) wrong = wrong_output_of_program(profile.output);
  if (!wrong) wrong = wrong_progress(profile);
  if (!wrong) wrong = wrong_combination(profile.recording, profile.output);
  return finish(parsed, wrong, std::move(profile));
}

std::variant<Options, Exit> finish_record(const Parsed& parsed) {
  RecordOptions& record = parsed.line.record;
  Complaint wrong = take_last_word(parsed, record.recording);
  if (!wrong && !parsed.complaint.empty()) wrong = parsed.complaint;
  if (!wrong) wrong = wrong_target(parsed, record.recording.target);
  if (!wrong && record.flight && (record.output.empty() || record.output == "-"))
    wrong = "--flight writes one file after the other: say into which directory with -o DIRECTORY";
  if (!wrong && parsed.program && record.output == "-")
    wrong = "standard output is the program's: say where the recording is to go with -o FILE";
  record.command_line = parsed.words;
  record.command_line.insert(record.command_line.begin(), "offwait");
  return finish(parsed, wrong, std::move(record));
}

/// A complaint about an option of recording where a file is replayed, or the other way round.
Complaint wrong_top_source(const Parsed& parsed, TopOptions& top) {
  const CLI::App& command = *parsed.line.app.get_subcommand("top");
  if (top.replay.empty()) {
    if (top.at) return "--at is a time in the recording of --replay FILE";
    return wrong_target(parsed, top.recording.target);
  }
  if (!given_targets(top.recording.target, false).empty())
    return fmt::format("{} and --replay each say what to show: choose one",
                       given_targets(top.recording.target, false).front());
  for (const char* name : {"--duration", "--max-overhead", "--progress-at"}) {
    if (command.count(name) > 0)
      return fmt::format("{} is about a recording, and {} is one already", name, top.replay);
  }
  return std::nullopt;
}

std::variant<Options, Exit> finish_top(const Parsed& parsed) {
  TopOptions& top = parsed.line.top;
  if (!parsed.complaint.empty()) return finish(parsed, parsed.complaint, top);
  Complaint wrong;
  const CLI::App& command = *parsed.line.app.get_subcommand("top");
  if (const Texts more = extra_words(command); !more.empty())
    wrong = fmt::format("unexpected '{}': top takes a target and options, as in 'offwait top -p PID'",
                        more.front());
  if (!wrong && top.once && top.batch) wrong = "--once and --batch each say what to print: choose one";
  if (!wrong) wrong = wrong_top_source(parsed, top);
  top.command_line = parsed.words;
  top.command_line.insert(top.command_line.begin(), "offwait");
  return finish(parsed, wrong, std::move(top));
}

/// A complaint about an option of recording where a file is dumped.
Complaint wrong_with_file(const Parsed& parsed) {
  static const std::set<std::string_view> kOfFiles = {"-o",      "--output", "-q",
                                                      "--quiet", "--window", "--last"};
  for (const std::string& option : parsed.reading.options) {
    if (!kOfFiles.contains(option))
      return fmt::format("{} is about a recording, and {} is one already", option,
                         parsed.reading.strays.front().word);
  }
  return std::nullopt;
}

/// The FILE of dump: a single word where there is no target, unless it looks like a duration or a process.
std::optional<std::string> dumped_file(const Parsed& parsed) {
  const std::vector<Stray>& strays = parsed.reading.strays;
  if (has_target(parsed.reading.options) || parsed.program || strays.size() != 1) return std::nullopt;
  const std::string& word = strays.front().word;
  if (strays.front().is_option || parse_duration(word) || parse_id(word)) return std::nullopt;
  return word;
}

std::variant<Options, Exit> finish_dump(const Parsed& parsed) {
  DumpOptions& dump = parsed.line.dump;
  dump.input.path.clear();  // it may be a duration
  if (std::optional<std::string> file = dumped_file(parsed)) {
    dump.input.path = *std::move(file);
    const Complaint wrong = wrong_with_file(parsed);
    return finish(parsed, parsed.complaint.empty() ? wrong : parsed.complaint, std::move(dump));
  }
  Complaint wrong = take_last_word(parsed, dump.recording);
  if (!wrong && !parsed.complaint.empty()) wrong = parsed.complaint;
  if (!wrong && (dump.input.part.last || dump.input.part.to || dump.input.part.from != 0))
    wrong = "--window and --last choose a part of a FILE: to record less, say -d TIME";
  if (!wrong) wrong = wrong_target(parsed, dump.recording.target);
  const bool says_where = parsed.line.app.get_subcommand("dump")->count("--output") > 0;
  if (!wrong && parsed.program && !says_where)
    wrong = "standard output is the program's: say where the waits are to go with -o FILE";
  return finish(parsed, wrong, std::move(dump));
}

std::variant<Options, Exit> finish_report(const Parsed& parsed) {
  ReportOptions& report = parsed.line.report;
  if (!parsed.complaint.empty()) return finish(parsed, parsed.complaint, report);
  Complaint wrong =
      wrong_argument(*parsed.line.app.get_subcommand("report"), report.input.path, "FILE", kAnyRecording);
  if (!wrong) wrong = wrong_output(report.output);
  return finish(parsed, wrong, std::move(report));
}

constexpr const char* kDiffNeeds =
    "diff needs two recordings, as in 'offwait diff BEFORE AFTER', or several on each side of a --, as in "
    "'offwait diff A1 A2 -- B1 B2'";

/// Divides the files into those before and those after the change.
Complaint take_sides(const Parsed& parsed, DiffOptions& diff) {
  if (parsed.program) {
    diff.after = *parsed.program;
    if (std::find(diff.after.begin(), diff.after.end(), "--") != diff.after.end())
      return "there are two --: one stands between the recordings before and those after";
    if (diff.before.empty()) return fmt::format("no recording stands before --: {}", kDiffNeeds);
    if (diff.after.empty()) return fmt::format("no recording stands after --: {}", kDiffNeeds);
  } else if (diff.before.size() == 2) {
    diff.after = {diff.before.back()};
    diff.before.pop_back();
  } else if (diff.before.size() > 2) {
    return fmt::format(
        "write -- between the recordings before and those after, as in 'offwait diff {} {} -- {}'",
        diff.before[0], diff.before[1], diff.before[2]);
  } else {
    return kDiffNeeds;
  }
  return std::nullopt;
}

Complaint wrong_files(const DiffOptions& diff) {
  constexpr std::size_t kMost = 100;
  std::set<std::string> all;
  for (const Texts* side : {&diff.before, &diff.after}) {
    if (side->size() > kMost) return fmt::format("a side has {} recordings: at most {}", side->size(), kMost);
    for (const std::string& file : *side) {
      if (file.empty()) return "the name of a file is empty";
      if (!all.insert(file).second)
        return fmt::format("{} is given twice: each recording counts once",
                           file == "-" ? "standard input" : file);
    }
  }
  return std::nullopt;
}

std::variant<Options, Exit> finish_diff(const Parsed& parsed) {
  DiffOptions& diff = parsed.line.diff;
  if (!parsed.complaint.empty()) return finish(parsed, parsed.complaint, diff);
  Complaint wrong = take_sides(parsed, diff);
  if (!wrong) wrong = wrong_files(diff);
  if (!wrong) wrong = wrong_output(diff.output);
  return finish(parsed, wrong, std::move(diff));
}

/// An option that was given and has no effect with this format.
Complaint useless_option(const CLI::App& command, ExportFormat format) {
  if (format == ExportFormat::folded) return std::nullopt;
  for (const char* name : {"--folded-kind", "--folded-weight", "--folded-objects", "--full-stacks"}) {
    if (command.count(name) > 0)
      return fmt::format("{} is for --format folded, and has no effect on {}", name, to_string(format));
  }
  return std::nullopt;
}

std::variant<Options, Exit> finish_export(const Parsed& parsed) {
  ExportOptions& options = parsed.line.exporting;
  if (!parsed.complaint.empty()) return finish(parsed, parsed.complaint, options);
  const CLI::App& command = *parsed.line.app.get_subcommand("export");
  Complaint wrong;
  if (command.count("--format") == 0) wrong = fmt::format("export needs --format: {}", kExportFormatNames);
  if (!wrong) wrong = wrong_argument(command, options.input.path, "FILE", kAnyRecording);
  if (!wrong) wrong = useless_option(command, options.format);
  if (!wrong) wrong = wrong_folding(options.folding);
  return finish(parsed, wrong, std::move(options));
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

/// Where the words of offwait end: at the `--` before a program to record, or between the two sides of a
/// diff. (Before a file, as in `report -- FILE`, it is CLI11's business.)
Texts::const_iterator end_of_own(const Texts& words) {
  const bool has_own_end = !words.empty() && (words.front().starts_with('-') || may_record(words.front()) ||
                                              words.front() == "diff");
  if (!has_own_end) return words.end();
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
    const std::string& command = reading.command->name;
    const bool is_short =
        !is_help && std::count(reading.options.begin(), reading.options.end(), "--help") == 0;
    return Exit{0, is_short ? short_help(command, help_text(command)) : line.app.help()};
  } catch (const CLI::CallForVersion&) {
    return Exit{0, fmt::format("offwait {}\n", kVersion)};
  } catch (const CLI::ParseError& error) {
    complaint = error.what();
  }
  const Parsed parsed = {std::move(words), std::move(program), line, commands, std::move(reading), complaint};
  if (const Complaint wrong = wrong_words(parsed)) return usage(parsed.reading.command->name, *wrong);
  const std::string command =
      line.app.get_subcommands().empty() ? "" : line.app.get_subcommands().front()->get_name();
  if (command == "record") return finish_record(parsed);
  if (command == "top") return finish_top(parsed);
  if (command == "report") return finish_report(parsed);
  if (command == "diff") return finish_diff(parsed);
  if (command == "dump") return finish_dump(parsed);
  if (command == "export") return finish_export(parsed);
  if (command == "calibrate") return finish_calibrate(parsed);
  if (command == "doctor") return finish_doctor(parsed);
  return finish_profile(parsed);
}

}  // namespace offwait::cli
