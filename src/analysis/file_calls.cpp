// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/file_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace offwait {

namespace {

constexpr std::string_view kPageFault = "page fault";

/// What libc calls on its way into the kernel; further out a function may have such a name and do more.
constexpr std::size_t kMostUserFrames = 2;

constexpr std::array<std::pair<std::string_view, FileAction>, 21> kActions = {{
    {"fsync", FileAction::sync},    {"fdatasync", FileAction::sync}, {"sync_file_range", FileAction::sync},
    {"sync", FileAction::sync},     {"syncfs", FileAction::sync},    {"msync", FileAction::sync},
    {"write", FileAction::write},   {"pwrite", FileAction::write},   {"writev", FileAction::write},
    {"pwritev", FileAction::write}, {"pwritev2", FileAction::write}, {"read", FileAction::read},
    {"pread", FileAction::read},    {"readv", FileAction::read},     {"preadv", FileAction::read},
    {"preadv2", FileAction::read},  {"readahead", FileAction::read}, {"getdents", FileAction::read},
    {"execve", FileAction::read},   {kPageFault, FileAction::read},  {"io_uring_enter", FileAction::other},
}};

bool is_page_fault(std::string_view function) {
  constexpr std::array<std::string_view, 7> kNames = {"asm_exc_page_fault", "exc_page_fault", "do_page_fault",
                                                      "async_page_fault",   "page_fault",     "do_mem_abort",
                                                      "filemap_fault"};
  return std::find(kNames.begin(), kNames.end(), function) != kNames.end();
}

/// Without the size of offsets in the name.
std::string_view without_size(std::string_view call) {
  if (call.ends_with("64")) call.remove_suffix(2);
  return call;
}

std::string_view call_of_kernel(std::string_view function) {
  constexpr std::array<std::string_view, 8> kPrefixes = {
      "__x64_sys_", "__arm64_sys_", "__ia32_sys_", "__se_sys_", "__do_sys_", "ksys_", "SyS_", "sys_"};
  if (is_page_fault(function)) return kPageFault;
  for (const std::string_view prefix : kPrefixes) {
    if (function.starts_with(prefix)) return without_size(function.substr(prefix.size()));
  }
  return "";
}

std::string_view call_of_user(std::string_view function) {
  for (const std::string_view prefix : {"__GI_", "__libc_", "__"}) {
    if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  }
  function = without_size(function);
  const auto is_it = [function](const auto& known) { return known.first == function; };
  return std::any_of(kActions.begin(), kActions.end(), is_it) ? function : std::string_view();
}

std::string_view call_of(const Frame& frame) {
  return frame.kind == Frame::Kind::user ? call_of_user(frame.function) : call_of_kernel(frame.function);
}

/// `call_of_frame`: call_of() of a frame by its id.
template <class CallOfFrame>
std::string_view innermost_call(const Trace& trace, StackId stack, const CallOfFrame& call_of_frame) {
  std::size_t user_frames = 0;
  for (const FrameId id : trace.stacks[stack].frames) {
    if (trace.frames[id].kind == Frame::Kind::user && ++user_frames > kMostUserFrames) break;
    const std::string_view call = call_of_frame(id);
    if (!call.empty()) return call;
  }
  return "";
}

}  // namespace

std::string file_call(const Trace& trace, StackId stack) {
  if (stack == kNoStack) return "";
  return std::string(innermost_call(trace, stack, [&](FrameId id) { return call_of(trace.frames[id]); }));
}

std::vector<bool> stacks_that_sync(const Trace& trace) {
  std::vector<std::string_view> calls;  // by FrameId
  for (const Frame& frame : trace.frames) calls.push_back(call_of(frame));
  std::vector<bool> out;
  for (StackId stack = 0; stack < trace.stacks.size(); ++stack) {
    const std::string_view call = innermost_call(trace, stack, [&](FrameId id) { return calls[id]; });
    out.push_back(action_of(call) == FileAction::sync);
  }
  return out;
}

FileAction action_of(std::string_view call) {
  const auto found = std::find_if(kActions.begin(), kActions.end(),
                                  [call](const auto& known) { return known.first == call; });
  return found == kActions.end() ? FileAction::other : found->second;
}

}  // namespace offwait
