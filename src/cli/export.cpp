// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/export.h"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/analyse.h"
#include "base/escape.h"
#include "base/exit_status.h"
#include "cli/choices.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/steps.h"
#include "export/dot.h"
#include "export/ndjson.h"
#include "export/perfetto.h"
#include "export/pprof.h"
#include "export/speedscope.h"
#include "export/wait_profile.h"
#include "report/folded.h"

namespace offwait::cli {
namespace {

Result<Findings> findings_of(Trace trace, const AnalysisOptions& options) {
  offwait::AnalysisOptions analysis = analysis_options(options, trace.window);
  analysis.answers = false;
  return analyse(std::move(trace), analysis);
}

Status write_dot(Trace trace, const ExportOptions& options, const ByteSink& sink) {
  OFFWAIT_TRY(const Findings findings, findings_of(std::move(trace), options.analysis));
  return sink(to_dot(findings));
}

Status write_folded(Trace trace, const ExportOptions& options, const ByteSink& sink) {
  OFFWAIT_TRY(const StackSums sums,
              stack_sums(std::move(trace), {options.folding.kind, options.folding.weight,
                                            options.analysis.keep_false_wakeups, options.folding.objects}));
  return sink(to_folded(sums, options.full_stacks ? StackNoise::kept : StackNoise::folded));
}

Result<WaitProfile> profile_of(Trace trace, const AnalysisOptions& options) {
  return wait_profile(std::move(trace), options.progress, options.keep_false_wakeups);
}

Status write_pprof(Trace trace, const ExportOptions& options, const ByteSink& sink) {
  OFFWAIT_TRY(const WaitProfile profile, profile_of(std::move(trace), options.analysis));
  OFFWAIT_TRY(const std::string bytes, to_pprof(profile));
  return sink(bytes);
}

Status write_speedscope(Trace trace, const ExportOptions& options, const ByteSink& sink) {
  OFFWAIT_TRY(const WaitProfile profile, profile_of(std::move(trace), options.analysis));
  return sink(to_speedscope(profile));
}

Status write_lines(const Trace& trace, const ExportOptions& options, const ByteSink& sink) {
  OFFWAIT_TRY(const Findings findings, findings_of(trace, options.analysis));
  return write_ndjson(trace, findings, sink);
}

Status write_as(ExportFormat format, Trace trace, const ExportOptions& options, const ByteSink& sink) {
  switch (format) {
    case ExportFormat::perfetto:
      return write_perfetto(trace, sink);
    case ExportFormat::pprof:
      return write_pprof(std::move(trace), options, sink);
    case ExportFormat::dot:
      return write_dot(std::move(trace), options, sink);
    case ExportFormat::folded:
      return write_folded(std::move(trace), options, sink);
    case ExportFormat::speedscope:
      return write_speedscope(std::move(trace), options, sink);
    case ExportFormat::ndjson:
      return write_lines(trace, options, sink);
  }
  return success();
}

}  // namespace

Status export_recording(const ExportOptions& options, std::vector<std::string>& notes) {
  OFFWAIT_TRY(const Input input, Input::open(options.input.path));
  OFFWAIT_TRY_STATUS(input.check_output(options.output));
  OFFWAIT_TRY(Output output, Output::open(options.output));
  if (is_binary(options.format) && output.is_terminal())
    return Error{fmt::format("{} is no text for a terminal: write it to a file with -o FILE, or into a pipe",
                             to_string(options.format)),
                 kUsage};
  std::optional<StepLine> line;
  line.emplace(shows_reading(input, options.quiet));
  OFFWAIT_TRY(ReadTrace read, read_with_line(input, *line, options.input.part));
  notes = std::move(read.notes);
  OFFWAIT_TRY_STATUS(check_progress(read.trace, options.analysis.progress));
  OFFWAIT_TRY(Trace trace, with_choices(std::move(read.trace), options.analysis, notes));
  line.emplace(shows_writing(output, options.quiet));
  line->say(
      fmt::format("exporting {} as {}", escape(input.name(), Charset::utf8), to_string(options.format)));
  return write_as(options.format, std::move(trace), options,
                  [&output](std::string_view bytes) { return output.write(bytes); });
}

}  // namespace offwait::cli
