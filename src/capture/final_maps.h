// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the BPF programs have in their maps, at the end of a recording and while it runs.
#pragma once

#include <offwait.skel.h>

#include "base/result.h"
#include "event/recording.h"

namespace offwait {

// The programs may be attached while these read. The result may have what they change meanwhile, or not.

/// Adds threads, responses and counted calls.
Status read_counted(const offwait_bpf& skeleton, KernelRecording& recording);
/// Deletes the responses and calls of threads that are not in the recording, and did nothing in its window.
void forget_counted(const offwait_bpf& skeleton, const KernelRecording& recording);
/// Adds interfaces, peers, ports on which sockets listened, and unix addresses.
Status read_named(const offwait_bpf& skeleton, KernelRecording& recording);
/// Adds the requests that are still in flight.
Status read_requests(const offwait_bpf& skeleton, KernelRecording& recording);

/// The losses so far, by the names in offwait/loss_counters.h. Asks the kernel for every counter.
LossCounts read_losses(const offwait_bpf& skeleton);

/// How many stacks were walked, and how many recognised, so far.
offwait_stack_reuse read_stack_reuse(const offwait_bpf& skeleton);

}  // namespace offwait
