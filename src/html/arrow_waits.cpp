// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/arrow_waits.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "export/actor_names.h"
#include "html/stretches.h"

namespace offwait::html {

namespace {

/// One object that waits of an arrow are for, and a stack in which one of them is.
struct ForObject {
  Nanos wait_ns = 0;
  StackId stack = kNoStack;
};

void add_over_time(std::vector<double>& parts, const Window& window, Nanos from, Nanos to) {
  const double length = static_cast<double>(window.length()) / static_cast<double>(parts.size());
  const auto begin = static_cast<double>(from - window.begin);
  const auto end = static_cast<double>(to - window.begin);
  for (auto part = static_cast<std::size_t>(begin / length); part < parts.size(); ++part) {
    const double here = static_cast<double>(part) * length;
    if (here >= end) return;
    parts[part] += (std::min(end, here + length) - std::max(begin, here)) / static_cast<double>(kSecond);
  }
}

void keep_longest(std::vector<LongWait>& longest, const LongWait& wait) {
  const auto is_longer = [](const LongWait& a, const LongWait& b) {
    return a.wake - a.begin > b.wake - b.begin;
  };
  longest.insert(std::upper_bound(longest.begin(), longest.end(), wait, is_longer), wait);
  if (longest.size() > kMostLongest) longest.pop_back();
}

std::vector<std::pair<std::string, double>> named(const ObjectNames& names,
                                                  const std::unordered_map<ObjectId, ForObject>& objects) {
  std::map<std::string, double> sums;
  for (const auto& [id, of] : objects) {
    sums[names.best(id, of.stack)] += to_seconds(of.wait_ns);
  }
  std::vector<std::pair<std::string, double>> out(sums.begin(), sums.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (out.size() > kMostObjects) out.resize(kMostObjects);
  return out;
}

}  // namespace

std::vector<ArrowWaits> arrow_waits(const Trace& trace, const Histories& histories, const Findings& findings,
                                    const DrawnGraph& graph, const Rows& rows) {
  std::unordered_map<std::uint64_t, std::size_t> arrow_of;
  const auto key = [](FoundActorId from, FoundActorId to) { return std::uint64_t{from} << 32 | to; };
  for (std::size_t i = 0; i < graph.arrows.size(); ++i) {
    if (graph.arrows[i].idle) continue;
    for (const FoundEdgeId edge : graph.arrows[i].edges)
      arrow_of[key(findings.edges[edge].from, findings.edges[edge].to)] = i;
  }
  std::vector<ArrowWaits> out(graph.arrows.size());
  std::vector<std::unordered_map<ObjectId, ForObject>> objects(graph.arrows.size());
  for (ActorId thread = 0; thread < trace.actors.size(); ++thread) {
    if (trace.actors[thread].kind != ActorKind::thread) continue;
    each_stretch(trace, histories, thread, [&](const Stretch& stretch) {
      if (stretch.wait == nullptr || stretch.wait->wake == kNever) return;
      const WaitSite& site = trace.sites[stretch.wait->site];
      if (site.waker == kNoActor) return;
      const auto found = arrow_of.find(key(findings.actor_of[thread], findings.actor_of[site.waker]));
      if (found == arrow_of.end()) return;
      ArrowWaits& arrow = out[found->second];
      const Nanos length = stretch.wake - stretch.begin;
      const auto micros = static_cast<std::uint64_t>(std::max<Nanos>(1, length / 1000));
      const std::size_t bucket =
          std::min<std::size_t>(kLengths - 1, static_cast<std::size_t>(std::bit_width(micros)) - 1);
      ++arrow.counts[bucket];
      arrow.seconds[bucket] += to_seconds(length);
      add_over_time(arrow.over_time, trace.window, stretch.begin, stretch.wake);
      const std::uint32_t row = rows.of[thread];
      const bool is_long = arrow.longest.size() < kMostLongest ||
                           length > arrow.longest.back().wake - arrow.longest.back().begin;
      if (row != kNoRow && length > 0 && is_long)
        keep_longest(arrow.longest, {row, stretch.begin, stretch.wake});
      if (stretch.wait->object == kNoObject) return;
      ForObject& object = objects[found->second][stretch.wait->object];
      object.wait_ns += length;
      if (object.stack == kNoStack) object.stack = site.wait_stack;
    });
  }
  const ObjectNames names(trace);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].objects = named(names, objects[i]);
  return out;
}

}  // namespace offwait::html
