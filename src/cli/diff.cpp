// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/diff.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analyse.h"
#include "analysis/stack_sums.h"
#include "cli/choices.h"
#include "cli/steps.h"
#include "diff/compare.h"
#include "html/diff_page.h"
#include "model/thread_filter.h"
#include "model/validate.h"
#include "report/diff.h"

namespace offwait::cli {
namespace {

/// One file, as the comparison and the folded stacks need it.
struct ReadFile {
  RecordingToCompare recording;
  std::optional<FoldedLines> folded;
};

Error in_file(const std::string& file, const Error& error) {
  return {fmt::format("{}: {}", file, error.message), error.exit_status};
}

class SideReader {
 public:
  SideReader(const DiffOptions& options, const DiffWanted& wanted, StepLine& line)
      : options_(options), wanted_(wanted), line_(line) {}

  Result<std::vector<ReadFile>> side(const std::vector<Input>& inputs,
                                     std::vector<std::string>& notes) const {
    std::vector<ReadFile> out;
    for (const Input& input : inputs) {
      OFFWAIT_TRY(ReadTrace read, read_with_line(input, line_, options_.part));
      notes.insert(notes.end(), read.notes.begin(), read.notes.end());
      Result<ReadFile> one = analysed(std::move(read.trace), input.name());
      if (!one) return in_file(input.name(), one.error());
      out.push_back(std::move(one).value());
    }
    return out;
  }

 private:
  Result<ReadFile> analysed(Trace recorded, const std::string& name) const {
    OFFWAIT_TRY_STATUS(check_progress(recorded, options_.analysis.progress));
    OFFWAIT_TRY(Trace trace, with_target(std::move(recorded), options_.analysis.filter));
    OFFWAIT_TRY_STATUS(check_window(trace));
    if (has_no_thread(trace))
      return Error{"no thread of the target lived in this window: there is nothing to compare"};
    ReadFile out;
    out.recording.file = name;
    if (wanted_.folded) OFFWAIT_TRY_STATUS(fold(trace, out));
    OFFWAIT_TRY(out.recording.profile,
                profile_of(trace, {options_.analysis.progress, options_.analysis.keep_false_wakeups}));
    offwait::AnalysisOptions analysis = analysis_options(options_.analysis, trace.window);
    analysis.answers = wanted_.text || wanted_.json || wanted_.html;
    analysis.begins = told_steps(line_, name);
    OFFWAIT_TRY(out.recording.findings, analyse(std::move(trace), analysis));
    return out;
  }

  Status fold(const Trace& trace, ReadFile& out) const {
    OFFWAIT_TRY(StackSums sums,
                stack_sums(trace, {options_.output.folding.kind, options_.output.folding.weight,
                                   options_.analysis.keep_false_wakeups, options_.output.folding.objects}));
    fold_digits(sums);
    out.folded = folded_lines(sums, options_.output.full_stacks ? StackNoise::kept : StackNoise::folded);
    return success();
  }

  const DiffOptions& options_;
  const DiffWanted& wanted_;
  StepLine& line_;
};

std::vector<const Profile*> profiles_of(const std::vector<ReadFile>& files) {
  std::vector<const Profile*> out;
  for (const ReadFile& file : files) out.push_back(&file.recording.profile);
  return out;
}

std::vector<FoldedRecording> folded_side(std::vector<ReadFile>& files, const ComparedUnit& unit) {
  std::vector<FoldedRecording> out;
  for (ReadFile& file : files) {
    const Profile& profile = file.recording.profile;
    out.push_back({std::move(file.folded).value_or(FoldedLines{}), units_of(profile, unit)});
  }
  return out;
}

std::vector<RecordingToCompare> recordings_of(std::vector<ReadFile> files) {
  std::vector<RecordingToCompare> out;
  for (ReadFile& file : files) out.push_back(std::move(file.recording));
  return out;
}

/// The part of the window that a row fills. A time is a part of the mean window.
double noise_of(const Threshold& noise, const std::vector<ReadFile>& before,
                const std::vector<ReadFile>& after) {
  if (noise.is_part) return noise.part;
  double sum = 0;
  for (const std::vector<ReadFile>* side : {&before, &after}) {
    for (const ReadFile& file : *side) sum += file.recording.profile.window_s;
  }
  const double mean = sum / static_cast<double>(before.size() + after.size());
  return to_seconds(noise.duration) / mean;
}

}  // namespace

Result<DiffTexts> compare(const DiffOptions& options, const std::vector<Input>& before,
                          const std::vector<Input>& after, const DiffWanted& wanted, const TextStyle& style) {
  const auto shown = [](const Input& input) { return shows_reading(input, false); };
  StepLine line(std::all_of(before.begin(), before.end(), shown) &&
                std::all_of(after.begin(), after.end(), shown));
  const SideReader reader(options, wanted, line);
  DiffTexts out;
  OFFWAIT_TRY(std::vector<ReadFile> files_before, reader.side(before, out.notes));
  OFFWAIT_TRY(std::vector<ReadFile> files_after, reader.side(after, out.notes));
  line.say("comparing");
  if (wanted.folded) {
    const ComparedUnit unit = unit_of(profiles_of(files_before), profiles_of(files_after));
    constexpr std::int64_t kMicrosecond = 1000;
    out.folded = folded_difference(folded_side(files_before, unit), folded_side(files_after, unit),
                                   options.output.folding.kind == StackKind::on_cpu ? 1 : kMicrosecond);
  }
  if (!wanted.text && !wanted.json && !wanted.html) return out;
  const double noise = noise_of(options.analysis.noise, files_before, files_after);
  const Comparison comparison =
      offwait::compare(recordings_of(std::move(files_before)), recordings_of(std::move(files_after)), noise);
  if (wanted.text) out.text = to_text(comparison, style);
  if (wanted.json) out.json = to_json(comparison);
  if (wanted.html) {
    OFFWAIT_TRY(out.html, html::to_html(comparison));
  }
  return out;
}

}  // namespace offwait::cli
