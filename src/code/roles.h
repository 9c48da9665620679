// SPDX-License-Identifier: GPL-2.0-or-later
// What functions of libraries and runtimes mean, by their names. All other rooms ask here, and have no such
// names (tests/rooms.py). The kernel's functions are in kernel.h, calls that use files in calls.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/frame.h"

namespace offwait {

/// What a user frame says about the program. A kernel frame is never noise.
enum class Noise : std::uint8_t {
  none,      ///< the program's own
  library,   ///< a function of libc or libstdc++ that says what it does
  start,     ///< starts a thread or main()
  body,      ///< the same, and the thread's own function may be inlined into it
  call,      ///< waits or wakes, and says how
  internal,  ///< below or around such a call
  glue,      ///< calls something that it was given
  unnamed,   ///< of libc or libstdc++, without a name
};

/// What a thread waits for that waits in this function.
enum class WaitsFor : std::uint8_t {
  nothing,   ///< the name does not tell
  anything,  ///< a runtime waits so for locks and for events: goroutines, Rust's parking lots
  event,     ///< another thread lets it go on: a parked thread of Java, a scheduler of Erlang
  mutex,     ///< or another lock that one thread has at a time
  rwlock,
  semaphore,
  condition,  ///< a condition variable
  barrier,    ///< also a latch
  join,       ///< the end of a thread
};
/// A lock: threads have it in turns, and wait for those that have it.
bool is_lock(WaitsFor what);
/// Threads that wait for it are let go at one event, and none of them has it: it is never a lock, however its
/// waits begin and end.
bool is_rendezvous(WaitsFor what);

/// Runtimes whose threads run tasks of the program in turns: goroutines, virtual threads, jobs of thread
/// pools. Where functions of several are in one process, the last of these counts.
enum class Runtime : std::uint8_t { none, go, java, java_virtual_threads, erlang, tokio, greenlets };

/// Code that manages locks of its own, by whatever means its threads wait for them.
enum class LockManager : std::uint8_t {
  none,
  monitor_enter,   ///< of Java, to take one
  monitor,         ///< of Java
  monitor_wait,    ///< of Java, for a notification
  monitor_park,    ///< of Java: how threads wait for monitors, and for notifications
  python,          ///< takes the lock of all Python code (GIL)
  innodb,          ///< waits for a row's lock
  storage_engine,  ///< a call of a storage engine (MariaDB, MySQL), which may wait for a row's lock
  postgres,        ///< takes any lock of PostgreSQL
  postgres_row,    ///< waits for a transaction that changed a row
};
/// Threads that wait in such a function, in whatever way, wait for a lock.
bool takes_its_locks(LockManager manager);

/// Work that people know by another name than its functions'.
enum class Work : std::uint8_t {
  other,
  garbage,     ///< the Java virtual machine collects garbage
  table_scan,  ///< a database reads all rows of a table
  condition,   ///< a database checks a condition
  row_loop,    ///< a database looks at one row of a query after the other
};

/// Whether a variable of this name is the state of CPython's runtime, in which its lock of all Python code
/// (GIL) lies.
bool is_state_of_python(std::string_view variable);

/// What one function's name, and the module that it is in, mean.
struct Roles {
  Noise noise = Noise::none;
  WaitsFor waits_for = WaitsFor::nothing;
  LockManager manager = LockManager::none;
  Runtime runtime = Runtime::none;
  Work work = Work::other;
  bool begins_thread = false;  ///< every thread begins so, whatever it does
  bool way_to_wait = false;    ///< threads wait in it for anything; what waits there has nothing in common
  bool parks = false;          ///< of Java: waits by a condition variable for anything
  bool own_object = false;     ///< each thread waits in it on an object of its own, whatever it waits for
  bool retakes_mutex = false;  ///< takes the mutex of a condition at the end of a wait for the condition
  bool has_no_task = false;    ///< a scheduler has nothing to run for the thread: it waits for no lock
  bool c_condition = false;    ///< of the condition variables of C, each of which has several futexes
  bool outermost = false;      ///< nothing calls it, though its code may not say so
  bool of_go = false;          ///< of Go's runtime
  bool of_java = false;  ///< of the Java virtual machine, and what the classes of locks of Java consist of

  friend bool operator==(const Roles&, const Roles&) = default;
};

/// A frame of the kernel has none of these roles.
Roles roles_of(const Frame& frame);
/// By FrameId.
std::vector<Roles> roles_of(const std::vector<Frame>& frames);

/// What a stack waits for: roles_at(i) are the roles of its frame i, the innermost first. The innermost frame
/// that says anything decides. A barrier, a join or a parked thread of Java that is made of a condition
/// variable counts more than that, and anything more than a runtime's way to wait for anything.
template <typename RolesAt>
WaitsFor waits_for(std::size_t frames, RolesAt&& roles_at) {
  WaitsFor found = WaitsFor::nothing;
  for (std::size_t i = 0; i < frames; ++i) {
    const Roles& roles = roles_at(i);
    const WaitsFor here = roles.waits_for;
    const bool made_of_it = is_rendezvous(here) || roles.parks;
    if (found == WaitsFor::nothing || found == WaitsFor::anything) {
      if (here != WaitsFor::nothing) found = here;
    } else if (found == WaitsFor::condition && made_of_it) {
      found = here;
    }
    const bool may_be_part =
        found == WaitsFor::nothing || found == WaitsFor::anything || found == WaitsFor::condition;
    if (!may_be_part) break;
  }
  return found;
}

/// In glibc or libstdc++.
bool in_library(const Frame& frame);
/// A library that every program of C or C++ has, or the dynamic linker.
bool is_runtime_library(std::string_view module);
/// The library of the Java virtual machine.
bool is_java_machine(std::string_view module);

/// Whether threads of the Java virtual machine that are called so collect garbage.
bool is_garbage_collector(std::string_view thread);

}  // namespace offwait
