// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/pattern.h"

#include <algorithm>
#include <map>

namespace offwait {
namespace {

constexpr double kMost = 0.6;
constexpr double kSamePlace = 0.5;
constexpr double kServed = 1.0 / 7;
constexpr double kReady = 0.25;
constexpr double kCommits = 0.2;
constexpr double kOften = 0.5;

// Sums are doubles, which cannot overflow, since they add up sums from outside and only ratios matter.
using Places = std::map<std::uint32_t, double>;  // wait time by wait stack

struct FutexWaits {
  double total_ns = 0;
  double known_ns = 0;
  Places places;

  void add(const PatternEdge& edge) {
    total_ns += static_cast<double>(edge.futex_ns);
    for (const StackWait& wait : edge.futex_stacks) {
      known_ns += static_cast<double>(wait.wait_ns);
      places[wait.place] += static_cast<double>(wait.wait_ns);
    }
  }
};

double as_double(Nanos ns) { return static_cast<double>(ns); }

double at(const PatternEdge& edge, WaitedAt kind) {
  double sum = 0;
  for (const StackWait& wait : edge.futex_stacks) {
    sum += wait.at == kind ? static_cast<double>(wait.wait_ns) : 0;
  }
  return sum;
}

double overlap(const FutexWaits& a, const FutexWaits& b) {
  double shared = 0;
  for (const auto& [stack, wait_ns] : a.places) {
    const auto other = b.places.find(stack);
    if (other != b.places.end()) {
      shared += std::min(wait_ns / a.known_ns, other->second / b.known_ns);
    }
  }
  return shared;
}

double waits_ns(const PatternEdge& edge) {
  return as_double(edge.futex_ns) + as_double(edge.lock_ns) + as_double(edge.pipe_ns) +
         as_double(edge.net_ns) + as_double(edge.other_ns);
}

bool commits_in_groups(const PatternKnot& knot) {
  double threads_ns = 0;
  double devices_ns = 0;
  double together_ns = 0;
  double disk_ns = 0;
  for (const PatternEdge& edge : knot.edges) {
    (edge.to_device ? devices_ns : threads_ns) += waits_ns(edge);
    together_ns += as_double(edge.together_ns);
    disk_ns += as_double(edge.together_disk_ns);
  }
  return together_ns > 0 && threads_ns >= devices_ns && together_ns >= kMost * threads_ns &&
         disk_ns >= kCommits * together_ns;
}

/// The futex waits of each vertex, over all edges.
std::map<VertexId, FutexWaits> futex_waits(const PatternKnot& knot) {
  std::map<VertexId, FutexWaits> waits;
  for (const PatternEdge& edge : knot.edges) {
    waits[edge.from].add(edge);
  }
  return waits;
}

/// Whether both ends of the edge wait for others in the same place, as far as the stacks are known.
bool alike(const PatternEdge& edge, const std::map<VertexId, FutexWaits>& waits) {
  FutexWaits here;
  here.add(edge);
  const auto waker = waits.find(edge.to);
  return here.known_ns <= 0 || waker == waits.end() || waker->second.known_ns <= 0 ||
         overlap(here, waker->second) >= kSamePlace;
}

bool locks_across_disk(const PatternKnot& knot) {
  const std::map<VertexId, FutexWaits> waits = futex_waits(knot);
  double each_other_ns = 0;
  double disk_ns = 0;
  double together_ns = 0;
  double kept_ns = 0;
  double kept_disk_ns = 0;
  double behind_ns = 0;
  double then_ns = 0;
  for (const PatternEdge& edge : knot.edges) {
    if (edge.to_device) {
      disk_ns += waits_ns(edge);
      continue;
    }
    each_other_ns += waits_ns(edge) - as_double(edge.disk_ns);
    disk_ns += as_double(edge.disk_ns);
    together_ns += as_double(edge.together_ns);
    if (alike(edge, waits)) {
      kept_ns += as_double(edge.kept_ns);
      kept_disk_ns += as_double(edge.kept_disk_ns);
      behind_ns += as_double(edge.behind_disk_ns);
      then_ns += as_double(edge.then_disk_ns);
    }
  }
  return behind_ns > 0 && behind_ns >= kMost * each_other_ns && then_ns >= kMost * behind_ns &&
         kept_disk_ns >= kCommits * kept_ns && together_ns < kMost * each_other_ns &&
         each_other_ns >= kOften * disk_ns;
}

bool starves(const PatternKnot& knot) {
  const double ready_ns = as_double(knot.waker_runnable_ns);
  return lacks_cpu(knot) && knot.waker_runnable_ns > knot.waker_disk_ns &&
         as_double(knot.waker_running_ns) < kServed * (as_double(knot.waker_running_ns) + ready_ns);
}

}  // namespace

std::string_view to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::lock_across_disk:
      return "lock-across-disk";
    case Pattern::group_commit:
      return "group-commit";
    case Pattern::blocking_io:
      return "blocking-io";
    case Pattern::cpu_starvation:
      return "cpu-starvation";
    case Pattern::timer_driven:
      return "timer-driven";
    case Pattern::lock_contention:
      return "lock-contention";
    case Pattern::load_imbalance:
      return "load-imbalance";
    case Pattern::producer_consumer:
      return "producer-consumer";
    case Pattern::request_answer:
      return "request-answer";
    case Pattern::mixed:
      break;
  }
  return "mixed";
}

