// SPDX-License-Identifier: GPL-2.0-or-later
// Names that other programs know: only asked for when the user allows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbol/debug_files.h"

namespace offwait {

/// Has the JVM write the names of what it has compiled into /tmp/perf-PID.map of its own /tmp, by `jcmd PID
/// Compiler.perfmap` (JDK 17 and later) as the user that it runs as, in at most 10 s. jcmd sends SIGQUIT, so
/// a process that does not handle it (a JVM with -Xrs) is left alone.
Status write_java_perf_map(std::int32_t tgid);

/// Asks `debuginfod-find`, which asks the servers in DEBUGINFOD_URLS and keeps what it gets in the user's
/// cache: up to 30 s a file. Not asked any more when it cannot be run, knows no servers or took that long;
/// `notes`, which must live as long, then says so.
DebugServer debuginfod(std::vector<std::string>& notes);

}  // namespace offwait
