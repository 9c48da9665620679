// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fold.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace offwait {

namespace {

constexpr std::size_t kKernelFrames = 2;

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

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// `f(int) const` → `f`, `operator()(int)` → `operator()`; lambdas and the like inside stay.
std::string_view without_arguments(std::string_view function) {
  constexpr std::string_view kConst = " const";
  if (function.size() > kConst.size() && function.substr(function.size() - kConst.size()) == kConst) {
    function.remove_suffix(kConst.size());
  }
  if (function.empty() || function.back() != ')') {
    return function;
  }
  int depth = 0;
  for (std::size_t i = function.size(); i-- > 0;) {
    depth += function[i] == ')' ? 1 : function[i] == '(' ? -1 : 0;
    if (depth == 0) {
      return i == 0 ? function : function.substr(0, i);
    }
  }
  return function;
}

struct FrameParts {
  std::string_view function;  ///< or all that there is: `[module+0xoff]`
  std::string_view module;    ///< ` (server)`, or nothing
  std::string_view line;      ///< `src/db.cc:120`, or nothing
};

/// Only what the recorder appended is taken off: a module is separated by a space and comes after an offset
/// or `(inlined)`.
FrameParts parts_of(std::string_view frame) {
  FrameParts parts{frame, {}, {}};
  std::string_view& function = parts.function;
  if (const std::size_t at = function.rfind(" at "); at != std::string_view::npos) {
    parts.line = function.substr(at + 4);
    function = function.substr(0, at);
  }
  if (const std::size_t module = function.rfind(" (");
      module != std::string_view::npos && function.back() == ')') {
    std::string_view before = function.substr(0, module);
    const std::size_t plus = before.rfind("+0x");
    if (constexpr std::string_view kInlined = " (inlined)"; before.ends_with(kInlined)) {
      before.remove_suffix(kInlined.size());
      parts.module = function.substr(module);
      function = before;
    } else if (plus != std::string_view::npos && is_hex(before.substr(plus + 3))) {
      parts.module = function.substr(module);
      function = before;
    }
  }
  if (const std::size_t plus = function.rfind("+0x");
      plus != std::string_view::npos && plus > 0 && is_hex(function.substr(plus + 3))) {
    function = function.substr(0, plus);
  }
  return parts;
}

}  // namespace

std::string short_frame(std::string_view frame) {
  FrameParts parts = parts_of(frame);
  std::string out(without_arguments(parts.function));
  if (!parts.line.empty()) {
    parts.line.remove_prefix(parts.line.rfind('/') + 1);  // npos + 1 == 0
    out.append(" (").append(parts.line).append(")");
  }
  return out;
}

std::string function_of(std::string_view frame) {
  const FrameParts parts = parts_of(frame);
  return std::string(parts.function).append(parts.module);
}

FoldedStack fold(const std::vector<std::string>& stack, std::size_t limit) {
  FoldedStack out;
  const auto boundary = std::find(stack.begin(), stack.end(), "--");
  auto user = boundary == stack.end() ? stack.begin() : std::next(boundary);
  if (boundary != stack.end()) {
    for (auto frame = stack.begin(); frame != boundary && out.kernel.size() < kKernelFrames; ++frame) {
      std::string function = short_frame(*frame);
      if (!is_plumbing(function)) {
        out.kernel.push_back(std::move(function));
      }
    }
  } else {
    // A kernel thread (or no kernel frames at all): plumbing at both ends goes, if anything else is there.
    while (user != stack.end() && is_plumbing(short_frame(*user))) {
      ++user;
    }
    if (user == stack.end()) {
      user = stack.begin();
    }
  }
  auto last = stack.end();
  while (boundary == stack.end() && last - user > 1 && is_plumbing(short_frame(*std::prev(last)))) {
    --last;
  }
  for (; user != last && out.user.size() < limit; ++user) {
    out.user.push_back(short_frame(*user));
  }
  out.left_out = static_cast<std::size_t>(last - user);
  return out;
}

}  // namespace offwait
