// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks in the text report: one line with the frames that say most, or all frames with -v.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/fold.h"
#include "report/text_page.h"

namespace offwait {

inline constexpr std::size_t kChainFrames = 6;

/// `kernel ┆ leaf ← caller ← … (remark)`, with at most `frames` user frames and `kernel_frames` of the
/// kernel.
std::vector<Word> chain(const TextPage& page, const Backtrace& stack, const std::string& remark,
                        std::size_t frames = kChainFrames, std::size_t kernel_frames = kKernelFrames);

/// A label and a stack.
void put_stack(const TextPage& page, const std::string& label, const Backtrace& stack,
               const std::string& remark);

/// Where the threads of an edge waited and where they were woken: the heaviest pair of stacks, all with -v.
void put_stacks(const TextPage& page, const FoundEdge& edge);

/// `write ← writeToClient, 85% of that in the kernel`
std::vector<Word> place_words(const TextPage& page, const FunctionPlace& place);

/// `71% of 380 samples in funB ← threadB`: the code that was sampled most, a line each; or that it is spread.
void put_places(const TextPage& page, const FoundSamples& samples);

/// The code that a waker ran while it was waited for gets a line if it ran for this part of the wait or more.
inline constexpr double kPlaceShare = 0.1;

}  // namespace offwait
