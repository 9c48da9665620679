// SPDX-License-Identifier: GPL-2.0-or-later
// A trace that can be shown to others.
#pragma once

#include "model/trace.h"

namespace offwait {

/// The trace with less of what it says about the machine. Paths (of executables, scripts, files, sockets,
/// source files and cgroups) are their last part; of cgroups' memory, directories in which no process of the
/// target is are numbers, each the same everywhere: `/x1/x2/db`. Addresses of peers are their network, with a
/// number for each host in the order of the trace: `10.0.3.x1`, `2001:db8:x2`; loopback stays, and so do
/// ports. Names of threads, functions, processes and disks, the name of this host, and labels stay. What the
/// trace means does not change, and it satisfies validate() if the given one does.
Trace redacted(Trace trace);

}  // namespace offwait
