// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/runtime_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "analysis/file_calls.h"

namespace offwait {

namespace {

template <std::size_t n>
bool has_one_of(const Trace& trace, const Stack& stack, const std::array<std::string_view, n>& parts) {
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&](FrameId id) {
    const Frame& frame = trace.frames[id];
    return frame.kind == Frame::Kind::user &&
           std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return frame.function.find(part) != std::string::npos; });
  });
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
  // Threads of the pools in java.util.concurrent park by Parker::park.
  constexpr std::array<std::string_view, 2> kMonitor = {"ObjectMonitor::", "PlatformEvent::park"};
  constexpr std::array<std::string_view, 1> kWaitOfMonitor = {"ObjectMonitor::wait"};
  constexpr std::array<std::string_view, 3> kGil = {"take_gil", "PyEval_RestoreThread",
                                                    "PyEval_AcquireThread"};
  if (has_one_of(trace, stack, kMonitor) && !has_one_of(trace, stack, kWaitOfMonitor)) {
    return RuntimeLock::java_monitor;
  }
  if (has_one_of(trace, stack, kGil)) return RuntimeLock::cpython_gil;
  // Debian's mariadbd has no names of InnoDB's own functions.
  constexpr std::array<std::string_view, 2> kInnoDb = {"handler::ha_", "lock_wait("};
  constexpr std::array<std::string_view, 3> kCondition = {"cond_wait", "cond_timedwait", "cond_clockwait"};
  if (has_one_of(trace, stack, kInnoDb) && has_one_of(trace, stack, kCondition)) {
    return RuntimeLock::innodb_row;
  }
  constexpr std::array<std::string_view, 2> kPostgres = {"XactLockTableWait", "heap_acquire_tuplock"};
  return has_one_of(trace, stack, kPostgres) ? RuntimeLock::postgres_row : RuntimeLock::none;
}

bool is_parked_by_scheduler(const Trace& trace, const Stack& stack) {
  // What goroutines have in common, the locks of the runtime itself, is taken by runtime.lock2.
  constexpr std::array<std::string_view, 4> kParks = {"runtime.notesleep", "runtime.notetsleep",
                                                      "runtime.mPark", "runtime.stopm"};
  return has_one_of(trace, stack, kParks);
}

bool is_garbage_collector(std::string_view thread) {
  // Parallel GC and the pauses of G1; G1; ZGC; Shenandoah.
  constexpr std::array<std::string_view, 9> kNames = {"GC Thread#", "ParGC Thread#",  "G1 Conc#",
                                                      "G1 Refine#", "G1 Main Marker", "ZWorker",
                                                      "ZDriver",    "ZDirector",      "Shenandoah"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [thread](std::string_view name) { return thread.starts_with(name); });
}

KnownWork known_work(const Trace& trace, StackId id) {
  const Stack& stack = trace.stacks[id];
  constexpr std::array<std::string_view, 7> kCollections = {
      "VM_GenCollect", "VM_SerialCollect", "VM_CollectFor", "VM_ParallelGC",
      "VM_G1Collect",  "VM_G1Pause",       "VM_Shenandoah"};
  // MariaDB, MySQL, PostgreSQL.
  constexpr std::array<std::string_view, 5> kScans = {
      "rr_sequential", "handler::ha_rnd_next", "TableScanIterator::Read", "ExecSeqScan", "heap_getnextslot"};
  if (has_one_of(trace, stack, kCollections)) return KnownWork::garbage;
  if (has_one_of(trace, stack, kScans)) return KnownWork::table_scan;
  return action_of(file_call(trace, id)) == FileAction::sync ? KnownWork::sync : KnownWork::none;
}

}  // namespace offwait
