// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/cpu_samples.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>

#include "model/partition_near.h"

namespace offwait {

namespace {

/// The counts of each stack, while samples are counted.
using Counts = std::unordered_map<StackId, StackSamples>;

std::vector<StackSamples> sorted(const Counts& counts) {
  std::vector<StackSamples> out;
  out.reserve(counts.size());
  for (const auto& [stack, samples] : counts) {
    out.push_back(samples);
  }
  std::sort(out.begin(), out.end(), [](const StackSamples& a, const StackSamples& b) {
    if (a.waiting != b.waiting) return a.waiting > b.waiting;
    return a.samples != b.samples ? a.samples > b.samples : a.stack < b.stack;
  });
  return out;
}

void count(Counts& counts, StackId stack, std::uint64_t waiting) {
  StackSamples& sum = counts[stack];
  sum.stack = stack;
  ++sum.samples;
  sum.waiting += waiting;
}

/// The samples inside the window in order of thread, then time, so that those of one wait are neighbours.
class Timeline {
 public:
  explicit Timeline(const Trace& trace)
      : starts_(trace.actors.size() + 1), before_last_(trace.actors.size()) {
    for (const CpuSample& sample : trace.cpu_samples) {
      if (sample.at >= trace.window.begin && sample.at < trace.window.end) {
        samples_.push_back(sample);
        ++starts_[sample.thread + 1];
      }
    }
    for (std::size_t i = 1; i < starts_.size(); ++i) {
      starts_[i] += starts_[i - 1];
    }
    std::sort(samples_.begin(), samples_.end(), [](const CpuSample& a, const CpuSample& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.at < b.at;
    });
  }

  const std::vector<CpuSample>& samples() const { return samples_; }
  bool has(ActorId thread) const { return starts_[thread] != starts_[thread + 1]; }

  /// Positions of the samples of `thread` in [from, to). Fast if each question is about a time near that of
  /// the last one about the thread.
  std::pair<std::uint32_t, std::uint32_t> between(ActorId thread, Nanos from, Nanos to) {
    const auto own =
        std::span<const CpuSample>(samples_).subspan(starts_[thread], starts_[thread + 1] - starts_[thread]);
    std::size_t& first = before_last_[thread];
    first = partition_near(own, first, [from](const CpuSample& sample) { return sample.at < from; });
    const std::size_t last =
        partition_near(own, first, [to](const CpuSample& sample) { return sample.at < to; });
    return {static_cast<std::uint32_t>(starts_[thread] + first),
            static_cast<std::uint32_t>(starts_[thread] + last)};
  }

 private:
  std::vector<CpuSample> samples_;
  std::vector<std::uint32_t> starts_;     ///< by thread
  std::vector<std::size_t> before_last_;  ///< by thread: its samples before the time of the last question
};

/// A change in the number of waiting threads, at a position in the timeline.
struct SwitchOver {
  std::uint32_t position = 0;
  std::int32_t waiting = 0;
};

Counts counts_of(const std::vector<CpuSample>& samples, std::vector<SwitchOver>& changes) {
  std::sort(changes.begin(), changes.end(),
            [](const SwitchOver& a, const SwitchOver& b) { return a.position < b.position; });
  Counts counts;
  std::int64_t waiting = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    waiting += changes[i].waiting;
    for (std::uint32_t at = changes[i].position; waiting > 0 && at < changes[i + 1].position; ++at) {
      count(counts, samples[at].stack, static_cast<std::uint64_t>(waiting));
    }
  }
  return counts;
}

}  // namespace

CpuSampleSums sum_cpu_samples(const Trace& trace, const std::vector<std::uint32_t>& vertex_of,
                              std::size_t vertices) {
  Timeline timeline(trace);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<SwitchOver>> changes;
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (site.waker == kNoActor || !timeline.has(site.waker)) {
      continue;
    }
    const Nanos to = std::min(wait.wake, trace.actors[site.thread].exit);
    const auto [first, last] = timeline.between(site.waker, wait.block, to);
    if (first < last) {
      std::vector<SwitchOver>& edge = changes[{vertex_of[site.thread], vertex_of[site.waker]}];
      edge.push_back({first, 1});
      edge.push_back({last, -1});
    }
  }
  CpuSampleSums sums;
  for (auto& [ends, edge] : changes) {
    sums.by_edge.emplace(ends, sorted(counts_of(timeline.samples(), edge)));
  }
  std::vector<Counts> by_vertex(vertices);
  for (const CpuSample& sample : timeline.samples()) {
    count(by_vertex[vertex_of[sample.thread]], sample.stack, 0);
  }
  for (const Counts& counts : by_vertex) {
    sums.by_vertex.push_back(sorted(counts));
  }
  return sums;
}

}  // namespace offwait
