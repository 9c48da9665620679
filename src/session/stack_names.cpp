// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/stack_names.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "event/assemble.h"
#include "offwait/unwind.h"

namespace offwait {
namespace {

bool is_recorder(std::string_view function) {
  constexpr std::array<std::string_view, 5> kOurs = {"__traceiter_", "__bpf_trace_", "bpf_trace_run",
                                                     "bpf_prog_", "bpf_get_stack"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [function](std::string_view name) { return function.starts_with(name); });
}

}  // namespace

StackNames::StackNames(const KernelRecording& recording, Symbolizer& symbols) : symbols_(symbols) {
  std::set<FrameAddress> wanted;
  for_each_stack(recording, [this, &wanted](const offwait_stack& stack) {
    for (const FrameAddress& address : addresses_of(stack)) wanted.insert(address);
  });
  const std::vector<FrameAddress> addresses(wanted.begin(), wanted.end());
  std::vector<std::vector<Frame>> frames = symbols.frames(addresses);
  for (std::size_t i = 0; i < addresses.size(); ++i) frames_.emplace(addresses[i], std::move(frames[i]));
}

std::vector<Frame> StackNames::name(const offwait_stack& stack) const {
  std::vector<Frame> names;
  for (const FrameAddress& address : addresses_of(stack)) {
    const std::vector<Frame>& here = frames_.at(address);
    if (stack.tgid == 0 && is_recorder(here.front().function)) {
      names.clear();
    } else {
      names.insert(names.end(), here.begin(), here.end());
    }
  }
  return names;
}

std::vector<FrameAddress> StackNames::addresses_of(const offwait_stack& stack) const {
  const auto tgid = static_cast<std::int32_t>(stack.tgid);
  std::vector<FrameAddress> addresses;
  for (const std::uint64_t pc : pcs_of(stack)) {
    const bool return_address = !addresses.empty();
    if (stack.end == OFFWAIT_STACK_BY_KERNEL && return_address && !symbols_.is_code(tgid, pc)) break;
    addresses.push_back({tgid, pc, return_address});
  }
  return addresses;
}

}  // namespace offwait