bool lacks_cpu(const PatternKnot& knot) {
  return knot.runnable_ns > 0 &&
         as_double(knot.runnable_ns) >= kReady * (as_double(knot.runnable_ns) + as_double(knot.blocked_ns));
}

Pattern classify(const PatternKnot& knot) {
  if (locks_across_disk(knot)) {
    return Pattern::lock_across_disk;
  }
  if (commits_in_groups(knot)) {
    return Pattern::group_commit;
  }
  if (knot.has_device) {
    return Pattern::blocking_io;
  }
  if (starves(knot)) {
    return Pattern::cpu_starvation;
  }
  if (knot.blocked_ns > 0 && as_double(knot.timer_ns) >= kMost * as_double(knot.blocked_ns)) {
    return Pattern::timer_driven;
  }

  std::map<VertexId, FutexWaits> waits_of = futex_waits(knot);
  double total_ns = 0;
  double contended_ns = 0;
  double handed_over_ns = 0;
  double together_ns = 0;  // part of contended_ns: at a barrier, it seems
  double asked_ns = 0;
  for (const PatternEdge& edge : knot.edges) {
    FutexWaits here;
    here.add(edge);
    total_ns += waits_ns(edge);
    contended_ns += as_double(edge.lock_ns);
    handed_over_ns += as_double(edge.pipe_ns);
    asked_ns += as_double(edge.net_ns);
    if (here.known_ns <= 0) {
      continue;
    }
    const FutexWaits& waker = waits_of[edge.to];
    if (waker.known_ns > 0 && overlap(here, waker) >= kSamePlace) {
      contended_ns += here.known_ns;
      const double barrier_ns =
          at(edge, WaitedAt::barrier) + (knot.threads == 2 ? at(edge, WaitedAt::condition) : 0);
      together_ns += std::clamp(as_double(edge.together_ns), barrier_ns, here.known_ns);
    } else if (waker.known_ns > 0 || waker.total_ns <= 0) {
      handed_over_ns += here.known_ns;
    }
  }
  if (total_ns <= 0) {
    return Pattern::mixed;
  }
  if (contended_ns >= kMost * total_ns) {
    return together_ns >= kMost * contended_ns ? Pattern::load_imbalance : Pattern::lock_contention;
  }
  if (handed_over_ns >= kMost * total_ns) {
    return Pattern::producer_consumer;
  }
  if (asked_ns >= kMost * total_ns) {
    return Pattern::request_answer;
  }
  return Pattern::mixed;
}

}  // namespace offwait
