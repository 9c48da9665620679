// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/knot_patterns.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "analysis/cpu_supply.h"

namespace offwait {

namespace {

/// A barrier releases the same number of threads each time: the mean number divided by the largest is more
/// than this.
constexpr double kConstant = 0.9;
/// The report says that the thread which is waited for sleeps if it does so for this part of the wait time.
constexpr double kOftenAsleep = 0.2;

WaitPlace place_of(const EdgeStack& stack, const std::vector<WaitPlace>& places) {
  if (stack.wait_stack < places.size()) return places[stack.wait_stack];
  return {stack.wait_stack, WaitedAt::unknown};
}

/// For the threads that wait, a thread that works for a device counts as the device.
bool is_device_side(const WaitGraph& graph, VertexId vertex) {
  return is_device(graph.kinds[vertex]) || graph.below_devices[vertex];
}

PatternEdge pattern_edge(const WaitGraph& graph, const Edge& edge, const std::vector<WaitPlace>& places) {
  const auto of = [&edge](WaitClass wait_class) {
    return edge.class_wait_ns.at(static_cast<std::size_t>(wait_class));
  };
  PatternEdge out;
  out.from = edge.from;
  out.to = edge.to;
  out.futex_ns = of(WaitClass::futex);
  out.lock_ns = of(WaitClass::lock) + of(WaitClass::spin);
  out.to_device = is_device_side(graph, edge.from) || is_device_side(graph, edge.to);
  if (!out.to_device) {
    out.together_ns = edge.together_ns;
    out.together_disk_ns = edge.together_disk_ns;
    out.kept_ns = edge.kept_ns;
    out.kept_disk_ns = edge.kept_disk_ns;
    out.behind_disk_ns = edge.behind_disk_ns;
    out.then_disk_ns = edge.then_disk_ns;
  }
  out.disk_ns = of(WaitClass::disk);
  out.pipe_ns = of(WaitClass::pipe);
  out.net_ns = out.to_device ? 0 : of(WaitClass::net) + of(WaitClass::poll);
  out.other_ns = std::accumulate(edge.class_wait_ns.begin(), edge.class_wait_ns.end(), Nanos{0}) -
                 out.futex_ns - out.lock_ns - out.pipe_ns - out.net_ns;
  for (const EdgeStack& stack : edge.stacks) {
    if (out.to_device || stack.wait_stack == kNoStack) continue;
    const WaitPlace place = place_of(stack, places);
    if (stack.wait_class == WaitClass::futex) {
      out.futex_stacks.push_back({place.place, stack.wait_ns, place.at});
    } else if (stack.wait_class == WaitClass::poll && place.at == WaitedAt::lock) {
      // Processes have no futex in common: the process that gets the lock is told so through a descriptor.
      const Nanos moved_ns = std::min(stack.wait_ns, out.net_ns);
      out.net_ns -= moved_ns;
      out.lock_ns += moved_ns;
    }
  }
  return out;
}

/// How the threads of the knot were let go by each other: sums over its edges between threads.
SiteSum releases(const WaitGraph& graph, const Knot& knot) {
  SiteSum sum;
  for (const std::uint32_t id : knot.edges) {
    const Edge& edge = graph.edges[id];
    if (!is_device_side(graph, edge.from) && !is_device_side(graph, edge.to) &&
        is_thread(graph.kinds[edge.to])) {
      add(sum, edge);
    }
  }
  return sum;
}

KnotReleases knot_releases(const SiteSum& sum) {
  KnotReleases out;
  out.wait_s = to_seconds(sum.wait_ns);
  out.together_s = to_seconds(sum.together_ns);
  out.together_disk_s = to_seconds(sum.together_disk_ns);
  out.together_waits = sum.together_waits;
  out.releases = sum.releases;
  out.largest = sum.largest_release;
  const double mean = static_cast<double>(sum.together_waits) / sum.releases;
  out.always_as_many = mean > kConstant * static_cast<double>(sum.largest_release);
  out.kept_s = to_seconds(sum.kept_ns);
  out.kept_disk_s = to_seconds(sum.kept_disk_ns);
  out.behind_disk_s = to_seconds(sum.behind_disk_ns);
  out.then_disk_s = to_seconds(sum.then_disk_ns);
  out.served_at_disk = 2 * sum.behind_disk_ns >= sum.wait_ns && 2 * sum.then_disk_ns < sum.behind_disk_ns;
  out.asleep_s = to_seconds(sum.waker_asleep_ns);
  out.often_asleep = sum.wait_ns > 0 && static_cast<double>(sum.waker_asleep_ns) >=
                                            kOftenAsleep * static_cast<double>(sum.wait_ns);
  return out;
}

/// Where the machine's CPUs were free, each of very many waits takes a moment more to resume, which more CPUs
/// would not change: that is no shortage.
CpuShortage cpu_shortage(const PatternKnot& values, const ActorTime& time,
                         std::optional<double> machine_busy) {
  if (!lacks_cpu(values)) {
    return CpuShortage::none;
  }
  if (time.runnable_ns > time.running_ns + time.blocked_ns) {
    return CpuShortage::above_all;
  }
  return machine_busy.value_or(1) < kMachineBusy ? CpuShortage::none : CpuShortage::besides;
}

PatternEvidence evidence_of(const WaitGraph& graph, const Knot& knot, const PatternKnot& values,
                            std::optional<double> machine_busy) {
  ActorTime time;
  for (const VertexId vertex : knot.vertices) {
    add(time, graph.vertices[vertex].time);
  }
  std::array<Nanos, kWaitClasses> classes{};
  for (const std::uint32_t edge : knot.edges) {
    for (std::size_t i = 0; i < kWaitClasses; ++i) {
      classes.at(i) += graph.edges[edge].class_wait_ns.at(i);
    }
  }
  PatternEvidence out;
  out.running_s = to_seconds(time.running_ns);
  out.runnable_s = to_seconds(time.runnable_ns);
  out.blocked_s = to_seconds(time.blocked_ns);
  out.timer_s = to_seconds(values.timer_ns);
  out.waker_running_s = to_seconds(values.waker_running_ns);
  out.waker_runnable_s = to_seconds(values.waker_runnable_ns);
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    if (classes.at(i) > 0) {
      out.classes[static_cast<WaitClass>(i)] = to_seconds(classes.at(i));
    }
  }
  out.releases = knot_releases(releases(graph, knot));
  out.cpu_shortage = cpu_shortage(values, time, machine_busy);
  return out;
}

}  // namespace

