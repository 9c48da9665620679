// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run.h"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/lock_names.h"
#include "analysis/nameless_modules.h"
#include "analysis/stack_sums.h"
#include "base/available_memory.h"
#include "base/exit_status.h"
#include "base/freed_memory.h"
#include "base/private_file.h"
#include "base/say.h"
#include "base/unique_fd.h"
#include "base/utc_time.h"
#include "capture/privileges.h"
#include "cli/calibrate.h"
#include "cli/choices.h"
#include "cli/diff.h"
#include "cli/doctor.h"
#include "cli/export.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/recording_files.h"
#include "cli/steps.h"
#include "cli/top.h"
#include "cli/version.h"
#include "html/page.h"
#include "model/redact.h"
#include "process/own_state.h"
#include "report/folded.h"
#include "report/json.h"
#include "report/text.h"
#include "report/views.h"
#include "session/flight_files.h"
#include "session/record.h"
#include "session/record_flight.h"
#include "trace/text.h"

namespace offwait {
namespace {

using cli::Input;
using cli::Output;

int fail(const Error& error) {
  say(error.message);
  return error.exit_status;
}

/// https://no-color.org: any value that is not empty.
bool is_color_unwanted() {
  const char* const no_color = std::getenv("NO_COLOR");
  return no_color != nullptr && *no_color != '\0';
}

/// Style for text written to the file descriptor `output`.
TextStyle text_style(const cli::LookOptions& look, int output) {
  TextStyle style;
  std::setlocale(LC_CTYPE, "");
  style.charset = std::string_view(::nl_langinfo(CODESET)) == "UTF-8" ? Charset::utf8 : Charset::ascii;
  std::setlocale(LC_CTYPE, "C");
  const bool is_terminal = ::isatty(output) == 1;
  style.color = look.color == cli::ColorChoice::always ||
                (look.color == cli::ColorChoice::automatic && is_terminal && !is_color_unwanted());
  constexpr int kWidest = 160;
  winsize size{};
  if (is_terminal && ::ioctl(output, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::clamp<int>(size.ws_col, cli::kLeastWidth, kWidest);
  style.width = look.width.value_or(style.width);
  return style;
}

TextStyle text_style(const cli::OutputOptions& options, int output) {
  TextStyle style = text_style(options.look, output);
  style.verbosity = options.verbosity;
  style.explain = options.explain;
  style.full_stacks = options.full_stacks;
  return style;
}

/// Where results go.
struct Outputs {
  std::optional<Output> text;  ///< none: another form takes its place on standard output
  std::optional<Output> json;
  std::optional<Output> folded;
  std::optional<Output> html;
  bool follows_command = false;  ///< the text comes after what a command wrote to the same place
};

Status open_into(const std::string& path, std::optional<Output>& output) {
  if (path.empty()) return success();
  OFFWAIT_TRY(output, Output::open(path));
  return success();
}

/// Standard output is first: were it closed, a file would get its descriptor. It belongs to the command if
/// there is one, and the text then goes to standard error.
Result<Outputs> open_outputs(const cli::OutputOptions& options, bool is_of_command) {
  Outputs outputs;
  outputs.follows_command = is_of_command;
  const bool is_replaced = options.json == "-" || options.folded == "-" || options.html == "-";
  if (!is_replaced && is_of_command) outputs.text = Output::standard_error();
  if (!is_replaced && !is_of_command) OFFWAIT_TRY_STATUS(open_into("-", outputs.text));
  OFFWAIT_TRY_STATUS(open_into(options.json, outputs.json));
  OFFWAIT_TRY_STATUS(open_into(options.folded, outputs.folded));
  OFFWAIT_TRY_STATUS(open_into(options.html, outputs.html));
  return outputs;
}

/// How to analyse and print, whether it was recorded just now or read from a file.
struct Reporting {
  const cli::AnalysisOptions& analysis;
  const cli::OutputOptions& output;
  std::string name;  ///< what is analysed; hostile bytes
  bool quiet = false;
  bool asked_servers = false;  ///< for debug files, when it was recorded
};

Result<std::string> folded_stacks(const Trace& trace, const Reporting& reporting) {
  const StackNoise noise = reporting.output.full_stacks ? StackNoise::kept : StackNoise::folded;
  OFFWAIT_TRY(const StackSums sums,
              stack_sums(trace, {reporting.output.folding.kind, reporting.output.folding.weight,
                                 reporting.analysis.keep_false_wakeups, reporting.output.folding.objects}));
  return to_folded(sums, noise);
}

/// Which files lack names of functions, and where to get them; none if no such file matters, or if nothing
/// waited.
std::optional<std::string> note_on_names(const Findings& findings, bool asked_servers) {
  const std::vector<std::string> modules = nameless_modules(findings);
  constexpr std::size_t kMost = 3;
  if (modules.empty() || findings.totals.waits == 0) return std::nullopt;
  const std::size_t shown = std::min(modules.size(), kMost);
  std::string names = fmt::format(
      "{}", fmt::join(modules.begin(), modules.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (modules.size() > shown) names += fmt::format(" and {} more", modules.size() - shown);
  return fmt::format("functions of {} have no names here: install the -dbgsym package{}{}", names,
                     modules.size() == 1 ? "" : "s",
                     asked_servers ? ", since the servers of --debuginfod have no names either"
                                   : ", or record with --debuginfod");
}

/// A text, and where it goes.
struct Rendered {
  Output& output;
  std::string text;
};

/// Writes all of them even if one cannot be written, and returns the first error. Files come before standard
/// output: whoever reads that may stop early (`offwait … | head`), and SIGPIPE then ends this process.
Status write_all(const std::vector<Rendered>& texts) {
  Status first = success();
  for (const bool streams : {false, true}) {
    for (const Rendered& one : texts) {
      if (one.output.is_stream() != streams) continue;
      Status written = one.output.write(one.text);
      if (first.ok() && !written.ok()) first = std::move(written);
    }
  }
  return first;
}

/// Analyses, and appends what is to be written to `texts`.
Status render(Trace trace, const Reporting& reporting, Outputs& outputs, const TextStyle& style,
              StepLine& line, std::vector<Rendered>& texts, std::vector<std::string>& notes) {
  if (outputs.folded) {
    line.say("folding stacks");
    OFFWAIT_TRY(std::string folded, folded_stacks(trace, reporting));
    texts.push_back({*outputs.folded, std::move(folded)});
  }
  AnalysisOptions analysis = cli::analysis_options(reporting.analysis, trace.window);
  analysis.answers = outputs.text || outputs.json || outputs.html;  // what is not read would take time
  analysis.views = outputs.json || outputs.html || (outputs.text && reporting.output.view);
  analysis.function_gains = reporting.output.view == View::functions;
  analysis.begins = cli::told_steps(line, reporting.name);
  std::optional<Trace> drawn;
  if (outputs.html) drawn = trace;
  OFFWAIT_TRY(const auto findings, analyse(std::move(trace), analysis));
  if (outputs.json) texts.push_back({*outputs.json, to_json(findings)});
  if (outputs.html) {
    line.say("writing the page");
    OFFWAIT_TRY(std::string page,
                html::to_html(findings, *std::move(drawn),
                              {reporting.output.html_bytes, analysis.keep_false_wakeups, analysis.progress}));
    texts.push_back({*outputs.html, std::move(page)});
  }
  if (std::optional<std::string> note = note_on_names(findings, reporting.asked_servers))
    notes.push_back(std::move(*note));
  if (has_nameless_jit_code(findings)) {
    notes.emplace_back(
        "code that was compiled as it ran has no names here: node --perf-basic-prof, PYTHONPERFSUPPORT=1, "
        "offwait --java, or a perf map agent give it some");
  }
  if (outputs.text) {
    const std::string text =
        reporting.output.view ? to_text(findings, *reporting.output.view, style) : to_text(findings, style);
    texts.push_back({*outputs.text, (outputs.follows_command ? "\n" : "") + text});
  }
  return success();
}

Status print_report(Trace trace, const Reporting& reporting, Outputs& outputs,
                    std::vector<std::string>& notes) {
  std::vector<Rendered> texts;
  {
    // It changes the locale, which no other thread may use meanwhile.
    const TextStyle style =
        outputs.text ? text_style(reporting.output, ::fileno(outputs.text->file())) : TextStyle{};
    StepLine line(is_seen_on_terminal(reporting.quiet));
    OFFWAIT_TRY_STATUS(render(std::move(trace), reporting, outputs, style, line, texts, notes));
  }
  return write_all(texts);
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) say(note);
}

/// Analyses and prints; returns what offwait exits with.
int report_on(Recorded recorded, const Reporting& reporting, Outputs outputs) {
  Result<Trace> trace = cli::with_choices(std::move(recorded.trace), reporting.analysis, recorded.notes);
  if (!trace) return fail(trace.error());
  const bool nothing_lived = cli::has_no_thread(*trace);
  const Status printed = print_report(std::move(trace).value(), reporting, outputs, recorded.notes);
  if (!printed) return fail(printed.error());
  if (!reporting.quiet) print_notes(recorded.notes);
  int status = 0;
  if (nothing_lived)
    status = fail(Error{"no thread of the target lived in this window: there is nothing to analyse"});
  return recorded.command_status.value_or(status);
}

/// Part of the analysis is checked before the recording, rather than after it.
RecordingOptions with_checks(RecordingOptions recording, const cli::AnalysisOptions& analysis) {
  recording.filter = analysis.filter;
  recording.progress_threads = analysis.progress.threads;
  recording.given_capacities = analysis.capacities;
  recording.recorder_version = kVersion;
  return recording;
}

/// The user's choices as far as they fit the recording. Notes say what does not fit, since a recording is not
/// thrown away for it.
cli::AnalysisOptions fitting(cli::AnalysisOptions options, const Trace& trace,
                             std::vector<std::string>& notes) {
  if (const Status matched = check_filter(trace.actors, options.filter); !matched) {
    notes.push_back(matched.error().message + "; the report shows the whole target");
    options.filter = {};
  }
  for (const std::string& pattern : std::exchange(options.progress.threads, {})) {
    if (const Status matched = check_progress_threads(trace.actors, {pattern}); !matched)
      notes.push_back(matched.error().message + "; the report goes without it");
    else
      options.progress.threads.push_back(pattern);
  }
  if (options.progress.end && !command_end(trace))
    notes.emplace_back(
        "--progress end: the program had not ended when the recording did; the report infers "
        "what counts");
  if (!options.what_ifs.empty()) {
    const ThreadGroups groups = group_threads(trace);
    const std::vector<std::string> locks = names_of_locks(trace, groups, options.what_ifs);
    std::erase_if(options.what_ifs, [&](const WhatIf& what_if) {
      std::vector<CodeStacks> code;
      const Result<Scenario> scenario = scenario_of(what_if, trace, groups, locks, code);
      if (!scenario) notes.push_back(scenario.error().message);
      return !scenario;
    });
  }
  return options;
}

/// `60.0 s with 1234567 waits in FILE (12.3 MB)`
std::string stored_text(const Stored& stored, const std::string& file) {
  constexpr double kMegabyte = 1e6;
  return fmt::format("{:.1f} s with {} waits are in {} ({:.1f} MB)", to_seconds(stored.window_ns),
                     stored.waits, file, static_cast<double>(stored.bytes) / kMegabyte);
}

int run_command(const cli::ProfileOptions& options) {
  Result<Outputs> outputs = open_outputs(options.output, !options.recording.target.command_line.empty());
  if (!outputs) return fail(outputs.error());
  Result<Recorded> recorded = record(with_checks(options.recording, options.analysis));
  if (!recorded) return fail(recorded.error());
  if (options.output.redact) recorded->trace = redacted(std::move(recorded->trace));
  const cli::AnalysisOptions analysis = fitting(options.analysis, recorded->trace, recorded->notes);
  return report_on(
      std::move(recorded).value(),
      {analysis, options.output, "the recording", options.recording.quiet, options.recording.debuginfod},
      std::move(outputs).value());
}

/// The file to record into, which keeps what it has until the recording begins.
Result<UniqueFd> open_to_store(const std::string& path, const std::string& name) {
  UniqueFd file;
  if (path == "-") {
    file = UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!file) return Error{fmt::format("cannot write {}: {}", name, std::strerror(errno))};
  } else {
    OFFWAIT_TRY(file, open_private(path));
    OFFWAIT_TRY_STATUS(take_file(file.get(), name));
  }
  if (::isatty(file.get()) == 1)
    return Error{"a recording is no text for a terminal: write it to a file with -o FILE, or into a pipe",
                 kUsage};
  return file;
}

int run_flight(const cli::RecordOptions& options) {
  Result<FlightFiles> files = FlightFiles::open(options.output, options.keep);
  if (!files) return fail(files.error());
  FlightOptions flight;
  flight.length = *options.flight;
  flight.triggers = options.triggers;
  flight.cooldown = options.cooldown;
  flight.labels = options.labels;
  flight.command_line = options.command_line;
  flight.symbols = options.symbols;
  const Result<Flown> flown =
      record_flight(with_checks(options.recording, {}), std::move(flight), std::move(files).value());
  if (!flown) return fail(flown.error());
  if (!options.recording.quiet) print_notes(flown->notes);
  return flown->command_status.value_or(0);
}

/// A recording that did not begin leaves no new file behind.
void remove_if_empty(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
    ::unlink(path.c_str());
}

int run_command(const cli::RecordOptions& options) {
  if (options.flight) return run_flight(options);
  const std::string path = options.output.empty()
                               ? cli::file_name_for(options.recording.target, wall_clock_now())
                               : options.output;
  const bool is_new = ::access(path.c_str(), F_OK) != 0;
  StoringOptions storing;
  storing.name = path == "-" ? "to standard output" : path;
  Result<UniqueFd> file = open_to_store(path, storing.name);
  if (!file) return fail(file.error());
  storing.file = std::move(file).value();
  storing.labels = options.labels;
  storing.command_line = options.command_line;
  storing.symbols = options.symbols;
  const Result<Stored> stored = record_to_file(with_checks(options.recording, {}), std::move(storing));
  if (!stored && is_new) remove_if_empty(path);
  if (!stored) return fail(stored.error());
  if (!options.recording.quiet) print_notes(stored->notes);
  if (!options.recording.quiet && path != "-") print_notes({stored_text(*stored, path)});
  return stored->command_status.value_or(0);
}

int run_command(const cli::TopOptions& options) {
  std::vector<std::string> notes;
  const bool color = options.look.color == cli::ColorChoice::always ||
                     (options.look.color == cli::ColorChoice::automatic && !is_color_unwanted());
  const Status shown = cli::top(options, color, notes);
  print_notes(notes);
  return shown ? 0 : fail(shown.error());
}

/// Opens a recording, which the outputs must not overwrite.
Result<Input> open_input(const std::string& file, const cli::OutputOptions& outputs) {
  OFFWAIT_TRY(Input input, Input::open(file));
  for (const std::string& output : {outputs.json, outputs.folded, outputs.html})
    OFFWAIT_TRY_STATUS(input.check_output(output));
  return input;
}

/// Has a line of its own, so that errors are printed when it is erased.
Result<ReadTrace> read_input(const Input& input, bool quiet, const TracePart& part,
                             std::uint64_t max_memory = kAnyMemory) {
  StepLine line(cli::shows_reading(input, quiet));
  return cli::read_with_line(input, line, part, max_memory);
}

int run_command(const cli::ReportOptions& options) {
  if (const Status left = give_up_lent_privileges(); !left) return fail(left.error());
  const Result<Input> input = open_input(options.input.path, options.output);
  if (!input) return fail(input.error());
  Result<Outputs> outputs = open_outputs(options.output, false);
  if (!outputs) return fail(outputs.error());
  // A page needs the trace beside what the analysis makes of it: 510 MB where a report takes 310.
  const std::uint64_t memory = options.max_memory.value_or(available_memory() / 2);
  Result<ReadTrace> read = read_input(*input, options.quiet, options.input.part,
                                      options.output.html.empty() ? memory : memory / 5 * 3);
  if (!read) return fail(read.error());
  if (options.output.redact) read->trace = redacted(std::move(read->trace));
  if (const Status found = cli::check_progress(read->trace, options.analysis.progress); !found)
    return fail(found.error());
  return report_on({std::move(read->trace), std::move(read->notes), std::nullopt},
                   {options.analysis, options.output, input->name(), options.quiet},
                   std::move(outputs).value());
}

Result<std::vector<Input>> open_inputs(const std::vector<std::string>& files,
                                       const cli::OutputOptions& outputs) {
  std::vector<Input> inputs;
  for (const std::string& file : files) {
    OFFWAIT_TRY(Input input, open_input(file, outputs));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

int run_command(const cli::DiffOptions& options) {
  if (const Status left = give_up_lent_privileges(); !left) return fail(left.error());
  const Result<std::vector<Input>> before = open_inputs(options.before, options.output);
  if (!before) return fail(before.error());
  const Result<std::vector<Input>> after = open_inputs(options.after, options.output);
  if (!after) return fail(after.error());
  Result<Outputs> outputs = open_outputs(options.output, false);
  if (!outputs) return fail(outputs.error());
  const bool text = outputs->text.has_value();
  const Result<cli::DiffTexts> made =
      cli::compare(options, *before, *after,
                   {text, outputs->json.has_value(), outputs->folded.has_value(), outputs->html.has_value()},
                   text ? text_style(options.output, ::fileno(outputs->text->file())) : TextStyle{});
  if (!made) return fail(made.error());
  std::vector<Rendered> texts;
  if (outputs->folded) texts.push_back({*outputs->folded, made->folded});
  if (outputs->json) texts.push_back({*outputs->json, made->json});
  if (outputs->html) texts.push_back({*outputs->html, made->html});
  if (outputs->text) texts.push_back({*outputs->text, made->text});
  const Status written = write_all(texts);
  if (!written) return fail(written.error());
  print_notes(made->notes);
  return 0;
}

/// What to dump: read from the input, if there is one, or recorded now.
Result<Recorded> recorded_or_read(const cli::DumpOptions& options, const std::optional<Input>& input) {
  if (!input) return record(with_checks(options.recording, {}));
  OFFWAIT_TRY(ReadTrace read, read_input(*input, options.recording.quiet, options.input.part));
  return Recorded{std::move(read.trace), std::move(read.notes), std::nullopt};
}

Status write_dump(const Trace& trace, Output& output, bool quiet) {
  StepLine line(cli::shows_writing(output, quiet));
  line.say("writing the text form");
  return write_text(trace, output.file());
}

int run_command(const cli::DumpOptions& options) {
  std::optional<Input> input;
  if (!options.input.path.empty()) {
    if (const Status left = give_up_lent_privileges(); !left) return fail(left.error());
    Result<Input> opened = Input::open(options.input.path);
    if (!opened) return fail(opened.error());
    input = std::move(opened).value();
    if (const Status spared = input->check_output(options.output); !spared) return fail(spared.error());
  }
  Result<Output> output = Output::open(options.output);
  if (!output) return fail(output.error());
  Result<Recorded> recorded = recorded_or_read(options, input);
  if (!recorded) return fail(recorded.error());
  if (Status written = write_dump(recorded->trace, *output, options.recording.quiet); !written)
    return fail(written.error());
  if (!options.recording.quiet) print_notes(recorded->notes);
  return recorded->command_status.value_or(0);
}

/// Writes to standard output; returns `status`, or 1 if that fails.
int print(const std::string& text, int status) {
  Result<Output> output = Output::open("-");
  if (!output) return fail(output.error());
  const Status written = output->write(text);
  return written ? status : fail(written.error());
}

int run_command(const cli::ExportOptions& options) {
  if (const Status left = give_up_lent_privileges(); !left) return fail(left.error());
  std::vector<std::string> notes;
  const Status exported = cli::export_recording(options, notes);
  if (!exported) return fail(exported.error());
  if (!options.quiet) print_notes(notes);
  return 0;
}

int run_command(const cli::CalibrateOptions& options) {
  const Result<std::string> measured = calibrate(options);
  return measured ? print(*measured, 0) : fail(measured.error());
}

int run_command(const cli::DoctorOptions& options) {
  const Diagnosis diagnosis = diagnose(text_style(options.look, STDOUT_FILENO), options.json);
  return print(diagnosis.text, diagnosis.can_record ? 0 : 1);
}

}  // namespace

int run(int argc, const char* const* argv) {
  set_own_state();
  const std::variant<cli::Options, cli::Exit> parsed = cli::parse_options(argc, argv);
  if (const auto* exit = std::get_if<cli::Exit>(&parsed)) {
    if (exit->status == 0) return print(exit->text, 0);
    write_to_stderr(exit->text);
    return exit->status;
  }
  const cli::Options& options = std::get<cli::Options>(parsed);
  // `record` may run for weeks and analyses nothing, so what it frees goes back to the kernel.
  if (!std::holds_alternative<cli::RecordOptions>(options)) keep_freed_memory();
  return std::visit([](const auto& of_command) { return run_command(of_command); }, options);
}

}  // namespace offwait
