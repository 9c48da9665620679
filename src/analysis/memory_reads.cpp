// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/memory_reads.h"

#include <algorithm>
#include <vector>

namespace offwait {
namespace {

bool is_below(const MemoryUse& one, const MemoryUse& above) {
  return one.cgroup.size() > above.cgroup.size() && one.cgroup.starts_with(above.cgroup) &&
         (above.cgroup.empty() || one.cgroup[above.cgroup.size()] == '/');
}

/// Null if no memory is known.
const MemoryUse* most_read_again(const std::vector<MemoryUse>& memory) {
  const MemoryUse* out = nullptr;
  for (const MemoryUse& use : memory) {
    const bool is_lowest = std::none_of(memory.begin(), memory.end(),
                                        [&](const MemoryUse& other) { return is_below(other, use); });
    if (is_lowest && (out == nullptr || read_again(use) > read_again(*out))) out = &use;
  }
  return out;
}

/// The machine's row if no limit was reached.
const MemoryUse& reached_limit(const std::vector<MemoryUse>& memory, const MemoryUse& use) {
  const MemoryUse* out = nullptr;
  const MemoryUse* machine = &use;
  for (const MemoryUse& above : memory) {
    if (above.cgroup.empty()) machine = &above;
    const bool holds = &above == &use || is_below(use, above);
    if (holds && above.reached > 0 && (out == nullptr || is_below(above, *out))) out = &above;
  }
  return out == nullptr ? *machine : *out;
}

std::uint64_t read_by_target(const Trace& trace) {
  std::uint64_t out = 0;
  for (const DiskIo& io : trace.disk_ios) {
    if (io.operation == DiskOperation::read && io.thread != kNoActor && !trace.actors[io.thread].outside)
      out += io.bytes;
  }
  return out;
}

}  // namespace

std::optional<FoundMemory> find_memory(const Trace& trace) {
  const MemoryUse* const most = most_read_again(trace.memory);
  if (most == nullptr || read_again(*most) == 0) return std::nullopt;
  const MemoryUse& limit = reached_limit(trace.memory, *most);
  return FoundMemory{limit.cgroup,        limit.limit_bytes, limit.used_bytes,     limit.reached,
                     most->refault_bytes, most->swap_bytes,  read_by_target(trace)};
}

}  // namespace offwait
