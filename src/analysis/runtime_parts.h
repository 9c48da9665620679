// SPDX-License-Identifier: GPL-2.0-or-later
// What runtimes of languages and databases bring into what runs on them: locks that stand for a construct of
// theirs, work that people know by another name than its functions', and schedulers that park their threads.
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
  innodb_row,    ///< of a row, or of a gap between rows, in MariaDB and MySQL
  postgres_row,  ///< of a row, which is one of the transaction that changed it
};
/// `none`, `java-monitor`, `cpython-gil`, `innodb-row`, `postgres-row`.
std::string_view to_string(RuntimeLock lock);

/// What is waited for in this stack, if that is a lock.
RuntimeLock runtime_lock(const Trace& trace, const Stack& stack);

/// A scheduler has nothing to run for the thread: it waits for no lock.
bool is_parked_by_scheduler(const Trace& trace, const Stack& stack);

/// CPU work that people change by other means than its code.
enum class KnownWork : std::uint8_t {
  none,        ///< it is the program's own, as far as is known
  garbage,     ///< the Java virtual machine collects garbage
  table_scan,  ///< a database reads all rows of a table
  row_filter,  ///< a database checks a condition of a query for one row after the other
  sync,        ///< the kernel brings what was written to a disk (fsync and the like)
};

/// What is known of CPU work in this stack. Of Java's collectors the serial one, and parts of the others, run
/// in the thread that does all operations for which Java's threads stop.
KnownWork known_work(const Trace& trace, StackId stack);

}  // namespace offwait
