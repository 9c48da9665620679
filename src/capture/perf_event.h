// SPDX-License-Identifier: GPL-2.0-or-later
// Opens performance events (perf_event_open(2)).
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/unique_fd.h"

namespace offwait {

/// `thread`: the one whose event it is; 0: this thread; -1: all. `cpu`: -1 for all, but not together with all
/// threads. `event.size` is set here. Empty, with errno, if the kernel refuses.
UniqueFd open_perf_event(perf_event_attr event, pid_t thread, int cpu);

}  // namespace offwait
