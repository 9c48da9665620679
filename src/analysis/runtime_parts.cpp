// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/runtime_parts.h"

#include <algorithm>

#include "analysis/file_calls.h"
#include "code/roles.h"

namespace offwait {

namespace {

template <typename Is>
bool any_frame(const Trace& trace, const Stack& stack, const Is& is) {
  return std::any_of(stack.frames.begin(), stack.frames.end(),
                     [&](FrameId id) { return is(roles_of(trace.frames[id])); });
}

}  // namespace

std::string_view to_string(RuntimeLock lock) {
  switch (lock) {
    case RuntimeLock::none:
      return "none";
    case RuntimeLock::java_monitor:
      return "java-monitor";
    case RuntimeLock::cpython_gil:
      return "cpython-gil";
    case RuntimeLock::innodb_row:
      return "innodb-row";
    case RuntimeLock::postgres_row:
      return "postgres-row";
  }
  return "";
}

RuntimeLock runtime_lock(const Trace& trace, const Stack& stack) {
  using M = LockManager;
  bool of_monitor = false, waits_for_notification = false, of_python = false, of_row = false,
       for_condition = false, of_postgres_row = false;
  for (const FrameId id : stack.frames) {
    const Roles roles = roles_of(trace.frames[id]);
    const M manager = roles.manager;
    // Threads of the pools in java.util.concurrent park in another function.
    of_monitor |= manager == M::monitor || manager == M::monitor_enter || manager == M::monitor_park;
    waits_for_notification |= manager == M::monitor_wait;
    of_python |= manager == M::python;
    // Debian's mariadbd has no names of InnoDB's own functions.
    of_row |= manager == M::innodb || manager == M::storage_engine;
    for_condition |= roles.waits_for == WaitsFor::condition;
    of_postgres_row |= manager == M::postgres_row;
  }
  if (of_monitor && !waits_for_notification) return RuntimeLock::java_monitor;
  if (of_python) return RuntimeLock::cpython_gil;
  if (of_row && for_condition) return RuntimeLock::innodb_row;
  return of_postgres_row ? RuntimeLock::postgres_row : RuntimeLock::none;
}

bool is_parked_by_scheduler(const Trace& trace, const Stack& stack) {
  // What goroutines have in common, the locks of the runtime itself, is taken by other functions.
  return any_frame(trace, stack, [](const Roles& roles) { return roles.has_no_task; });
}

KnownWork known_work(const Trace& trace, StackId id) {
  const Stack& stack = trace.stacks[id];
  const auto is = [&](Work work) {
    return any_frame(trace, stack, [work](const Roles& roles) { return roles.work == work; });
  };
  if (is(Work::garbage)) return KnownWork::garbage;
  if (is(Work::table_scan)) return KnownWork::table_scan;
  if (is(Work::condition) && is(Work::row_loop)) return KnownWork::row_filter;
  return file_action(trace, id) == FileAction::sync ? KnownWork::sync : KnownWork::none;
}

}  // namespace offwait
