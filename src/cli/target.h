// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/held_command.h"

namespace offwait {

/// What is to be recorded, and exists: processes with all that they create, or one thread.
struct Target {
  std::vector<std::int32_t> tgids;
  std::int32_t tid = 0;          ///< 0: whole processes
  std::vector<UniqueFd> living;  ///< pidfds, readable when the process has exited; see forget_exited()
  std::string label;             ///< "pid 1234 (mariadbd)"; hostile bytes
};

/// Fails, with a sentence each, when there is no such process, when it is a kernel thread, when the number is
/// a thread's and not a process's, and when it has exited but was not waited for yet.
Result<Target> find_processes(const std::vector<std::int32_t>& pids);
Result<Target> find_thread(std::int32_t tid);

/// `name` is what the user calls it.
Result<Target> find_command(const HeldCommand& command, const std::string& name);

/// Takes the processes that have exited out of `living`; all of them if a thread is the target and has
/// exited.
void forget_exited(Target& target);

}  // namespace offwait
