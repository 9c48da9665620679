// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the BPF programs have in their maps, at the end of a recording and while it runs.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <offwait.skel.h>

#include "base/result.h"
#include "event/recording.h"

namespace offwait {

/// Adds threads, interfaces, peers, ports on which sockets listened, responses and counted calls. The
/// programs may be attached: then what they change meanwhile is there or not.
Status read_tables(const offwait_bpf& skeleton, KernelRecording& recording);

/// Adds stacks and requests still in flight. The programs must be detached.
Status read_final_maps(const offwait_bpf& skeleton, KernelRecording& recording);

/// The stacks with these ids, as far as there are any.
std::vector<std::pair<std::uint32_t, offwait_stack>> read_stacks(const offwait_bpf& skeleton,
                                                                 std::span<const std::uint32_t> ids);

/// The losses so far, by the names in offwait/loss_counters.h. Asks the kernel for every counter.
LossCounts read_losses(const offwait_bpf& skeleton);

/// How many stacks were walked, and how many recognised, so far.
offwait_stack_reuse read_stack_reuse(const offwait_bpf& skeleton);

}  // namespace offwait
