// SPDX-License-Identifier: GPL-2.0-or-later
// Runtimes whose threads run tasks of the program in turns: goroutines, virtual threads, jobs of thread
// pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "code/roles.h"
#include "model/trace.h"

namespace offwait {

/// `Go`, `Java`, …
std::string_view name_of(Runtime runtime);
/// What its threads run in turns: `goroutines`, `virtual threads`, …
std::string_view tasks_of(Runtime runtime);
/// Its tasks wait for each other without the kernel, so that these waits are in no recording.
bool hides_waits(Runtime runtime);

/// By ActorId: the runtime of the thread's process, told by functions and modules in the stacks of its
/// threads.
std::vector<Runtime> runtimes_of(const Trace& trace);

}  // namespace offwait
