// SPDX-License-Identifier: GPL-2.0-or-later
// In which code threads ran, and above all while others waited for them (doc/design.md "Graph").
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// The samples that have one stack.
struct StackSamples {
  StackId stack = kNoStack;
  std::uint64_t samples = 0;
  std::uint64_t waiting = 0;  ///< each counted for every thread that waited then
};

struct CpuSampleSums {
  /// By vertex: all of its threads' samples inside the window.
  std::vector<std::vector<StackSamples>> by_vertex;
  /// By ends of an edge (who waited, who ran): the samples of the latter at times when a thread of the former
  /// was in a wait that the sampled thread ended. In [block, wake), and up to the waiting thread's exit.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<StackSamples>> by_edge;
};
// All lists by `waiting` (of a vertex: by `samples`, `waiting` is 0), most first, ties by stack.

/// `vertex_of` is by actor; its values are below `vertices`. O((waits + samples) × log samples) time, and
/// again as much as samples × edges to their thread's vertex.
CpuSampleSums sum_cpu_samples(const Trace& trace, const std::vector<std::uint32_t>& vertex_of,
                              std::size_t vertices);

}  // namespace offwait
