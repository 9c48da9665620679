// SPDX-License-Identifier: GPL-2.0-or-later
// What the runtimes of languages bring into every program: locks that stand for a construct of the language,
// threads that collect garbage, and schedulers that park their threads.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/trace.h"

namespace offwait {

/// What a runtime has a lock for, which decides what people do about it.
enum class RuntimeLock : std::uint8_t {
  none,          ///< it is the program's own, as far as is known
  java_monitor,  ///< of `synchronized` code
  cpython_gil,   ///< of all Python code in a process
};
/// `none`, `java-monitor`, `cpython-gil`.
std::string_view to_string(RuntimeLock lock);

/// What is waited for in this stack, if that is a lock.
RuntimeLock runtime_lock(const Trace& trace, const Stack& stack);

/// A scheduler has nothing to run for the thread: it waits for no lock.
bool is_parked_by_scheduler(const Trace& trace, const Stack& stack);

/// Whether threads of the Java virtual machine that are called so collect garbage.
bool is_garbage_collector(std::string_view thread);

/// Whether a thread of the Java virtual machine that runs here collects garbage. The serial collector, and
/// parts of the others, run in the thread that does all operations for which Java's threads stop.
bool collects_garbage(const Trace& trace, const Stack& stack);

}  // namespace offwait
