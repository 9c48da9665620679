// SPDX-License-Identifier: GPL-2.0-or-later
// The code in which threads ran, especially while others waited for them (doc/design.md "Graph").
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace offwait {

/// The CPU samples with one stack.
struct StackSamples {
  StackId stack = kNoStack;
  std::uint64_t samples = 0;
  std::uint64_t waiting = 0;  ///< a sample counts once for each thread that waited at that time
};

/// In each list, stacks with equal counts are in order of id.
struct CpuSampleSums {
  /// By vertex: all samples of its threads inside the window, most `samples` first. `waiting` is 0.
  std::vector<std::vector<StackSamples>> by_vertex;
  /// By the ends of an edge, (waiting vertex, sampled vertex): the samples of the second vertex that were
  /// taken while a thread of the first was in a wait that the sampled thread ended. A wait counts in [block,
  /// wake) and up to the waiting thread's exit. Most `waiting` first.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<StackSamples>> by_edge;
};

/// `vertex_of` has a vertex below `vertices` for each actor. Takes O((waits + samples) × log samples) time,
/// plus time for each pair of a sample and an edge to its vertex.
CpuSampleSums sum_cpu_samples(const Trace& trace, const std::vector<std::uint32_t>& vertex_of,
                              std::size_t vertices);

}  // namespace offwait
