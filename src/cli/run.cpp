// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run.h"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "cli/calibrate.h"
#include "cli/doctor.h"
#include "cli/options.h"
#include "cli/version.h"
#include "report/analyse.h"
#include "report/escape.h"
#include "report/folded.h"
#include "report/json.h"
#include "report/text.h"
#include "session/record.h"
#include "trace/text.h"

namespace offwait {
namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "offwait: %s\n", escape(error.message, Charset::utf8).c_str());
  return error.exit_status;
}

/// A file to write to, standard output for `-`, or standard error. Opened before anything is recorded, so
/// that nobody waits 90 s to learn that a directory is missing.
class Output {
 public:
  static Result<Output> open(const std::string& path) {
    if (path == "-") return Output(stdout, "to standard output");
    std::FILE* const file = std::fopen(path.c_str(), "we");
    if (file == nullptr) return Error{"cannot write " + path + ": " + std::strerror(errno)};
    return Output(file, path);
  }

  static Output standard_error() { return {stderr, "to standard error"}; }

  std::FILE* file() const { return file_.get(); }

  Status write(const std::string& text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
        std::fflush(file_.get()) != 0) {
      return Error{"cannot write " + where_ + ": " + std::strerror(errno)};
    }
    return success();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdout && file != stderr) std::fclose(file);
    }
  };
  Output(std::FILE* file, std::string where) : file_(file), where_(std::move(where)) {}

  std::unique_ptr<std::FILE, Close> file_;
  std::string where_;
};

