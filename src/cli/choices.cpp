// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/choices.h"

#include <algorithm>
#include <utility>

#include "base/exit_status.h"

namespace offwait::cli {
namespace {

Nanos threshold_ns(const Threshold& threshold, const Window& window) {
  if (!threshold.is_part) return threshold.duration;
  return static_cast<Nanos>(threshold.part * static_cast<double>(window.length()));
}

}  // namespace

offwait::AnalysisOptions analysis_options(const AnalysisOptions& options, const Window& window) {
  offwait::AnalysisOptions analysis;
  analysis.min_weight_ns = threshold_ns(options.min_weight, window);
  analysis.noise = static_cast<double>(threshold_ns(options.noise, window)) /
                   static_cast<double>(std::max<Nanos>(window.length(), 1));
  analysis.merge = options.merge;
  analysis.keep_false_wakeups = options.keep_false_wakeups;
  analysis.progress = options.progress;
  analysis.what_ifs = options.what_ifs;
  analysis.filter = options.filter;
  return analysis;
}

Status check_progress(const Trace& trace, const ProgressOptions& progress) {
  OFFWAIT_TRY_STATUS(check_progress_threads(trace.actors, progress.threads));
  if (!progress.end || command_end(trace)) return success();
  return Error{
      "--progress end: this is no recording of a program from its start to its end, as 'offwait record -o "
      "FILE -- PROGRAM' makes it",
      kUsage};
}

Result<Trace> with_choices(Trace recorded, const AnalysisOptions& options, std::vector<std::string>& notes) {
  Result<Trace> trace = with_target(std::move(recorded), options.filter);
  if (!trace) return trace;
  for (std::string& note : apply_given(options.capacities, *trace)) notes.push_back(std::move(note));
  return trace;
}

bool has_no_thread(const Trace& trace) {
  return std::none_of(trace.actors.begin(), trace.actors.end(), [&trace](const Actor& actor) {
    return actor.kind == ActorKind::thread && !actor.outside && actor.start < trace.window.end &&
           actor.exit > trace.window.begin;
  });
}

}  // namespace offwait::cli
