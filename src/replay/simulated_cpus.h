// SPDX-License-Identifier: GPL-2.0-or-later
// The CPUs of a simulation (simulate.h): which threads have one, and which queue for one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "replay/cpu_sets.h"

namespace offwait {

class SimulatedCpus {
 public:
  /// `sets` outlives it; its threads have the first numbers, and all other threads may run on all CPUs.
  /// `cpus`, by CpuSetId: how many there are, one at least (cpus_of_sets()).
  SimulatedCpus(const CpuSets& sets, std::size_t threads, const std::vector<double>& cpus);

  /// The smallest set with no CPU left of those in which the thread runs; nothing if there is a CPU for it.
  std::optional<CpuSetId> full_for(std::uint32_t thread) const { return full(set_of(thread)); }
  void take(std::uint32_t thread);
  void leave(std::uint32_t thread);

  /// The thread queues; those that ran less come first.
  void queue(std::uint32_t thread, double ran) { sets_[set_of(thread)].ready.emplace(ran, thread); }
  /// The first thread in the queue of those for which there is a CPU, and how long it ran; it leaves the
  /// queue.
  std::optional<std::pair<double, std::uint32_t>> next();
  /// Whether a thread queues that ran for less time than this, and could have the CPU of this one.
  bool has_to_share(std::uint32_t thread, double ran) const;

  /// The thread computes from now on, or no longer does. Ranks of those that compute keep their order as
  /// time goes on: the least one is that of the thread that ran most.
  void computes(std::uint32_t thread, double rank);
  void stops(std::uint32_t thread);
  /// The thread with the least rank, and its rank, among those that compute on CPUs of the set and may run on
  /// no other CPUs.
  std::optional<std::pair<double, std::uint32_t>> ran_most(CpuSetId set) const;

 private:
  /// Threads with a number each, the least number first.
  using LeastFirst = std::priority_queue<std::pair<double, std::uint32_t>,
                                         std::vector<std::pair<double, std::uint32_t>>, std::greater<>>;
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  struct Set {
    int free = 1;  ///< of all its CPUs
    // Threads that may run in this set, and in no smaller one.
    LeastFirst ready;
    /// Threads with their ranks, in no order: there are no more of them than CPUs.
    std::vector<std::pair<double, std::uint32_t>> computing;
  };

  CpuSetId set_of(std::uint32_t thread) const {
    return thread < cpus_.of.size() ? cpus_.of[thread] : kAllCpus;
  }
  bool is_within(CpuSetId set, CpuSetId other) const;
  std::optional<CpuSetId> full(CpuSetId set) const;

  const CpuSets& cpus_;
  std::vector<Set> sets_;              ///< by CpuSetId
  std::vector<std::uint32_t> places_;  ///< by thread: its index in Set::computing, or kNowhere
};

}  // namespace offwait
