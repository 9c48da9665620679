// SPDX-License-Identifier: GPL-2.0-or-later
// Words of the text report's other sections. The strings may hold hostile bytes: the renderer
// escapes them and cuts them to width. Lists show their first `most` items, and say how many more there are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/blocked_places.h"
#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// `A 1.00 s, B 2.00 ms`
std::string named_times(const std::vector<std::pair<std::string, double>>& items);

// ---- the head

/// `threads called a* of processes called b or c`; empty for all.
std::string described(const ThreadFilter& filter);
/// `Labels: threads=64, version=10.11`; empty without labels.
std::string labels_text(const Recording& recording);
/// That the recording is not complete; empty if it is.
std::string interrupted_text(const Recording& recording);
/// `0.46 of 2 CPUs`
std::string cpus_used(const Findings& findings);
/// `machine 75% busy`; empty if that is not known.
std::string machine_text(const Findings& findings);
/// `12 threads and 3 outside the target`
std::string threads_text(const Totals& totals);

// ---- knots, sinks

/// `knot, weight 1.00 s, busy 20.0 ms, looks like: lock contention`
std::string background_knot_text(const FoundKnot& knot);
/// `busy 4.2%`; of a device `4.2% of its capacity used`.
std::string sink_share(const Findings& findings, const FoundSink& sink);
/// How a sink spent the window.
std::string sink_text(const Findings& findings, const FoundSink& sink, std::size_t most);

// ---- CPUs, devices

std::string runnable_text(const Findings& findings, const ActorNames& names, std::size_t most);
/// The share of a disk's traffic that each of its users sent.
std::string disk_users_text(const FoundDisk& disk, const ActorNames& names, std::size_t most);
/// How the counters and the tracepoints differ.
std::string mismatch_text(const FoundDiskCheck& check);
/// `received 10.0 MB/s, idle 92%`
std::string direction_text(std::string_view name, const FoundNicDirection& use, double window_s);
/// `capacity 10 Gbit/s each way (reported)`
std::string capacity_text(const FoundNic& nic);

// ---- false wakeups, stacks, open waits

std::string false_wakeups_text(const FoundFalseWakeups& all, const ActorNames& names, std::size_t most);
/// How many known stacks turned out to be others.
std::string wrong_stacks_text(const StackReuse& reuse);
/// What recording took from the machine, and how many stacks were taken; empty if neither is known.
std::string cost_text(const Recording& recording, bool verbose);
/// How far user stacks reach, by the wait time that they have.
std::string stack_ends_text(const StackEnds& ends);
/// Threads blocked elsewhere, or from later on; empty for none.
std::string other_blocked_text(const BlockedThreads& blocked);
/// Names the holder of the mutex that a blocked thread waits for, up to the words before the holder's stack.
std::string holder_text(const Findings& findings, const FoundOpenWait& open, const ActorNames& names);
/// The open wait of the thread that holds the mutex which `open` waits for, if its stack is worth showing.
const FoundOpenWait* blocked_holder(const Findings& findings, const FoundOpenWait& open);

// ---- --explain

/// What the search went by.
std::string search_options_text(const Findings& findings);
/// `3 edges under the noise floor set aside, 2.00 ms together`
std::string noise_text(const Findings& findings);
/// One step of the search.
std::string step_text(const Findings& findings, const RefinementStep& step, const ActorNames& names);

}  // namespace offwait
