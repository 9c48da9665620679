// SPDX-License-Identifier: GPL-2.0-or-later
// Changes as the user writes them: `disk loop0 /2, comm:rocksdb:low cpu /2, cpus *2`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "progress/thread_groups.h"
#include "replay/scenario.h"

namespace offwait {

/// One change in the user's words: as Change, with names for the group and the disk.
struct NamedChange {
  Resource resource = Resource::cpu;
  std::string
      threads;  ///< cpu, io, sleep, remote, threads: pattern of a shell (fnmatch(3)) for names of threads
  std::string disk;       ///< disk, io: its name
  double factor = 0.5;    ///< as Change::factor
  std::string service{};  ///< remote without threads: where it is asked
  /// A function, as parse_what_if() has it. Without a resource all that the function takes is changed.
  std::string function{};
  bool whole_function = false;  ///< the change names no resource; `resource` is cpu
  std::string lock{};  ///< held, waited: its name, or a pattern for names; `factor` is 0 if it is waited
  friend bool operator==(const NamedChange&, const NamedChange&) = default;
};

/// Changes made together.
struct WhatIf {
  std::string asked;  ///< as the user wrote it
  std::vector<NamedChange> changes;
};

/// Changes are separated by commas. Each is one of
///   disk NAME /N          requests to this disk take an N-th of their time
///   service ADDRESS /N    this service, and all that is behind it on this host, takes an N-th of its time
///   cpus *N               N times as many CPUs
///   lock NAME /N          what threads do while they hold this lock takes an N-th of its time
///   lock NAME free        no thread waits for this lock, as if each had one of its own
///   comm:PATTERN cpu /N   CPU work of these threads; likewise `sleep` and `remote`
///   comm:PATTERN io NAME /N
///   comm:PATTERN threads *N   N times as many of these threads share what is asked of them
///   function NAME /N      this function with all that it calls: its CPU work, its waits for disks, times and
///                         remote services, and the time until it runs after waits
///   function NAME cpu /N  its CPU work alone; likewise `io`, its waits for disks, `sleep`, `remote` and
///                         `runnable`
/// The NAME of a function is as reports have it, with its argument types or without, or a pattern; functions
/// of that name that were inlined count as well. A function without a name is its place, `[module+0xbegin]`.
/// Threads may be named as reports do it, with their number (`worker×4`) or with the id of one (`worker/71`).
/// N is a decimal number from 0.001 to 1000, and `/N` may be written `*M` as well. A pattern may have blanks
/// inside, and `?` stands for a comma. The NAME of a lock is as reports have it, or its variable alone, or
/// a pattern. At most kMostChanges changes, no two of them of the same part. The errors quote the word
/// that is wrong, and show what would be right; their exit status is 2.
Result<WhatIf> parse_what_if(std::string_view text);
inline constexpr std::size_t kMostChanges = 64;

/// Whether a change of it is one of a lock.
bool names_a_lock(const WhatIf& what_if);

/// The changes in terms of this trace's groups, disks, services, functions and locks. What Change::code
/// refers to is added to `code`. `locks` has their names, by LockId; it may be empty unless names_a_lock().
/// Fails if no thread's name matches a pattern, if a pattern matches some threads of a group but not all of
/// them, and if no disk, service, function or lock has a given name. The error lists the names that there
/// are.
Result<Scenario> scenario_of(const WhatIf& what_if, const Trace& trace, const ThreadGroups& groups,
                             std::span<const std::string> locks, std::vector<CodeStacks>& code);

/// The parts of one function: its CPU work, its waits for disks, times and remote services, and the time
/// until it runs after waits.
Scenario changes_of_function(CodeId code, double factor);

}  // namespace offwait
