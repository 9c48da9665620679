// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "analysis/frame.h"
#include "report/noise.h"

namespace offwait {

namespace {

/// Kernel functions that say nothing about the wait: how every thread sleeps and is woken, and how it came
/// into the kernel.
bool is_plumbing(std::string_view function) {
  constexpr std::array<std::string_view, 21> kFunctions = {"try_to_wake_up",
                                                           "wake_up_q",
                                                           "default_wake_function",
                                                           "__schedule",
                                                           "schedule",
                                                           "schedule_timeout",
                                                           "schedule_hrtimeout_range",
                                                           "io_schedule",
                                                           "io_schedule_timeout",
                                                           "preempt_schedule_irq",
                                                           "schedule_hrtimeout_range_clock",
                                                           "schedule_preempt_disabled",
                                                           "do_syscall_64",
                                                           "x64_sys_call",
                                                           "invoke_syscall",
                                                           "el0_svc",
                                                           "el0_svc_common",
                                                           "do_el0_svc",
                                                           "ret_from_fork",
                                                           "ret_from_fork_asm",
                                                           "kthread"};
  constexpr std::array<std::string_view, 6> kPrefixes = {"__wake_up",    "entry_SYSCALL", "__x64_sys_",
                                                         "__arm64_sys_", "__do_sys_",     "el0t_64_sync"};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return function.substr(0, prefix.size()) == prefix; });
}

}  // namespace

FoldedStack fold(const std::vector<std::string>& stack, std::size_t limit, StackNoise noise,
                 std::size_t kernel_limit) {
  FoldedStack out;
  const auto boundary = std::find(stack.begin(), stack.end(), "--");
  std::vector<std::string> user(boundary == stack.end() ? stack.begin() : std::next(boundary), stack.end());
  if (noise == StackNoise::folded) {
    user = without_noise(user);
  }
  auto first = user.begin();
  auto last = user.end();
  if (boundary != stack.end()) {
    for (auto frame = stack.begin(); frame != boundary && out.kernel.size() < kernel_limit; ++frame) {
      std::string function = short_frame(*frame);
      if (!is_plumbing(function)) {
        out.kernel.push_back(std::move(function));
      }
    }
  } else {
    // A kernel thread (or no kernel frames at all): plumbing at both ends goes, if anything else is there.
    while (first != last && is_plumbing(short_frame(*first))) {
      ++first;
    }
    if (first == last) {
      first = user.begin();
    }
    while (last - first > 1 && is_plumbing(short_frame(*std::prev(last)))) {
      --last;
    }
  }
  for (; first != last && out.user.size() < limit; ++first) {
    // Where in a library it waits, its name says.
    out.user.push_back(short_frame(in_library(*first) ? without_line(*first) : *first));
  }
  out.left_out = static_cast<std::size_t>(last - first);
  return out;
}

}  // namespace offwait
