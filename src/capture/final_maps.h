// SPDX-License-Identifier: GPL-2.0-or-later
// What the BPF programs have left in their maps when a recording has ended.
#pragma once

#include <offwait.skel.h>

#include "base/result.h"
#include "event/recording.h"

namespace offwait {

/// Adds threads, stacks, interfaces, peers, the ports that somebody listened to, and requests that are still
/// in flight. The programs must be detached.
Status read_final_maps(const offwait_bpf& skeleton, KernelRecording& recording);

/// What was lost so far, by the names of offwait/loss_counters.h. Asks the kernel for every counter.
LossCounts read_losses(const offwait_bpf& skeleton);

/// How stacks were taken so far.
offwait_stack_reuse read_stack_reuse(const offwait_bpf& skeleton);

}  // namespace offwait
