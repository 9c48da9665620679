// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "analysis/noise.h"
#include "code/kernel.h"
#include "code/roles.h"
#include "report/frame.h"

namespace offwait {

namespace {

bool says_nothing(const Frame& frame) { return is_plumbing(short_frame(frame)); }

}  // namespace

std::vector<Frame> user_frames(const Backtrace& stack, StackNoise noise) {
  const auto first = std::find_if(stack.frames.begin(), stack.frames.end(),
                                  [](const Frame& frame) { return frame.kind == Frame::Kind::user; });
  std::vector<Frame> user(first, stack.frames.end());
  return noise == StackNoise::folded ? without_noise(user, stack.cut.has_value()) : user;
}

Backtrace told_by_callers(const Backtrace& stack) {
  Backtrace out{{}, stack.cut};
  std::set<std::string_view> named;
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
    if (!frame->function.empty()) named.insert(frame->module);
    if (!frame->function.empty() || !named.contains(frame->module)) out.frames.push_back(*frame);
  }
  std::reverse(out.frames.begin(), out.frames.end());
  return out;
}

FoldedStack fold(const Backtrace& stack, std::size_t limit, StackNoise noise, std::size_t kernel_limit) {
  FoldedStack out;
  std::vector<Frame> user = user_frames(stack, noise);
  const auto late =
      sampled_late(stack.frames.size(), [&stack](std::size_t i) -> const Frame& { return stack.frames[i]; });
  const auto sampled = stack.frames.begin() + static_cast<std::ptrdiff_t>(late);
  const bool kernel_only = !stack.cut && !stack.frames.empty() && user.empty();
  if (kernel_only) {
    user.assign(sampled, stack.frames.end());
  }
  auto first = user.begin();
  auto last = user.end();
  if (!kernel_only && !stack.frames.empty() && stack.frames.front().kind != Frame::Kind::user) {
    for (auto frame = sampled; frame != stack.frames.end() && frame->kind == Frame::Kind::kernel &&
                               out.kernel.size() < kernel_limit;
         ++frame) {
      if (!says_nothing(*frame)) {
        out.kernel.push_back(*frame);
      }
    }
  } else {
    // A kernel thread, or no kernel frames at all: plumbing at both ends goes, if anything else is there.
    while (first != last && says_nothing(*first)) {
      ++first;
    }
    if (first == last && !stack.cut) {
      first = user.begin();
    }
    while (!stack.cut && last - first > 1 && says_nothing(*std::prev(last))) {
      --last;
    }
  }
  for (; first != last && out.user.size() < limit; ++first) {
    // The name of a library's function says where in the library it waits.
    out.user.push_back(in_library(*first) ? without_line(*first) : *first);
  }
  out.left_out = static_cast<std::size_t>(last - first);
  if (stack.cut) {
    if (out.user.size() < limit) {
      out.cut = stack.cut;
    } else {
      ++out.left_out;
    }
  }
  return out;
}

}  // namespace offwait
