// SPDX-License-Identifier: GPL-2.0-or-later
// Frames and stacks from the lines that a text trace has for them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "model/backtrace.h"
#include "trace/frame_text.h"
#include "trace/percent.h"
#include "trace/text.h"

namespace offwait {

inline Frame frame(const std::string& text) { return frame_of_text(text); }

inline std::vector<Frame> frames(const std::vector<std::string>& texts) {
  std::vector<Frame> out;
  for (const std::string& text : texts) out.push_back(frame(text));
  return out;
}

/// Leaf first, with `--` and a cut as to_lines() has them; empty for no lines.
inline Backtrace stack_of(const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string text = "offwait-waits 1\nwindow 0 10\non_cpu 1 at=1 stack=";
  for (const std::string& line : lines) {
    if (&line != lines.data()) text += ';';
    append_percent_encoded(text, line);
  }
  const Result<Trace> trace = parse_text(text + "\n", "stack");
  if (!trace.ok()) throw std::runtime_error(trace.error().message);
  return backtrace_of(*trace, trace->cpu_samples[0].stack);
}

}  // namespace offwait
