// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/cgroup_readings.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/read_file.h"

namespace offwait {
namespace {

constexpr std::size_t kMostCgroups = 64;

MemoryReading read_machine() { return machine_memory(read_file("/proc/meminfo"), read_file("/proc/vmstat")); }

/// What a counter has gained; 0 if it went backwards.
std::uint64_t gained(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

MemoryUse use_of(std::string cgroup, bool has_target, const MemoryReading& before, const MemoryReading& now) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {std::move(cgroup),
          has_target,
          now.limit,
          now.used,
          gained(before.reached, now.reached),
          gained(before.refaults, now.refaults) * page,
          gained(before.swapped, now.swapped) * page};
}

/// Adds a cgroup and those above it to the readings, with what they say now.
template <class Reading, class Read>
void add_with_ancestors(const std::string& cgroup, std::map<std::string, Reading>& readings, Read read) {
  for (const std::string& above : with_ancestors(cgroup)) {
    // The cgroups above were added together with this one.
    if (readings.contains(above)) return;
    readings.emplace(above, read(above));
  }
}

}  // namespace

CgroupReadings::CgroupReadings() {
  const std::string mounts = read_file("/proc/self/mountinfo");
  cpu_ = hierarchy_of("cpu", mounts);
  memory_ = hierarchy_of("memory", mounts);
}

void CgroupReadings::note(const offwait_thread_record& thread) {
  const auto tgid = static_cast<std::int32_t>(thread.tgid);
  if (thread.event == OFFWAIT_THREAD_EXITED) {
    if (thread.tid == thread.tgid) processes_.erase(tgid);
  } else if (thread.outside == OFFWAIT_TARGET && processes_.insert(tgid).second) {
    add_cgroups_of(tgid);
  }
}

void CgroupReadings::add_cgroups_of(std::int32_t tgid) {
  const std::string text = read_file("/proc/" + std::to_string(tgid) + "/cgroup");
  const std::optional<std::string> cpu = cpu_ ? cgroup_for("cpu", text, cpu_->v1) : std::nullopt;
  if (cpu) add_with_ancestors(*cpu, quotas_, [this](const auto& name) { return read_quota(*cpu_, name); });
  const std::optional<std::string> memory = memory_ ? cgroup_for("memory", text, memory_->v1) : std::nullopt;
  if (!memory) return;
  add_with_ancestors(*memory, memories_, [this](const auto& name) { return read_memory(*memory_, name); });
  with_target_.insert(*memory);
}

void CgroupReadings::begin() {
  for (auto& [name, reading] : quotas_) reading = read_quota(*cpu_, name);
  for (auto& [name, reading] : memories_) reading = read_memory(*memory_, name);
  machine_ = read_machine();
}

void CgroupReadings::add_to(KernelRecording& recording) const {
  add_quotas(recording);
  add_memory(recording);
}

void CgroupReadings::forget_gone() {
  std::erase_if(quotas_, [this](const auto& quota) {
    return quota.second.limit && !read_quota(*cpu_, quota.first).limit;
  });
  std::error_code ignored;
  std::erase_if(memories_, [&](const auto& memory) {
    return !std::filesystem::exists(memory_->mount + memory.first, ignored);
  });
  std::erase_if(with_target_, [this](const std::string& name) { return !memories_.contains(name); });
}

void CgroupReadings::add_quotas(KernelRecording& recording) const {
  std::vector<CpuQuota>& quotas = recording.cpu_quotas;
  for (const auto& [name, before] : quotas_) {
    if (!before.limit) continue;
    const QuotaReading now = read_quota(*cpu_, name);
    // The cgroup is gone, or its limit is: the rest is not known.
    if (!now.limit || now.throttling.periods < before.throttling.periods) continue;
    const std::uint64_t periods = now.throttling.periods - before.throttling.periods;
    const std::uint64_t throttled =
        gained(before.throttling.throttled_periods, now.throttling.throttled_periods);
    // The counters are not read at one instant.
    quotas.push_back({name, now.limit->quota, now.limit->period, std::max(periods, throttled), throttled,
                      std::max<Nanos>(0, now.throttling.throttled - before.throttling.throttled)});
  }
  std::stable_sort(quotas.begin(), quotas.end(),
                   [](const CpuQuota& a, const CpuQuota& b) { return a.throttled_ns > b.throttled_ns; });
  if (quotas.size() > kMostCgroups) quotas.resize(kMostCgroups);
}

/// The machine comes first. A cgroup that is gone had its last counters then, which are not known. Limits are
/// read of those that are kept alone.
void CgroupReadings::add_memory(KernelRecording& recording) const {
  std::vector<MemoryUse>& memory = recording.memory;
  for (const auto& [name, before] : memories_) {
    const MemoryReading now = read_refaults(*memory_, name);
    if (now.counts) memory.push_back(use_of(name, with_target_.contains(name), before, now));
  }
  std::stable_sort(memory.begin(), memory.end(),
                   [](const MemoryUse& a, const MemoryUse& b) { return read_again(a) > read_again(b); });
  if (memory.size() > kMostCgroups) memory.resize(kMostCgroups);
  for (MemoryUse& use : memory) {
    MemoryReading now;
    read_limit(*memory_, use.cgroup, now);
    use.limit_bytes = now.limit;
    use.used_bytes = now.used;
    use.reached = gained(memories_.at(use.cgroup).reached, now.reached);
  }
  const MemoryReading machine = read_machine();
  if (machine.counts) memory.insert(memory.begin(), use_of("", false, machine_, machine));
}

}  // namespace offwait
