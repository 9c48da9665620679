// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/stack_table.h"

#include <cstddef>
#include <utility>

#include "report/fold.h"
#include "report/frame.h"

namespace offwait::html {

namespace {

constexpr std::size_t kMostFrames = 120;
constexpr std::size_t kMostKernelFrames = 6;

}  // namespace

std::uint32_t StackTable::frame_number(Text text) {
  const auto [found, fresh] =
      frame_numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(frames_.size()));
  if (fresh) frames_.push_back(found->first);
  return found->second;
}

std::uint32_t StackTable::number_of(const Backtrace& stack) {
  if (stack.empty()) return 0;
  const auto [known, unknown] = known_.try_emplace(stack, 0);
  if (!unknown) return known->second;
  const FoldedStack folded = fold(stack, kMostFrames, StackNoise::folded, kMostKernelFrames);
  std::vector<std::uint32_t> frames;
  const auto add = [&](const Frame& frame) {
    const Kind kind = frame.kind == Frame::Kind::kernel ? Kind::kernel : Kind::program;
    frames.push_back(frame_number({escape(narrow_frame(frame)), escape(to_string(frame)), kind}));
  };
  for (const Frame& frame : folded.kernel) add(frame);
  for (const Frame& frame : folded.user) add(frame);
  if (folded.cut) {
    const std::string why(cut_frame(*folded.cut));
    frames.push_back(frame_number({why, why, Kind::cut}));
  }
  const auto [number, fresh] =
      numbers_.try_emplace(std::move(frames), static_cast<std::uint32_t>(stacks_.size()));
  if (fresh) stacks_.push_back(number->first);
  known->second = number->second;
  return number->second;
}

Json StackTable::frames() const {
  return array_of(frames_, [](const Text& text) -> Json {
    return {text.brief, text.whole == text.brief ? "" : text.whole, static_cast<int>(text.kind)};
  });
}

Json StackTable::stacks() const {
  return array_of(stacks_, [](const std::vector<std::uint32_t>& stack) -> Json { return stack; });
}

}  // namespace offwait::html
