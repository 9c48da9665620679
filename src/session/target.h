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

/// What is to be recorded, and exists: processes with all that they create, one thread, a cgroup, or all.
struct Target {
  std::optional<Cgroup> cgroup;
  bool all = false;
  std::vector<std::int32_t> tgids;  ///< its processes now; more may follow
  std::int32_t tid = 0;             ///< 0: whole processes
  std::vector<UniqueFd> living;  ///< pidfds of named processes, readable when they have exited; see goes_on()
  std::string label;             ///< "pid 1234 (mariadbd)"; hostile bytes
};

/// What the options name, but for a command. Fails, with a sentence each, when there is no such process, unit
/// or container, when a process is a kernel thread or has exited but was not waited for yet, and when the
/// number of a process is that of a thread.
Result<Target> find_target(const TargetOptions& options);

/// The command as a target. `name` is what the user calls it.
Result<Target> find_command(const HeldCommand& command, const std::string& name);

/// The threads of the target's processes that live now, with their names; those that are not the target
/// themselves are `outside`. A command that is still held has the name of this process.
std::vector<Actor> threads_of(const Target& target);

/// False once nothing more can be recorded of the target: its processes or its thread have exited, or its
/// cgroup was removed. Removes the processes that have exited from `living`.
bool goes_on(Target& target);

}  // namespace offwait
