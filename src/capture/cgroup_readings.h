// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the limits of the target's cgroups, and of those above them, do while a recording runs: how CPU
// quotas throttle their threads, and how much of what was in memory is read again. The machine's memory is
// read, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "cgroup/cpu_quota.h"
#include "cgroup/memory_limit.h"
#include "event/recording.h"

namespace offwait {

class CgroupReadings {
 public:
  CgroupReadings();

  /// Takes what the kernel told of a thread. Processes of the target are asked for their cgroups.
  void note(const offwait_thread_record& thread);

  /// Reads all counters at the window's start.
  void begin();
  /// Adds what the counters say now.
  void add_to(KernelRecording& recording) const;
  /// Forgets cgroups that are gone.
  void forget_gone();

 private:
  void add_cgroups_of(std::int32_t tgid);
  void add_quotas(KernelRecording& recording) const;
  void add_memory(KernelRecording& recording) const;

  std::optional<ControllerHierarchy> cpu_;
  std::optional<ControllerHierarchy> memory_;
  // At the start, by the cgroup's name:
  std::map<std::string, QuotaReading> quotas_;
  std::map<std::string, MemoryReading> memories_;
  MemoryReading machine_;
  std::set<std::string> with_target_;           ///< of `memories_`, those that processes of the target are in
  std::unordered_set<std::int32_t> processes_;  ///< of the target, that were asked and live
};

}  // namespace offwait
