// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the BPF programs have left in their maps at the end of a recording.
#pragma once

#include <offwait.skel.h>

#include "base/result.h"
#include "event/recording.h"

namespace offwait {

/// Adds threads, stacks, interfaces, peers, ports on which sockets listened, responses, counted calls, and
/// requests still in flight. The programs must be detached.
Status read_final_maps(const offwait_bpf& skeleton, KernelRecording& recording);

/// The losses so far, by the names in offwait/loss_counters.h. Asks the kernel for every counter.
LossCounts read_losses(const offwait_bpf& skeleton);

/// How many stacks were walked, and how many recognised, so far.
offwait_stack_reuse read_stack_reuse(const offwait_bpf& skeleton);

}  // namespace offwait
