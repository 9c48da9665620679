// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "code/kernel.h"

namespace offwait {

namespace {

constexpr std::string_view kPageFault = "page fault";

constexpr std::array<std::pair<std::string_view, FileAction>, 21> kActions = {{
    {"fsync", FileAction::sync},    {"fdatasync", FileAction::sync}, {"sync_file_range", FileAction::sync},
    {"sync", FileAction::sync},     {"syncfs", FileAction::sync},    {"msync", FileAction::sync},
    {"write", FileAction::write},   {"pwrite", FileAction::write},   {"writev", FileAction::write},
    {"pwritev", FileAction::write}, {"pwritev2", FileAction::write}, {"read", FileAction::read},
    {"pread", FileAction::read},    {"readv", FileAction::read},     {"preadv", FileAction::read},
    {"preadv2", FileAction::read},  {"readahead", FileAction::read}, {"getdents", FileAction::read},
    {"execve", FileAction::read},   {kPageFault, FileAction::read},  {"io_uring_enter", FileAction::other},
}};

const auto* known_call(std::string_view call) {
  return std::find_if(kActions.begin(), kActions.end(),
                      [call](const auto& known) { return known.first == call; });
}

/// Without the size of offsets in the name.
std::string_view without_size(std::string_view call) {
  if (call.ends_with("64")) call.remove_suffix(2);
  return call;
}

}  // namespace

FileAction action_of(std::string_view call) {
  const auto* const found = known_call(call);
  return found == kActions.end() ? FileAction::other : found->second;
}

bool may_write(std::string_view call) {
  const auto* const found = known_call(call);
  return found != kActions.end() &&
         (found->second == FileAction::write || found->second == FileAction::other);
}

std::string_view call_of(const Frame& frame) {
  if (frame.kind != Frame::Kind::user) {
    return is_page_fault(frame.function) ? kPageFault : without_size(system_call(frame.function));
  }
  const std::string_view call = without_alias(frame.function);
  return known_call(call) == kActions.end() ? std::string_view() : call;
}

std::string_view without_alias(std::string_view function) {
  for (const std::string_view prefix : {"__GI_", "__libc_"}) {
    if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  }
  function.remove_prefix(std::min(function.find_first_not_of('_'), function.size()));
  return without_size(function);
}

}  // namespace offwait
