// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

namespace offwait {

/// The number of CPUs on which this thread may run (sched_setaffinity(2), cpusets); at least 1.
std::size_t available_cpus();

}  // namespace offwait
