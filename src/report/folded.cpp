// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/folded.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/escape.h"
#include "model/backtrace.h"
#include "report/frame.h"
#include "report/wording_files.h"

namespace offwait {

namespace {

constexpr std::string_view kSeparator = "--";

std::string cell(std::string_view text) {
  std::string out = escape(text);
  std::replace(out.begin(), out.end(), ';', ':');
  if (const std::size_t space = out.find_last_not_of("0123456789.");
      space != std::string::npos && out[space] == ' ') {
    out[space] = '_';
  }
  return out;
}

std::string name_cell(const std::string& name) { return name.empty() ? "[no name]" : cell(name); }

std::string waker_cell(const std::optional<StackWaker>& waker) {
  if (!waker) return "[nobody seen]";
  if (waker->kind == ActorKind::thread) return name_cell(waker->name);
  return cell(std::string(to_string(waker->kind)) + (waker->name.empty() ? "" : " " + waker->name));
}

/// Samples are counted one by one, times in µs.
std::int64_t in_units(std::int64_t amount, StackKind kind) {
  constexpr std::int64_t kMicrosecond = 1000;
  return kind == StackKind::on_cpu ? amount : (amount + kMicrosecond / 2) / kMicrosecond;
}

/// The frames of stacks as parts of lines.
class StackTexts {
 public:
  StackTexts(const StackSums& sums, StackNoise noise) : sums_(sums), noise_(noise) {}

  /// Each frame with `;` before it.
  struct Text {
    std::string leaf_first;
    std::string root_first;
  };
  const Text& of(StackId id) {
    const auto [found, added] = texts_.try_emplace(id);
    if (added) {
      for (const std::string& frame : frames(id)) {
        found->second.leaf_first += ";" + frame;
        found->second.root_first.insert(0, ";" + frame);
      }
    }
    return found->second;
  }

 private:
  /// Leaf first.
  std::vector<std::string> frames(StackId id) const {
    std::vector<std::string> out;
    if (id == kNoStack) return out;
    const Backtrace stack = backtrace_of(sums_.frames, sums_.stacks, id);
    const auto add = [&out](const std::vector<Frame>& frames) {
      for (const Frame& frame : frames) {
        if (frame.kind != Frame::Kind::boundary) out.push_back(cell(short_frame(without_line(frame))));
      }
    };
    if (noise_ == StackNoise::kept) {
      add(stack.frames);
    } else {
      const std::size_t all = stack.frames.size() + 1;
      const FoldedStack folded = fold(stack, all, StackNoise::folded, all);
      add(folded.kernel);
      add(folded.user);
    }
    if (stack.cut) out.push_back(cell(cut_frame(*stack.cut)));
    return out;
  }

  const StackSums& sums_;
  StackNoise noise_;
  std::unordered_map<StackId, Text> texts_;
};

std::string line_of(const StackSum& sum, StackKind kind, StackTexts& stacks) {
  std::string line = name_cell(sum.thread) + stacks.of(sum.stack).root_first;
  if (const std::string object = sum.stored ? file_text(*sum.stored) : sum.lock; !object.empty()) {
    line.append(";").append(cell("for " + object));
  }
  if (kind == StackKind::off_wake) {
    line.append(";").append(kSeparator).append(stacks.of(sum.waker_stack).leaf_first);
    line.append(";").append(waker_cell(sum.waker));
  }
  return line;
}

}  // namespace

FoldedLines folded_lines(const StackSums& sums, StackNoise noise) {
  StackTexts stacks(sums, noise);
  // Which stacks read the same is only known here. They become one before rounding, so that no part is lost.
  FoldedLines lines;
  for (const StackSum& sum : sums.sums) lines[line_of(sum, sums.kind, stacks)] += sum.amount;
  return lines;
}

std::string to_folded(const StackSums& sums, StackNoise noise) {
  std::string out;
  for (const auto& [line, amount] : folded_lines(sums, noise)) {
    const std::int64_t count = in_units(amount, sums.kind);
    if (count > 0) out.append(line).append(" ").append(std::to_string(count)).append("\n");
  }
  return out;
}

}  // namespace offwait
