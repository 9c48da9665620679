// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel and user stacks with names, joined into one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/number_map.h"
#include "event/named_stacks.h"
#include "event/recording.h"
#include "model/trace_builder.h"

namespace offwait {

class JoinedStacks {
 public:
  /// Both must outlive this.
  JoinedStacks(const NamedStacks& named, TraceBuilder& builder);

  /// The stacks with these ids in the recording, 0 for none, as one: leaf first.
  StackId joined(std::uint32_t kernel, std::uint32_t user);
  StackId of(const offwait_spin& record);
  StackId of(const offwait_sample& record);

  /// Whether the walk of this user stack ended because a mapping was not known yet.
  bool lacked_mapping(std::uint32_t user) const { return lacked_mapping_.find(user) != nullptr; }

 private:
  void append(std::uint32_t id, Stack& joined);
  void append_frames(const NamedStacks::Indices& indices, Stack& joined);

  const NamedStacks& named_;
  TraceBuilder& builder_;
  std::vector<std::optional<FrameId>> frames_;  ///< in the trace, by index in `named_`; none: not yet
  NumberMap<bool> lacked_mapping_;              ///< true, by id
  NumberMap<StackId> joined_;                   ///< by both ids
  std::map<RecordStack, StackId> spins_;
  struct Place {
    std::uint32_t kernel = 0;
    std::uint32_t user = 0;
    std::uint64_t pc = 0;
    std::uint32_t tgid = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  std::map<Place, StackId> samples_;
};

}  // namespace offwait