/// Of text that goes to this descriptor.
TextStyle text_style(const Options& options, int output) {
  TextStyle style;
  style.verbosity = options.verbosity;
  style.explain = options.explain;
  style.full_stacks = options.full_stacks;
  std::setlocale(LC_CTYPE, "");
  style.charset = std::string_view(::nl_langinfo(CODESET)) == "UTF-8" ? Charset::utf8 : Charset::ascii;
  std::setlocale(LC_CTYPE, "C");
  if (::isatty(output) == 1) {
    // https://no-color.org: any value that is not empty.
    const char* const no_color = std::getenv("NO_COLOR");
    style.color = no_color == nullptr || *no_color == '\0';
    winsize size{};
    if (::ioctl(output, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
      style.width = std::clamp<int>(size.ws_col, 60, 160);
    }
  }
  return style;
}

Nanos threshold_ns(const Threshold& threshold, const Window& window) {
  if (!threshold.is_part) return threshold.duration;
  return static_cast<Nanos>(threshold.part * static_cast<double>(window.length()));
}

/// Where results go besides the text.
struct Outputs {
  std::optional<Output> json;
  std::optional<Output> folded;

  static Result<Outputs> open(const Options& options) {
    Outputs outputs;
    for (const auto& [path, output] :
         {std::pair(&options.json, &outputs.json), std::pair(&options.folded, &outputs.folded)}) {
      if (path->empty()) continue;
      Result<Output> opened = Output::open(*path);
      if (!opened) return opened.error();
      *output = std::move(opened).value();
    }
    return outputs;
  }
};

RecordingOptions recording_options(const Options& options) {
  RecordingOptions recording;
  recording.target = {options.pids,      options.tid, options.cgroup,      options.unit,
                      options.container, options.all, options.command_line};
  recording.duration = options.duration;
  recording.stacks = options.stacks;
  recording.sample_hz = options.sample_hz;
  recording.java = options.java;
  recording.debuginfod = options.debuginfod;
  recording.spins = options.spins;
  recording.filter = options.filter;
  recording.given_capacities = {options.disk_capacities, options.nic_capacities};
  recording.quiet = options.quiet;
  recording.recorder_version = kVersion;
  return recording;
}

int print_report(const Options& options, Recorded recorded, Outputs outputs) {
  Result<Trace> chosen = with_target(std::move(recorded.trace), options.filter);
  if (!chosen) return fail(chosen.error());
  Trace trace = std::move(chosen).value();
  std::vector<std::string> notes = std::move(recorded.notes);
  for (std::string& note : apply_given({options.disk_capacities, options.nic_capacities}, trace))
    notes.push_back(std::move(note));
  AnalysisOptions analysis;
  analysis.min_weight_ns = threshold_ns(options.min_weight, trace.window);
  analysis.noise = static_cast<double>(threshold_ns(options.noise, trace.window)) /
                   static_cast<double>(std::max<Nanos>(trace.window.length(), 1));
  analysis.merge = options.merge;
  analysis.keep_false_wakeups = options.keep_false_wakeups;
  analysis.filter = options.filter;
  const bool nothing_waited = trace.waits.empty();
  if (outputs.folded) {
    const Result<std::string> folded = to_folded(
        trace, {options.folded_kind, options.folded_weight,
                options.full_stacks ? StackNoise::kept : StackNoise::folded, options.keep_false_wakeups});
    if (!folded) return fail(folded.error());
    if (Status written = outputs.folded->write(*folded); !written) return fail(written.error());
  }
  const Result<Report> report = analyse(std::move(trace), analysis);
  if (!report) return fail(report.error());

  if (outputs.json) {
    if (Status written = outputs.json->write(to_json(*report)); !written) return fail(written.error());
  }
  if (options.json != "-" && options.folded != "-") {
    // Standard output is the command's.
    Result<Output> output = recorded.command_status ? Output::standard_error() : Output::open("-");
    if (!output) return fail(output.error());
    const TextStyle style = text_style(options, ::fileno(output->file()));
    const std::string gap = recorded.command_status ? "\n" : "";  // after what the command has written
    if (Status written = output->write(gap + to_text(*report, style)); !written) return fail(written.error());
  }
  if (!options.quiet) {
    for (const std::string& note : notes)
      std::fprintf(stderr, "offwait: %s\n", escape(note, Charset::utf8).c_str());
  }
  int status = 0;
  if (nothing_waited)
    status = fail(Error{"no recorded thread waited in this window: there is nothing to analyse"});
  return recorded.command_status.value_or(status);
}

int run_profile(const Options& options) {
  Result<Outputs> outputs = Outputs::open(options);
  if (!outputs) return fail(outputs.error());
  Result<Recorded> recorded = record(recording_options(options));
  if (!recorded) return fail(recorded.error());
  Options shown = options;
  if (const Status matched = check_filter(recorded->trace.actors, options.filter); !matched) {
    recorded->notes.push_back(matched.error().message + "; the report shows the whole target");
    shown.filter = {};
  }
  return print_report(shown, std::move(recorded).value(), std::move(outputs).value());
}

int run_report(const Options& options) {
  UniqueFd opened;
  int input = STDIN_FILENO;
  if (options.input != "-") {
    opened = UniqueFd(::open(options.input.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return fail(Error{"cannot read " + options.input + ": " + std::strerror(errno)});
    input = opened.get();
  }
  Result<Outputs> outputs = Outputs::open(options);
  if (!outputs) return fail(outputs.error());
  Result<Trace> trace = read_text(input, options.input == "-" ? "standard input" : options.input);
  if (!trace) return fail(trace.error());
  return print_report(options, {std::move(trace).value(), {}, std::nullopt}, std::move(outputs).value());
}

int run_dump(const Options& options) {
  Result<Output> output = Output::open(options.output);
  if (!output) return fail(output.error());
  Result<Recorded> recorded = record(recording_options(options));
  if (!recorded) return fail(recorded.error());
  if (Status written = write_text(recorded->trace, output->file()); !written) return fail(written.error());
  return recorded->command_status.value_or(0);
}

int run_calibrate(const Options& options) {
  const Result<std::string> measured = calibrate(options);
  if (!measured) return fail(measured.error());
  Result<Output> output = Output::open("-");
  if (!output) return fail(output.error());
  if (Status written = output->write(*measured); !written) return fail(written.error());
  return 0;
}

int run_doctor(const Options& options) {
  const Diagnosis diagnosis = diagnose(text_style(options, STDOUT_FILENO), !options.json.empty());
  Result<Output> output = Output::open("-");
  if (!output) return fail(output.error());
  if (Status written = output->write(diagnosis.text); !written) return fail(written.error());
  return diagnosis.can_record ? 0 : 1;
}

}  // namespace

int run(int argc, const char* const* argv) {
  const std::variant<Options, Exit> parsed = parse_options(argc, argv);
  if (const Exit* exit = std::get_if<Exit>(&parsed)) {
    if (exit->status != 0) {
      std::fputs(exit->text.c_str(), stderr);
      return exit->status;
    }
    Result<Output> output = Output::open("-");
    if (!output) return fail(output.error());
    const Status written = output->write(exit->text);
    return written ? 0 : fail(written.error());
  }
  const auto& options = std::get<Options>(parsed);
  switch (options.command) {
    case Command::profile:
      return run_profile(options);
    case Command::report:
      return run_report(options);
    case Command::dump:
      return run_dump(options);
    case Command::calibrate:
      return run_calibrate(options);
    case Command::doctor:
      return run_doctor(options);
  }
  return 1;
}

}  // namespace offwait