PatternKnot pattern_knot(const WaitGraph& graph, const Knot& knot, const std::vector<WaitPlace>& places) {
  PatternKnot out;
  std::vector<bool> inside(graph.vertices.size(), false);
  for (const VertexId vertex : knot.vertices) {
    inside[vertex] = true;
    out.has_device = out.has_device || is_device(graph.kinds[vertex]);
    out.threads += is_thread(graph.kinds[vertex]) ? graph.vertices[vertex].members.size() : 0;
    out.runnable_ns += graph.vertices[vertex].time.runnable_ns;
    out.blocked_ns += graph.vertices[vertex].time.blocked_ns;
  }
  for (const Edge& edge : graph.edges) {
    if (inside[edge.from] && graph.kinds[edge.to] == ActorKind::timer) {
      out.timer_ns += edge.plain_ns;
    }
  }
  for (const std::uint32_t id : knot.edges) {
    const Edge& edge = graph.edges[id];
    out.waker_running_ns += edge.waker_running_ns;
    out.waker_runnable_ns += edge.waker_runnable_ns;
    out.waker_disk_ns += edge.waker_disk_ns;
    const auto disk_ns = edge.class_wait_ns.at(static_cast<std::size_t>(WaitClass::disk));
    out.has_device = out.has_device || (graph.below_devices[edge.to] && !graph.below_devices[edge.from] &&
                                        2 * disk_ns > edge.wait_ns);
    out.edges.push_back(pattern_edge(graph, edge, places));
  }
  return out;
}

std::vector<FoundKnot> find_patterns(const WaitGraph& graph, const KnotInput& input,
                                     const std::vector<Knot>& found, const std::vector<WaitPlace>& places,
                                     std::optional<double> machine_busy) {
  std::vector<FoundKnot> out;
  for (const Knot& knot : found) {
    FoundKnot& one = out.emplace_back();
    one.actors = knot.vertices;
    one.edges = knot.edges;
    one.background = knot.background;
    one.weight_s = to_seconds(knot.weight_ns);
    for (const VertexId vertex : knot.vertices) {
      one.cpu_s += to_seconds(input.vertices[vertex].cpu_ns);
      one.threads += is_thread(graph.kinds[vertex]) ? graph.vertices[vertex].members.size() : 0;
    }
    const PatternKnot values = pattern_knot(graph, knot, places);
    one.pattern = classify(values);
    one.evidence = evidence_of(graph, knot, values, machine_busy);
  }
  return out;
}

}  // namespace offwait
