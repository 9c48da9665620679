// SPDX-License-Identifier: GPL-2.0-or-later
// The command line as values: one type for each command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/stack_sums.h"
#include "base/nanos.h"
#include "cli/duration.h"
#include "device/capacity.h"
#include "export/formats.h"
#include "html/page.h"
#include "model/cut.h"
#include "model/thread_filter.h"
#include "model/trace.h"
#include "progress/progress.h"
#include "replay/what_if.h"
#include "report/views.h"
#include "session/flight_triggers.h"
#include "session/recording_options.h"

namespace offwait::cli {

/// How to analyse what was recorded.
struct AnalysisOptions {
  Threshold min_weight{true, 0.20, 0};
  Threshold noise{true, 0.01, 0};
  bool merge = true;
  bool keep_false_wakeups = false;
  ThreadFilter filter;
  ProgressOptions progress;
  std::vector<WhatIf> what_ifs;
  GivenCapacities capacities;
};

/// Which stacks are folded.
struct FoldedOptions {
  StackKind kind = StackKind::off_cpu;
  StackMeasure weight = StackMeasure::wait;
  bool objects = false;  ///< StackSumOptions::objects
};

enum class ColorChoice { never, automatic, always };

/// How text looks.
struct LookOptions {
  ColorChoice color =
      ColorChoice::automatic;  ///< automatic: where a terminal shows it, and NO_COLOR is not set
  std::optional<int> width;    ///< none: that of the terminal
};
inline constexpr int kLeastWidth = 60;  ///< what a report needs

/// What is written where. A file `-` is standard output, which then has no text; an empty name stands for no
/// file.
struct OutputOptions {
  std::string json;
  std::string folded;
  std::string html;
  std::uint64_t html_bytes = html::kUsualBytes;
  bool redact = false;
  FoldedOptions folding;
  bool explain = false;
  int verbosity = 0;
  bool full_stacks = false;
  std::optional<View> view;  ///< in place of the report
  LookOptions look;
};

/// offwait without a command: record, analyse, print.
struct ProfileOptions {
  RecordingOptions recording;  ///< without what is checked of the analysis
  AnalysisOptions analysis;
  OutputOptions output;
};

/// What is read in place of a recording made now.
struct InputOptions {
  std::string path;  ///< a recording of either form; `-`: standard input
  TracePart part;
};

/// offwait record: record, write a recording file.
struct RecordOptions {
  RecordingOptions recording;  ///< without what is checked of the analysis
  std::string
      output;  ///< `-`: standard output; empty: a file here, named after the target and the time; with
               ///< --flight a directory
  std::vector<Label> labels;
  bool symbols = true;
  std::vector<std::string> command_line;  ///< offwait's own words

  std::optional<Nanos> flight;  ///< keep the last part of the recording, and write it when asked to
  std::vector<FlightTrigger> triggers;
  Nanos cooldown = 60 * kSecond;  ///< between files that triggers write
  std::size_t keep = 10;          ///< files in the directory
};

/// offwait top: show a recording while it goes on, or while it is replayed from a file.
struct TopOptions {
  RecordingOptions recording;  ///< RecordingOptions::max_overhead is for recording and analyses together
  AnalysisOptions analysis;
  std::string replay;       ///< a recording to show in place of a target; empty: none
  std::optional<Nanos> at;  ///< where in that recording to begin or, as text, to end
  bool once = false;        ///< one screen as text
  bool batch = false;       ///< a line each second
  LookOptions look;
  std::optional<int> height;              ///< none: that of the terminal
  std::vector<std::string> command_line;  ///< offwait's own words
};
inline constexpr double kTopOverhead = 0.05;

/// offwait report: analyse a file, print.
struct ReportOptions {
  InputOptions input;
  std::optional<std::uint64_t> max_memory;  ///< none: half of what is available
  AnalysisOptions analysis;
  OutputOptions output;
  bool quiet = false;
};

/// offwait diff: compare recordings of two sides, print.
struct DiffOptions {
  std::vector<std::string> before;  ///< one file or more, none of them twice; `-`: standard input
  std::vector<std::string> after;
  TracePart part;  ///< of each recording
  AnalysisOptions analysis;
  OutputOptions output;
};

/// offwait dump: record, or read a file, and write as text.
struct DumpOptions {
  InputOptions input;  ///< without a path: `recording` says what to record
  RecordingOptions recording;
  std::string output = "-";  ///< `-`: standard output
};

/// offwait export: write a recording for another program.
struct ExportOptions {
  ExportFormat format = ExportFormat::ndjson;
  InputOptions input;
  std::string output = "-";  ///< `-`: standard output
  AnalysisOptions analysis;
  // Of ExportFormat::folded:
  FoldedOptions folding;
  bool full_stacks = false;

  bool quiet = false;
};

/// offwait calibrate: measure a disk.
struct CalibrateOptions {
  std::string place;         ///< a block device, or a directory or file on the disk
  Nanos each = 3 * kSecond;  ///< how long each measurement takes
  std::uint64_t file_bytes = 1'000'000'000;
  bool quiet = false;
};

/// offwait doctor: say what this host allows.
struct DoctorOptions {
  bool json = false;
  LookOptions look;
};

using Options = std::variant<ProfileOptions, RecordOptions, TopOptions, ReportOptions, DiffOptions,
                             DumpOptions, ExportOptions, CalibrateOptions, DoctorOptions>;

/// The process ends before anything was done: the user asked for a text (--help, --version; exit 0), or the
/// command line is wrong (exit 2).
struct Exit {
  int status = 0;
  std::string text;  ///< for stdout if status is 0, else for stderr; ends with a newline
};

/// Reads the command line. Looks at nothing but the words.
std::variant<Options, Exit> parse_options(int argc, const char* const* argv);

}  // namespace offwait::cli
