// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/memory_reads.h"

#include <algorithm>
#include <vector>

namespace offwait {
namespace {

/// Every cgroup is below the machine.
bool is_below(const MemoryUse& one, const MemoryUse& above) {
  return one.cgroup.size() > above.cgroup.size() && one.cgroup.starts_with(above.cgroup) &&
         (above.cgroup.empty() || one.cgroup[above.cgroup.size()] == '/');
}

const MemoryUse* machine_in(const std::vector<MemoryUse>& memory) {
  const auto machine =
      std::find_if(memory.begin(), memory.end(), [](const MemoryUse& use) { return use.cgroup.empty(); });
  return machine == memory.end() ? nullptr : &*machine;
}

/// The cgroups with processes of the target, without those below another one, which counts them already.
std::vector<const MemoryUse*> of_target(const std::vector<MemoryUse>& memory) {
  std::vector<const MemoryUse*> out;
  for (const MemoryUse& use : memory) {
    const bool is_counted = std::any_of(memory.begin(), memory.end(), [&](const MemoryUse& other) {
      return other.has_target && is_below(use, other);
    });
    if (use.has_target && !is_counted) out.push_back(&use);
  }
  return out;
}

/// The limit below which most of what `use` counts was dropped: its own, one below it, or one above it. Null:
/// none of them was reached.
const MemoryUse* reached_limit(const std::vector<MemoryUse>& memory, const MemoryUse& use) {
  const MemoryUse* out = nullptr;
  const auto is_better = [&use](const MemoryUse& one, const MemoryUse& than) {
    const bool holds_all = &one == &use || is_below(use, one);
    const bool other_holds_all = &than == &use || is_below(use, than);
    if (holds_all && other_holds_all) return is_below(one, than);  // the nearest one
    return read_again(one) > read_again(than) || (read_again(one) == read_again(than) && !holds_all);
  };
  for (const MemoryUse& one : memory) {
    const bool is_of_it = &one == &use || is_below(use, one) || is_below(one, use);
    if (is_of_it && one.limit_bytes > 0 && one.reached > 0 && (out == nullptr || is_better(one, *out)))
      out = &one;
  }
  return out;
}

/// What the target's threads read, and how much of that was of no known file.
struct TargetReads {
  std::uint64_t bytes = 0;
  std::uint64_t of_no_file = 0;
};

TargetReads reads_of_target(const Trace& trace) {
  TargetReads out;
  for (const DiskIo& io : trace.disk_ios) {
    if (io.operation != DiskOperation::read || io.thread == kNoActor || trace.actors[io.thread].outside)
      continue;
    out.bytes += io.bytes;
    if (io.file == kNoObject) out.of_no_file += io.bytes;
  }
  return out;
}

}  // namespace

std::optional<FoundMemory> find_memory(const Trace& trace) {
  const MemoryUse* const machine = machine_in(trace.memory);
  std::vector<const MemoryUse*> counted = of_target(trace.memory);
  FoundMemory out;
  out.of_all_programs = counted.empty();
  if (counted.empty() && machine != nullptr) counted = {machine};
  const MemoryUse* most = nullptr;
  for (const MemoryUse* use : counted) {
    out.refault_bytes += use->refault_bytes;
    out.swap_bytes += use->swap_bytes;
    if (most == nullptr || read_again(*use) > read_again(*most)) most = use;
  }
  if (most == nullptr) return std::nullopt;
  const MemoryUse* limit = out.of_all_programs ? machine : reached_limit(trace.memory, *most);
  if (limit == nullptr) limit = machine;
  if (limit == nullptr) return std::nullopt;
  out.cgroup = limit->cgroup;
  out.limit_bytes = limit->limit_bytes;
  out.used_bytes = limit->used_bytes;
  out.reached = limit->reached;
  const TargetReads reads = reads_of_target(trace);
  out.read_bytes = reads.bytes;
  out.swap_bytes = std::min(out.swap_bytes, reads.of_no_file);
  return out.refault_bytes + out.swap_bytes == 0 ? std::nullopt : std::optional(out);
}

}  // namespace offwait
