// SPDX-License-Identifier: GPL-2.0-or-later
// How much memory cgroups and the machine have, and how much of what was in it had to be read again:
// memory.max, memory.high, memory.events.local and memory.stat of cgroup v2, memory.limit_in_bytes,
// memory.failcnt and memory.stat of v1, /proc/meminfo and /proc/vmstat
// (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst; mm/workingset.c).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cgroup/controllers.h"

namespace offwait {

/// What the kernel says now. The counters count since the cgroup was made, or the machine has started.
struct MemoryReading {
  bool counts = false;         ///< that it counts what is read again; else all others are 0
  std::uint64_t limit = 0;     ///< bytes; 0: none
  std::uint64_t used = 0;      ///< bytes
  std::uint64_t reached = 0;   ///< how often this limit was reached, and not one of a cgroup below
  std::uint64_t refaults = 0;  ///< pages of files that were dropped and read again
  std::uint64_t swapped = 0;   ///< pages of programs that were put out and read again
};

/// The lower one of memory.max and memory.high, from their texts; 0 if both are `max`.
std::uint64_t parse_memory_limit(std::string_view max, std::string_view high);
/// From the text of memory.limit_in_bytes; 0 if that is so much that it is no limit.
std::uint64_t parse_limit_in_bytes(std::string_view text);

MemoryReading read_memory(const ControllerHierarchy& hierarchy, const std::string& name);
// The same in two steps, as there may be hundreds of cgroups, and `limit`, `used` and `reached` are in files
// of their own:
MemoryReading read_refaults(const ControllerHierarchy& hierarchy, const std::string& name);
void read_limit(const ControllerHierarchy& hierarchy, const std::string& name, MemoryReading& reading);

/// The machine's, from the texts of /proc/meminfo and /proc/vmstat. It is never said to be reached.
MemoryReading machine_memory(std::string_view meminfo, std::string_view vmstat);

}  // namespace offwait
