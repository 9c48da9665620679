// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cgroup/hierarchy.h"
#include "model/trace.h"
#include "process/held_command.h"
#include "session/recording_options.h"

namespace offwait {

/// An existing target: processes with all that they create, one thread, a cgroup, or the whole system.
struct Target {
  std::optional<Cgroup> cgroup;
  bool all = false;
  std::vector<std::int32_t> tgids;  ///< its present processes; more may follow
  std::int32_t tid = 0;             ///< 0: whole processes
  std::vector<UniqueFd> living;  ///< pidfds of named processes, readable when they have exited; see goes_on()
  std::string label;             ///< "pid 1234 (mariadbd)"; hostile bytes
};

/// Finds the target that the options name, except for a command. Fails, with a sentence each, when there is
/// no such process, unit or container, when several processes have a name, when a process is a kernel thread
/// or is a zombie, and when the number of a process is that of a thread.
Result<Target> find_target(const TargetOptions& options);

/// The command as a target. `name` is the program's name as the user wrote it.
Result<Target> find_command(const HeldCommand& command, const std::string& name);

/// The living threads of the target's processes, with their names; threads that are not targets themselves
/// are `outside`. A command that is still held has the name of this process.
std::vector<Actor> threads_of(const Target& target);

/// False once nothing more can be recorded of the target: its processes or its thread have exited, or its
/// cgroup was removed. Removes the processes that have exited from `living`.
bool goes_on(Target& target);

}  // namespace offwait
