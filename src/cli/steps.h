// SPDX-License-Identifier: GPL-2.0-or-later
// What the line on a terminal says while a command works (session/step_line.h).
#pragma once

#include <functional>
#include <string>

#include "analysis/options.h"
#include "cli/input.h"
#include "session/step_line.h"

namespace offwait::cli {

/// Reads the recording; the line says how much of it was read, if that is known.
Result<ReadTrace> read_with_line(const Input& input, StepLine& line, const TracePart& part,
                                 std::uint64_t max_memory = kAnyMemory);

/// For AnalysisOptions::begins. `name` is what is analysed; `line` outlives it.
std::function<void(AnalysisStep)> told_steps(StepLine& line, const std::string& name);

}  // namespace offwait::cli
