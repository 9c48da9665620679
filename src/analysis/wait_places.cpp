// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/wait_places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analysis/lock_names.h"
#include "base/nanos.h"

namespace offwait {

namespace {

/// A stack waits for an object if this part of the stack's wait time is for that object.
constexpr double kMostly = 0.5;

std::vector<bool> stacks_of_knots(const Trace& trace, const WaitGraph& graph,
                                  const std::vector<Knot>& knots) {
  std::vector<bool> out(trace.stacks.size(), false);
  for (const Knot& knot : knots) {
    for (const std::uint32_t edge : knot.edges) {
      for (const EdgeStack& stack : graph.edges[edge].stacks) {
        if (stack.wait_stack != kNoStack &&
            (stack.wait_class == WaitClass::futex || stack.wait_class == WaitClass::poll)) {
          out[stack.wait_stack] = true;
        }
      }
    }
  }
  return out;
}

/// By StackId: what most of its waits, by time, are for.
std::vector<ObjectId> objects_of(const Trace& trace, const std::vector<bool>& asked) {
  std::unordered_map<std::uint64_t, double> by_object;
  std::vector<double> all(trace.stacks.size(), 0);
  for (const Wait& wait : trace.waits) {
    const StackId stack = trace.sites[wait.site].wait_stack;
    if (stack == kNoStack || !asked[stack]) continue;
    const Nanos end = std::min(wait.wake, trace.window.end);
    const Nanos wait_ns = std::max<Nanos>(end - std::max(wait.block, trace.window.begin), 0);
    all[stack] += static_cast<double>(wait_ns);
    if (wait.object != kNoObject) {
      by_object[(std::uint64_t{stack} << 32U) | wait.object] += static_cast<double>(wait_ns);
    }
  }
  std::vector<ObjectId> out(trace.stacks.size(), kNoObject);
  for (const auto& [key, wait_ns] : by_object) {
    const auto stack = static_cast<StackId>(key >> 32U);
    if (wait_ns > kMostly * all[stack]) {
      out[stack] = static_cast<ObjectId>(key);
    }
  }
  return out;
}

WaitedAt waited_at(const Trace& trace, const Stack& stack) {
  const std::optional<LockKind> kind = lock_kind(trace, stack);
  if (kind == LockKind::barrier) return WaitedAt::barrier;
  // A lock may be made of a condition, or of a signal to the thread that gets it.
  if (!kind || kind == LockKind::condition) {
    if (takes_a_lock(trace, stack)) return WaitedAt::lock;
    return kind ? WaitedAt::condition : WaitedAt::unknown;
  }
  return *kind == LockKind::mutex || *kind == LockKind::rwlock ? WaitedAt::lock : WaitedAt::unknown;
}

}  // namespace

std::vector<WaitPlace> wait_places(const Trace& trace, const WaitGraph& graph,
                                   const std::vector<Knot>& knots) {
  const std::vector<bool> asked = stacks_of_knots(trace, graph, knots);
  const std::vector<ObjectId> objects = objects_of(trace, asked);
  std::map<std::tuple<bool, ObjectId, std::string>, std::uint32_t> places;
  std::vector<WaitPlace> out(trace.stacks.size());
  for (StackId id = 0; id < trace.stacks.size(); ++id) {
    // Beyond the places that are numbered here.
    out[id].place = id + static_cast<std::uint32_t>(trace.stacks.size());
    if (!asked[id]) continue;
    const Stack& stack = trace.stacks[id];
    out[id].at = waited_at(trace, stack);
    const bool one_for_all = out[id].at == WaitedAt::barrier || out[id].at == WaitedAt::lock;
    std::string function = one_for_all && objects[id] != kNoObject ? "" : taken_in(trace, stack, Object{});
    if (objects[id] == kNoObject && function.empty()) continue;
    const auto next = static_cast<std::uint32_t>(places.size());
    out[id].place = places.try_emplace({one_for_all, objects[id], std::move(function)}, next).first->second;
  }
  return out;
}

}  // namespace offwait
