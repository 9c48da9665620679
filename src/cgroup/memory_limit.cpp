// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/memory_limit.h"

#include <algorithm>

#include "base/read_file.h"
#include "cgroup/stat_text.h"

namespace offwait {
namespace {

// In /proc/vmstat and in memory.stat of v2.
constexpr std::string_view kRefaults = "workingset_refault_file";
constexpr std::string_view kSwapped = "workingset_refault_anon";
/// v1 writes the largest number of whole pages for no limit.
constexpr std::uint64_t kNoLimitOfV1 = std::uint64_t{1} << 62;

/// `MemTotal:       24682548 kB`, in bytes; 0 if there is no such line.
std::uint64_t of_meminfo(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ':') != key) continue;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return whole_number(take_until(line, ' ')).value_or(0) << 10U;
  }
  return 0;
}

/// Only what is read again, in pages: it makes the rest worth reading.
MemoryReading refaults_in(std::string_view stat, std::string_view files, std::string_view programs) {
  MemoryReading reading;
  const std::optional<std::uint64_t> refaults = counter_in(stat, files);
  reading.counts = refaults.has_value();
  reading.refaults = refaults.value_or(0);
  reading.swapped = counter_in(stat, programs).value_or(0);
  return reading;
}

void read_limit_v1(const std::string& directory, MemoryReading& reading) {
  reading.limit = parse_limit_in_bytes(read_file(directory + "/memory.limit_in_bytes"));
  reading.used = whole_number(read_file(directory + "/memory.usage_in_bytes")).value_or(0);
  reading.reached = whole_number(read_file(directory + "/memory.failcnt")).value_or(0);
}

void read_limit_v2(const std::string& directory, MemoryReading& reading) {
  reading.limit =
      parse_memory_limit(read_file(directory + "/memory.max"), read_file(directory + "/memory.high"));
  reading.used = whole_number(read_file(directory + "/memory.current")).value_or(0);
  const std::string events = read_file(directory + "/memory.events.local");
  reading.reached = counter_in(events, "max").value_or(0) + counter_in(events, "high").value_or(0);
}

}  // namespace

std::uint64_t parse_memory_limit(std::string_view max, std::string_view high) {
  const std::uint64_t most = whole_number(max).value_or(0);
  const std::uint64_t held = whole_number(high).value_or(0);
  return most == 0 || held == 0 ? std::max(most, held) : std::min(most, held);
}

std::uint64_t parse_limit_in_bytes(std::string_view text) {
  const std::uint64_t limit = whole_number(text).value_or(0);
  return limit < kNoLimitOfV1 ? limit : 0;
}

MemoryReading read_refaults(const ControllerHierarchy& hierarchy, const std::string& name) {
  const std::string stat = read_file(hierarchy.mount + name + "/memory.stat");
  return hierarchy.v1 ? refaults_in(stat, "total_workingset_refault_file", "total_workingset_refault_anon")
                      : refaults_in(stat, kRefaults, kSwapped);
}

MemoryReading read_memory(const ControllerHierarchy& hierarchy, const std::string& name) {
  MemoryReading reading = read_refaults(hierarchy, name);
  if (reading.counts) read_limit(hierarchy, name, reading);
  return reading;
}

void read_limit(const ControllerHierarchy& hierarchy, const std::string& name, MemoryReading& reading) {
  (hierarchy.v1 ? read_limit_v1 : read_limit_v2)(hierarchy.mount + name, reading);
}

MemoryReading machine_memory(std::string_view meminfo, std::string_view vmstat) {
  MemoryReading reading = refaults_in(vmstat, kRefaults, kSwapped);
  if (!reading.counts) return reading;
  reading.limit = of_meminfo(meminfo, "MemTotal");
  reading.used = reading.limit - std::min(reading.limit, of_meminfo(meminfo, "MemAvailable"));
  return reading;
}

}  // namespace offwait
