// SPDX-License-Identifier: GPL-2.0-or-later
// Asks other programs for names. This happens only when the user allows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbol/debug_files.h"

namespace offwait {

/// Fails if a program or a setting is missing without which --java or --debuginfod could get no names.
Status check_name_sources(bool java, bool debuginfod);

/// Has a JVM write the names of the code that it has compiled into /tmp/perf-PID.map of its own /tmp: runs
/// `jcmd PID Compiler.perfmap` (JDK 17 and later) as the JVM's user, for at most 10 s. The JVM starts a
/// thread and writes a file for that, so it is done only if the user asks for it. jcmd sends SIGQUIT, so a
/// process that does not handle that signal (a JVM with -Xrs) is left alone.
Status write_java_perf_map(std::int32_t tgid);

/// A server of debug files that runs `debuginfod-find`, which asks the servers in DEBUGINFOD_URLS and keeps
/// the files in the user's cache. It takes up to 30 s a file. After it could not be run or took that long it
/// is not run again, and `notes`, which must live as long, says so.
DebugServer debuginfod(std::vector<std::string>& notes);

}  // namespace offwait
