// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/steps.h"

#include <string_view>

#include <fmt/format.h>

#include "base/escape.h"

namespace offwait::cli {
namespace {

std::string_view text_of(AnalysisStep step) {
  switch (step) {
    case AnalysisStep::waits:
      return "what threads wait for";
    case AnalysisStep::replay:
      return "replaying changes";
    case AnalysisStep::sweep:
      return "weighing waits";
    case AnalysisStep::graph:
      return "who waits for whom";
  }
  return "";
}

}  // namespace

bool shows_reading(const Input& input, bool quiet) { return is_seen_on_terminal(quiet) && !input.is_fed(); }

bool shows_writing(const Output& output, bool quiet) {
  return is_seen_on_terminal(quiet) && output.is_regular();
}

Result<ReadTrace> read_with_line(const Input& input, StepLine& line, const TracePart& part,
                                 std::uint64_t max_memory) {
  const std::string name = escape(input.name(), Charset::utf8);
  line.say([&input, name](Nanos age) {
    const std::optional<double> part_read = input.part_read();
    if (!part_read) return fmt::format("reading {} ({:.1f} s)", name, to_seconds(age));
    if (*part_read >= 1) return fmt::format("reading {}: done, assembling ({:.1f} s)", name, to_seconds(age));
    return fmt::format("reading {}: {:.0f}% ({:.1f} s)", name, 100 * *part_read, to_seconds(age));
  });
  Result<ReadTrace> read = input.read(part, max_memory);
  // The text above refers to the input.
  line.say("analysing " + name);
  return read;
}

std::function<void(AnalysisStep)> told_steps(StepLine& line, const std::string& name) {
  return [&line, escaped = escape(name, Charset::utf8)](AnalysisStep step) {
    line.say(fmt::format("analysing {}: {}", escaped, text_of(step)));
  };
}

}  // namespace offwait::cli
