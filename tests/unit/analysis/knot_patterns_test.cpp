// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/knot_patterns.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

constexpr Nanos kS = kSecond;

/// Two threads that wait for each other on a futex, and a timer that the first one waits for.
WaitGraph two_threads() {
  WaitGraph graph;
  graph.vertices.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    graph.vertices[i].members = {i};
  }
  graph.kinds = {ActorKind::thread, ActorKind::thread, ActorKind::timer};
  graph.outside = {false, false, false};
  graph.below_devices = {false, false, false};
  graph.edges.resize(3);
  const auto edge = [&graph](std::size_t index, ActorId from, ActorId to, WaitClass wait_class,
                             Nanos wait_ns) {
    Edge& out = graph.edges[index];
    out.from = from;
    out.to = to;
    out.wait_ns = out.plain_ns = wait_ns;
    out.class_wait_ns.at(static_cast<std::size_t>(wait_class)) = wait_ns;
  };
  edge(0, 0, 1, WaitClass::futex, 4 * kS);
  edge(1, 1, 0, WaitClass::pipe, 1 * kS);
  edge(2, 0, 2, WaitClass::sleep, 2 * kS);
  return graph;
}

Knot knot_of_both() {
  Knot knot;
  knot.vertices = {0, 1};
  knot.edges = {0, 1};
  knot.weight_ns = 5 * kS;
  return knot;
}

FoundKnot found(const WaitGraph& graph, std::optional<double> machine_busy = std::nullopt) {
  KnotInput input;
  input.vertices.resize(3);
  input.vertices[0].cpu_ns = 3 * kS;
  input.vertices[1].cpu_ns = 4 * kS;
  const std::vector<FoundKnot> knots = find_patterns(graph, input, {knot_of_both()}, {}, machine_busy);
  REQUIRE(knots.size() == 1);
  return knots[0];
}

}  // namespace

TEST_CASE("a knot's sums: its threads, its edges by class, the timers that its threads wait for") {
  WaitGraph graph = two_threads();
  graph.vertices[1].members = {1, 7};
  graph.kinds[1] = ActorKind::group;
  const FoundKnot knot = found(graph);
  CHECK(knot.actors == std::vector<FoundActorId>{0, 1});
  CHECK(knot.edges == std::vector<FoundEdgeId>{0, 1});
  CHECK(knot.threads == 3);
  CHECK(knot.weight_s == 5);
  CHECK(knot.cpu_s == 7);
  CHECK(knot.evidence.classes == std::map<WaitClass, double>{{WaitClass::futex, 4}, {WaitClass::pipe, 1}});
  CHECK(knot.evidence.timer_s == 2);
  CHECK(knot.evidence.releases.wait_s == 5);
}

TEST_CASE("releases: as many each time is a barrier's, asleep for a fifth of the time is often") {
  WaitGraph graph = two_threads();
  graph.edges[0].releases = 10;
  graph.edges[0].together_waits = 36;
  graph.edges[0].largest_release = 4;
  graph.edges[1].waker_asleep_ns = kS - 1;
  CHECK_FALSE(found(graph).evidence.releases.always_as_many);
  CHECK_FALSE(found(graph).evidence.releases.often_asleep);
  graph.edges[0].together_waits = 37;
  graph.edges[1].waker_asleep_ns = kS;
  CHECK(found(graph).evidence.releases.always_as_many);
  CHECK(found(graph).evidence.releases.often_asleep);
  CHECK(found(graph).evidence.releases.releases == 10);
  CHECK(found(graph).evidence.releases.largest == 4);
  graph.edges[0].kept_ns = 4 * kS;
  graph.edges[0].kept_disk_ns = 3 * kS;
  graph.edges[0].behind_disk_ns = 2 * kS;
  graph.edges[0].then_disk_ns = 1 * kS;
  CHECK(found(graph).evidence.releases.kept_s == 4);
  CHECK(found(graph).evidence.releases.kept_disk_s == 3);
  CHECK(found(graph).evidence.releases.behind_disk_s == 2);
  CHECK(found(graph).evidence.releases.then_disk_s == 1);
  // They wait for 6 s in all: most of it behind one that is at a disk, and most do not go there themselves.
  const auto served = [&graph](Nanos wait, Nanos behind, Nanos then) {
    graph.edges[0].wait_ns = wait - graph.edges[1].wait_ns;
    graph.edges[0].behind_disk_ns = behind;
    graph.edges[0].then_disk_ns = then;
    return found(graph).evidence.releases.served_at_disk;
  };
  CHECK(served(8 * kS, 4 * kS, 2 * kS - 1));
  CHECK_FALSE(served(8 * kS, 4 * kS, 2 * kS));
  CHECK_FALSE(served(8 * kS, 4 * kS - 1, 0));
  // Devices let nobody go.
  graph.kinds[1] = ActorKind::disk;
  CHECK(found(graph).evidence.releases.wait_s == 0);
}

TEST_CASE("CPUs are short when threads are runnable for a quarter of the time that they do not run") {
  WaitGraph graph = two_threads();
  ActorTime& time = graph.vertices[0].time;
  time.running_ns = 10 * kS;
  time.blocked_ns = 3 * kS + 1;
  time.runnable_ns = kS;
  CHECK(found(graph).evidence.cpu_shortage == CpuShortage::none);
  time.blocked_ns = 3 * kS;
  CHECK(found(graph).evidence.cpu_shortage == CpuShortage::besides);
  CHECK(found(graph, 0.80).evidence.cpu_shortage == CpuShortage::besides);
  // Where CPUs were free, it is the time that it takes to get going.
  CHECK(found(graph, 0.79).evidence.cpu_shortage == CpuShortage::none);
  time.runnable_ns = 13 * kS + 1;
  CHECK(found(graph, 0.79).evidence.cpu_shortage == CpuShortage::above_all);
  CHECK(found(graph).evidence.running_s == 10);
  CHECK(found(graph).evidence.blocked_s == 3);
}

TEST_CASE("A thread that works for a device is that device for those that wait for it, and no partner") {
  WaitGraph graph = two_threads();
  graph.outside[1] = graph.below_devices[1] = true;
  for (Edge& edge : graph.edges) {
    edge.kept_ns = edge.behind_disk_ns = edge.then_disk_ns = edge.wait_ns;
    edge.kept_disk_ns = edge.wait_ns / 2;
  }
  CHECK(found(graph).pattern == Pattern::mixed);
  CHECK(found(graph).evidence.releases.wait_s == 0);
  graph.edges[0].class_wait_ns = {};
  graph.edges[0].class_wait_ns.at(static_cast<std::size_t>(WaitClass::disk)) = 4 * kS;
  CHECK(found(graph).pattern == Pattern::blocking_io);
}

TEST_CASE("Waits in polls for what is called a lock are waits for a lock") {
  WaitGraph graph = two_threads();
  graph.edges[0].class_wait_ns = {};
  graph.edges[0].class_wait_ns.at(static_cast<std::size_t>(WaitClass::poll)) = 4 * kS;
  graph.edges[0].stacks.push_back({0, kNoStack, WaitClass::poll, 10, 4 * kS, 4 * kS});
  KnotInput input;
  input.vertices.resize(3);
  const auto pattern = [&](WaitedAt at) {
    return find_patterns(graph, input, {knot_of_both()}, {{0, at}}, std::nullopt)[0].pattern;
  };
  CHECK(pattern(WaitedAt::unknown) == Pattern::request_answer);
  CHECK(pattern(WaitedAt::lock) == Pattern::lock_contention);
}
