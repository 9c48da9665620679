// SPDX-License-Identifier: GPL-2.0-or-later
// What the line on a terminal says while a command works (session/step_line.h).
#pragma once

#include <functional>
#include <string>

#include "analysis/options.h"
#include "cli/input.h"
#include "cli/output.h"
#include "session/step_line.h"

namespace offwait::cli {

/// Whether a line may be shown while the input is read: another program that feeds it may ask something on
/// the same terminal.
bool shows_reading(const Input& input, bool quiet);
/// Whether a line may be shown while the output is written: the program that reads a pipe may show it on the
/// same terminal.
bool shows_writing(const Output& output, bool quiet);

/// Reads the recording; the line says how much of it was read, if that is known.
Result<ReadTrace> read_with_line(const Input& input, StepLine& line, const TracePart& part,
                                 std::uint64_t max_memory = kAnyMemory);

/// For AnalysisOptions::begins. `name` is what is analysed; `line` outlives it.
std::function<void(AnalysisStep)> told_steps(StepLine& line, const std::string& name);

}  // namespace offwait::cli
