// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel and user stacks with names, joined into one.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "event/assemble.h"
#include "event/recording.h"
#include "model/trace_builder.h"

namespace offwait {

/// The stack that a spin brings with it.
offwait_stack stack_of(const offwait_spin& record);

class JoinedStacks {
 public:
  /// All of these must outlive this.
  JoinedStacks(const KernelRecording& recording, const StackNamer& name_stack, TraceBuilder& builder);

  /// The stacks with these ids in the recording, 0 for none, as one: leaf first.
  StackId joined(std::uint32_t kernel, std::uint32_t user);
  StackId of(const offwait_spin& record);

  /// Whether the walk of this user stack ended because a mapping was not known yet.
  bool lacked_mapping(std::uint32_t user) const { return lacked_mapping_.contains(user); }

 private:
  void append(std::uint32_t id, Stack& joined);
  void append_frames(const offwait_stack& stack, Stack& joined);

  const KernelRecording& recording_;
  const StackNamer& name_stack_;
  TraceBuilder& builder_;
  std::unordered_set<std::uint32_t> lacked_mapping_;           ///< ids
  std::unordered_map<std::uint64_t, StackId> joined_;          ///< by both ids
  std::map<std::vector<std::uint64_t>, StackId> spin_stacks_;  ///< by tgid and addresses
};

}  // namespace offwait
