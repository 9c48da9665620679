// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "event/named_stacks.h"
#include "event/recording.h"
#include "session/known_frames.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// The frames of all stacks in a recording (KernelRecording::stacks, stacks_in_records()); `symbols` is asked
/// for all addresses at once.
///
/// The recorder's own frames are left out: the walk of a kernel stack begins inside the BPF program. A stack
/// of busy waiting is the kernel's walk by frame pointers, which in code without them takes whatever lies on
/// the stack for return addresses; it ends at the first address that cannot be one.
///
/// With `known`, `symbols` is asked for what that does not have.
NamedStacks name_stacks(const std::unordered_map<std::uint32_t, offwait_stack>& stacks,
                        const std::set<RecordStack>& in_records, Symbolizer& symbols,
                        KnownFrames* known = nullptr);

/// The frames at each of these addresses; none at those of the recorder itself. All return addresses in the
/// function that switches threads have one frame, because a thread takes its stacks before the switch or
/// after it.
std::vector<std::vector<Frame>> name_addresses(const std::vector<FrameAddress>& addresses,
                                               Symbolizer& symbols, KnownFrames* known = nullptr);

}  // namespace offwait
