// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cgroup/hierarchy.h"
#include "process/held_command.h"

namespace offwait {

/// What is to be recorded, and exists: processes with all that they create, one thread, a cgroup, or all.
struct Target {
  std::optional<Cgroup> cgroup;
  bool all = false;
  std::vector<std::int32_t> tgids;  ///< those of now; more may come
  std::int32_t tid = 0;             ///< 0: whole processes
  std::vector<UniqueFd> living;  ///< pidfds of named processes, readable when they have exited; see goes_on()
  std::string label;             ///< "pid 1234 (mariadbd)"; hostile bytes
};

/// Fails, with a sentence each, when there is no such process, when it is a kernel thread, when the number is
/// a thread's and not a process's, and when it has exited but was not waited for yet.
Result<Target> find_processes(const std::vector<std::int32_t>& pids);
Result<Target> find_thread(std::int32_t tid);

/// `name` is what the user calls it.
Result<Target> find_command(const HeldCommand& command, const std::string& name);

/// As find_cgroup(), find_unit() and find_container().
Result<Target> find_processes_of_cgroup(const std::string& path);
Result<Target> find_processes_of_unit(const std::string& unit);
Result<Target> find_processes_of_container(const std::string& id);
Target whole_system();

/// False once nothing of it can come any more: the processes or the thread have exited, the cgroup is
/// removed. Takes the processes that have exited out of `living`.
bool goes_on(Target& target);

}  // namespace offwait
