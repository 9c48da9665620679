// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks in the form of Brendan Gregg's flame graphs: `frame;frame;frame COUNT`, a line for each stack.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/stack_sums.h"
#include "report/fold.h"

namespace offwait {

/// The lines by kind, where `comm` is a thread's name:
/// - off_cpu, on_cpu: `comm;root;…;leaf`
/// - off_wake: the same, then `;--;leaf;…;root;comm` with the waker's stack and name. A waker that is no
///   thread is `disk vda`, `timer` or the like; `[nobody seen]` stands for none.
///
/// With StackSumOptions::objects a frame `for NAME` follows the leaf where it is known what was waited for.
///
/// Lines are in alphabetical order, and count samples or whole µs; lines that would count 0 are left out.
/// Frames have neither offset nor line. Stacks that read the same without them, and without noise, share one
/// line. Text is escaped, `;` in it becomes `:`, and a space before a number at its end becomes `_`, because
/// flamegraph.pl takes such a number for a second count.
///
/// `noise`: `folded` also leaves out the kernel's ways to the scheduler, as the text does.
std::string to_folded(const StackSums& sums, StackNoise noise = StackNoise::folded);

/// The lines without their counts, with the sums in ns (of samples: their number), before rounding.
using FoldedLines = std::map<std::string, std::int64_t>;
FoldedLines folded_lines(const StackSums& sums, StackNoise noise = StackNoise::folded);

}  // namespace offwait
