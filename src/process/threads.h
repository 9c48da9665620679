// SPDX-License-Identifier: GPL-2.0-or-later
// The threads of a process, by their numbers in the PID namespace of the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

/// The tid, in our PID namespace, of the thread of `tgid` that has the number `inner` in its own PID
/// namespace. Nothing if there is none.
std::optional<std::int32_t> thread_of_process(std::int32_t tgid, std::int32_t inner);

/// The last number of the NSpid line of /proc/TID/status: the thread's number in its own PID namespace.
std::optional<std::int32_t> innermost_tid(std::string_view status);

/// The number under which /proc and process_vm_readv(2) have the memory of the process: `tgid` or, if its
/// first thread has exited (pthread_exit in main) and others go on, that of one of these. It is `tgid` if the
/// process has gone.
std::int32_t thread_with_memory(std::int32_t tgid);

/// The entries of a directory of /proc that are numbers: its processes or threads. Empty if it has gone.
std::vector<std::int32_t> numbers_in(const std::string& directory);

/// The state of the thread as a letter of /proc/TID/stat (proc(5)): `R` runs or is ready to. `?` if it has
/// gone.
char state_of(std::int32_t tid);

/// The name of the thread, as `ps` shows it; empty if it has gone. Hostile bytes.
std::string read_comm(std::int32_t tid);

}  // namespace offwait
