// SPDX-License-Identifier: GPL-2.0-or-later
#include "knot/knots.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <tuple>

#include "unit/knot/brute_force.h"

namespace offwait {
namespace {

using Kind = KnotVertex::Kind;
using Reason = KnotStep::Reason;
using Ids = std::vector<std::uint32_t>;

constexpr Nanos kWindow = 1000;

// Noise under 10, refinement under 200: the defaults for a window of 1000.
KnotOptions defaults() { return {kWindow, 10, 200, 0.9}; }

KnotVertex worker() { return {Kind::thread, 600, 600}; }   // two of them use more than one CPU
KnotVertex sleeper() { return {Kind::thread, 100, 100}; }  // never saturated, ten of them background
KnotVertex busy() { return {Kind::thread, 950, 950}; }
KnotVertex disk(Nanos busy_ns) { return {Kind::device, busy_ns, 0}; }
KnotVertex timer() { return {Kind::pseudo, 0, 0}; }

// (reason, edge or vertex) of each step.
std::vector<std::pair<Reason, std::uint32_t>> steps_of(const KnotResult& result) {
  std::vector<std::pair<Reason, std::uint32_t>> steps;
  for (const KnotStep& step : result.steps) {
    REQUIRE(step.edge.has_value() != step.vertex.has_value());
    steps.emplace_back(step.reason, step.edge ? *step.edge : *step.vertex);
  }
  return steps;
}
using Steps = std::vector<std::pair<Reason, std::uint32_t>>;

TEST_CASE("nothing in, nothing out") {
  const KnotResult empty = find_knots({}, {}, defaults());
  CHECK(empty.knots.empty());
  CHECK(empty.sinks.empty());
  CHECK_FALSE(empty.only_background);
  CHECK(empty.steps.empty());
  KnotOptions no_window = defaults();
  no_window.window_ns = 0;
  CHECK(find_knots({busy()}, {}, no_window).sinks.empty());
}

TEST_CASE("the edges of a vertex that always runs are set aside, and it is a sink") {
  // 0 and 1 meet at a barrier, and 1 computes all the time. 0 waits most for the disk (blocked samples,
  // Figure 1, case 1).
  const std::vector<KnotEdge> edges{{0, 2, 600}, {2, 0, 400}, {0, 1, 40}, {1, 0, 50}};
  KnotVertex last = busy();
  last.always_running = true;
  const KnotResult result = find_knots({sleeper(), last, disk(600)}, edges, defaults());
  CHECK(result.knots.empty());
  REQUIRE(result.sinks.size() >= 1);
  CHECK(result.sinks[0].vertex == 1);
  CHECK(result.sinks[0].saturated);
  CHECK(result.steps[0].reason == Reason::always_running);
  CHECK(result.steps[0].edge == 3);

  // A disk at its capacity is no part of a knot either.
  KnotVertex full = disk(930);
  full.always_running = true;
  const KnotResult device = find_knots({sleeper(), full}, {{0, 1, 800}, {1, 0, 70}}, defaults());
  CHECK(device.knots.empty());
  REQUIRE(device.sinks.size() == 1);
  CHECK(device.sinks[0].vertex == 1);
  CHECK(device.sinks[0].saturated);
}

TEST_CASE("wPerf Figure 2: the longest wait is not in the knot") {
  // 0: A, 1: B, 2: the disk.
  const std::vector<KnotEdge> edges{{0, 1, 700}, {1, 2, 500}, {2, 1, 500}};
  const KnotResult result = find_knots({worker(), sleeper(), disk(500)}, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{1, 2});
  CHECK(result.knots[0].edges == Ids{1, 2});
  CHECK(result.knots[0].weight_ns == 1000);
  CHECK_FALSE(result.knots[0].background);
  CHECK(result.sinks.empty());
  CHECK(result.steps.empty());
  CHECK_FALSE(result.only_background);
}

TEST_CASE("edges under the noise floor and edges to pseudo vertices are set aside, each with its step") {
  const std::vector<KnotVertex> vertices{worker(), worker(), timer(), sleeper()};
  const std::vector<KnotEdge> edges{{0, 1, 300}, {1, 0, 300}, {0, 2, 900}, {1, 2, 5}, {0, 3, 9}, {3, 0, 10}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1});
  CHECK(result.sinks.empty());  // neither the timer nor 3, which leads to the knot
  CHECK(steps_of(result) == Steps{{Reason::to_pseudo, 2}, {Reason::to_pseudo, 3}, {Reason::noise, 4}});
  CHECK(result.steps[0].weight_ns == 900);
  CHECK(result.steps[2].weight_ns == 9);
}

TEST_CASE("vertices that the target does not wait for have knots of their own") {
  // 0 is the target. It waits for the disk 1, which waits for 0 and 2. 2 and 3 belong to another program.
  KnotVertex other = worker();
  other.target = false;
  KnotVertex other_busy = busy();
  other_busy.target = false;
  const std::vector<KnotVertex> vertices{worker(), disk(300), other, other_busy};
  const std::vector<KnotEdge> edges{{0, 1, 400}, {1, 0, 300}, {1, 2, 700}, {2, 1, 900}, {2, 3, 600}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1});
  CHECK(result.sinks.empty());
  CHECK(steps_of(result) == Steps{{Reason::apart, 2}, {Reason::apart, 3}, {Reason::apart, 4}});

  // If the target waits for it, directly or through others, it counts.
  std::vector<KnotEdge> joined = edges;
  joined.push_back({0, 2, 10});
  const KnotResult all = find_knots(vertices, joined, defaults());
  REQUIRE(all.sinks.size() == 1);
  CHECK(all.sinks[0].vertex == 3);
  // Without any target all vertices count.
  std::vector<KnotVertex> strangers = vertices;
  strangers[0].target = false;
  CHECK(find_knots(strangers, edges, defaults()).sinks.size() == 1);
}

TEST_CASE("a sink is an answer from 90 % of the window on") {
  const std::vector<KnotEdge> edges{{0, 1, 500}};
  const KnotResult at = find_knots({worker(), {Kind::thread, 900, 900}}, edges, defaults());
  REQUIRE(at.sinks.size() == 1);
  CHECK(at.sinks[0].vertex == 1);
  CHECK(at.sinks[0].saturated);
  CHECK_FALSE(at.only_background);
  CHECK(at.steps.empty());

  const KnotResult under = find_knots({worker(), {Kind::thread, 899, 899}}, edges, defaults());
  REQUIRE(under.sinks.size() == 2);  // 1 is removed, which leaves 0 a sink
  CHECK(under.sinks[0].vertex == 1);
  CHECK_FALSE(under.sinks[0].saturated);
  CHECK(under.sinks[1].vertex == 0);
  CHECK(under.only_background);
  CHECK(steps_of(under) == Steps{{Reason::background_sink, 1}, {Reason::background_sink, 0}});
  CHECK(under.steps[0].weight_ns == 899);
}

TEST_CASE("behind an unsaturated sink the search goes on") {
  const KnotResult result = find_knots({worker(), busy(), sleeper()}, {{0, 1, 500}, {1, 2, 20}}, defaults());
  REQUIRE(result.sinks.size() == 2);
  CHECK(result.sinks[0].vertex == 1);
  CHECK(result.sinks[0].saturated);
  CHECK(result.sinks[1].vertex == 2);
  CHECK_FALSE(result.sinks[1].saturated);
}

TEST_CASE("a saturated disk, idle for less than the noise floor, is a sink") {
  const KnotResult result = find_knots({worker(), disk(995)}, {{0, 1, 800}, {1, 0, 5}}, defaults());
  CHECK(result.knots.empty());
  REQUIRE(result.sinks.size() == 1);
  CHECK(result.sinks[0].vertex == 1);
  CHECK(result.sinks[0].saturated);
}

TEST_CASE("a vertex without any edge is reported only when saturated") {
  const KnotResult result = find_knots({sleeper(), busy(), sleeper(), timer()}, {{2, 3, 500}}, defaults());
  REQUIRE(result.sinks.size() == 1);
  CHECK(result.sinks[0].vertex == 1);
  CHECK(steps_of(result) == Steps{{Reason::to_pseudo, 0}});
}

TEST_CASE("a knot of less than one CPU and no device is background: reported, removed") {
  // 0 → {1,2} background; 0 ↔ 3.
  const std::vector<KnotVertex> vertices{worker(), sleeper(), sleeper(), worker()};
  const std::vector<KnotEdge> edges{{0, 1, 400}, {1, 2, 900}, {2, 1, 900}, {0, 3, 300}, {3, 0, 250}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 2);
  CHECK(result.knots[0].vertices == Ids{0, 3});
  CHECK_FALSE(result.knots[0].background);
  CHECK(result.knots[1].vertices == Ids{1, 2});
  CHECK(result.knots[1].edges == Ids{1, 2});
  CHECK(result.knots[1].background);
  CHECK(result.knots[1].weight_ns == 1800);
  CHECK(steps_of(result) == Steps{{Reason::background_knot, 1}, {Reason::background_knot, 2}});
  CHECK_FALSE(result.only_background);
}

TEST_CASE("a thread that sleeps or runs all the time limits those that work and wait for it") {
  // 0 → 1, which sleeps.
  KnotVertex active = sleeper();
  active.active_ns = 100;
  KnotVertex pace = sleeper();
  pace.paced_ns = 900;
  const KnotResult at = find_knots({active, pace}, {{0, 1, 200}}, defaults());
  REQUIRE(at.sinks.size() == 1);
  CHECK(at.sinks[0].vertex == 1);
  CHECK(at.sinks[0].paced);
  CHECK_FALSE(at.sinks[0].saturated);
  CHECK_FALSE(at.only_background);
  CHECK(at.steps.empty());

  // It does not limit if it sleeps less, if the wait is light, or if an idle pool waits.
  KnotVertex idle = active;
  idle.active_ns = 99;
  KnotVertex rests = pace;
  rests.paced_ns = 899;
  CHECK(find_knots({active, rests}, {{0, 1, 200}}, defaults()).only_background);
  CHECK(find_knots({active, pace}, {{0, 1, 199}}, defaults()).only_background);
  CHECK(find_knots({idle, pace}, {{0, 1, 200}}, defaults()).only_background);
  // It does if a thread that does the work waits for the pool.
  CHECK_FALSE(find_knots({idle, pace, active}, {{0, 1, 200}, {2, 0, 200}}, defaults()).only_background);
  // A disk that waits for requests is no thread that does the work.
  const std::vector<KnotEdge> of_disk{{0, 1, 200}, {2, 0, 10}};
  CHECK(find_knots({disk(500), pace, idle}, of_disk, defaults()).only_background);
}

TEST_CASE("threads that wait for a thread that sleeps all the time are no knot") {
  // A stage that sleeps (0) holds up a logger (1) that has a disk (2) for itself.
  KnotVertex pace = sleeper();
  pace.paced_ns = 1000;
  KnotVertex logger = sleeper();
  logger.active_ns = 500;
  const std::vector<KnotEdge> edges{{1, 0, 500}, {1, 2, 400}, {2, 1, 900}};
  const KnotResult result = find_knots({pace, logger, disk(100)}, edges, defaults());
  CHECK(result.knots.empty());
  REQUIRE(result.sinks.size() == 1);
  CHECK(result.sinks[0].vertex == 0);
}

TEST_CASE("a knot that uses no CPU limits those that work and wait for it") {
  // 0 and 1 hold a lock while they sleep; 2 waits for both.
  KnotVertex holder = sleeper();
  holder.active_ns = 450;
  KnotVertex waiter = sleeper();
  waiter.active_ns = 300;
  const std::vector<KnotEdge> edges{{0, 1, 500}, {1, 0, 500}, {2, 0, 200}};
  const KnotResult result = find_knots({holder, holder, waiter}, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1});
  CHECK_FALSE(result.knots[0].background);
  holder.active_ns = 449;
  CHECK(find_knots({holder, holder, waiter}, edges, defaults()).knots[0].background);
}

TEST_CASE("a knot that uses a CPU is not background, one ns less is") {
  const std::vector<KnotEdge> edges{{0, 1, 500}, {1, 0, 500}};
  CHECK_FALSE(find_knots({{Kind::thread, 500, 450}, {Kind::thread, 500, 450}}, edges, defaults())
                  .knots[0]
                  .background);
  CHECK(find_knots({{Kind::thread, 500, 449}, {Kind::thread, 500, 450}}, edges, defaults())
            .knots[0]
            .background);
}

TEST_CASE("background knots alone are the answer") {
  const KnotResult result = find_knots({sleeper(), sleeper()}, {{0, 1, 900}, {1, 0, 20}}, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].background);
  CHECK(result.knots[0].edges == Ids{0, 1});  // not refined
  CHECK(result.only_background);
}

TEST_CASE("refinement drops the lightest edges until the knot splits") {
  // 0 ↔ 1 and 1 ↔ 2 (a disk), held together by light edges.
  const std::vector<KnotVertex> vertices{worker(), worker(), disk(500)};
  const std::vector<KnotEdge> edges{{0, 1, 700}, {1, 0, 50}, {1, 2, 500}, {2, 1, 400}, {2, 0, 40}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{1, 2});
  CHECK(result.knots[0].edges == Ids{2, 3});
  CHECK(steps_of(result) == Steps{{Reason::light, 4}, {Reason::light, 1}});
}

TEST_CASE("an edge of the minimum weight is not dropped") {
  const std::vector<KnotVertex> vertices{worker(), worker(), disk(500)};
  const std::vector<KnotEdge> edges{{0, 1, 700}, {1, 0, 200}, {1, 2, 500}, {2, 1, 400}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1, 2});
  CHECK(result.knots[0].edges == Ids{0, 2, 3, 1});
  CHECK(result.steps.empty());
}

TEST_CASE("the lightest edge is not dropped if its gain is the minimum weight") {
  // A group waits for itself and briefly for a disk, but after each wait for the disk it queues for a CPU.
  const std::vector<KnotVertex> vertices{{Kind::thread, 600, 1200}, disk(50)};
  std::vector<KnotEdge> edges{{0, 0, 700}, {0, 1, 50, 199}, {1, 0, 900}};
  KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0});
  CHECK(steps_of(result) == Steps{{Reason::light, 1}});
  edges[1].gain_ns = 200;
  result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1});
  CHECK(result.knots[0].edges == Ids{2, 0, 1});
  CHECK(result.steps.empty());
}

TEST_CASE("light edges that hold nothing together are dropped from the final knot") {
  // Both 3-cycles are heavy; the edge 0→2 … of weight 30 is not needed.
  const std::vector<KnotEdge> edges{{0, 1, 300}, {1, 2, 300}, {2, 0, 300}, {1, 0, 300}, {0, 2, 30}};
  const KnotResult result = find_knots({worker(), worker(), worker()}, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].edges == Ids{0, 3, 1, 2});
  CHECK(steps_of(result) == Steps{{Reason::light, 4}});
}

TEST_CASE("refinement stops at a simple cycle however light it is") {
  const std::vector<KnotEdge> edges{{0, 1, 30}, {1, 2, 40}, {2, 0, 50}, {0, 0, 20}, {1, 0, 25}};
  const KnotResult result = find_knots({worker(), worker(), worker()}, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1, 2});
  CHECK(result.knots[0].edges == Ids{2, 1, 0});
  CHECK(steps_of(result) == Steps{{Reason::light, 3}, {Reason::light, 4}});
}

TEST_CASE("a merged group with a self-loop is a knot and final") {
  const KnotVertex group{Kind::thread, 500, 8000};
  const KnotResult result = find_knots({group, worker()}, {{0, 0, 15}, {1, 0, 300}}, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0});
  CHECK(result.knots[0].edges == Ids{0});
  CHECK_FALSE(result.knots[0].background);
  CHECK(result.steps.empty());
  // Under the noise floor it is no knot; nor is the group saturated.
  const KnotResult noise = find_knots({group, worker()}, {{0, 0, 9}, {1, 0, 300}}, defaults());
  CHECK(noise.knots.empty());
  CHECK(noise.sinks.size() == 2);
  CHECK(noise.only_background);
}

TEST_CASE("refinement that leaves only background is undone, and all dropped edges are back") {
  // Two workers in two 2-cycles around 1: without 1→0 everything is an unsaturated sink or leads to one.
  const std::vector<KnotVertex> vertices{
      {Kind::thread, 400, 400}, {Kind::thread, 400, 400}, {Kind::thread, 400, 400}};
  const std::vector<KnotEdge> edges{{0, 1, 300}, {1, 0, 60}, {1, 2, 50}, {2, 1, 300}, {0, 2, 20}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1, 2});
  CHECK(result.knots[0].edges == Ids{0, 3, 1, 2, 4});
  CHECK_FALSE(result.knots[0].background);
  CHECK(result.sinks.empty());
  CHECK_FALSE(result.only_background);
  CHECK(steps_of(result) == Steps{{Reason::light, 4},
                                  {Reason::light, 2},
                                  {Reason::background_knot, 0},
                                  {Reason::background_knot, 1},
                                  {Reason::background_sink, 2},
                                  {Reason::kept, 4}});
}

TEST_CASE("refinement may end in a saturated sink") {
  // Figure 1, case 1 of blocked-samples: the disk has the weight, a saturated thread limits.
  const std::vector<KnotVertex> vertices{busy(), worker(), disk(500)};
  const std::vector<KnotEdge> edges{{1, 2, 500}, {2, 1, 500}, {1, 0, 300}, {0, 1, 30}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  CHECK(result.knots.empty());
  REQUIRE(result.sinks.size() == 1);
  CHECK(result.sinks[0].vertex == 0);
  CHECK(result.sinks[0].saturated);
  CHECK(steps_of(result) == Steps{{Reason::light, 3}});
}

TEST_CASE("answers come heaviest first, background after them, sinks by saturation and use") {
  const std::vector<KnotVertex> vertices{worker(),
                                         worker(),
                                         worker(),
                                         worker(),  // two knots
                                         sleeper(),
                                         sleeper(),  // background knot
                                         {Kind::thread, 990, 990},
                                         busy(),
                                         worker()};
  const std::vector<KnotEdge> edges{{0, 1, 210}, {1, 0, 210}, {2, 3, 400}, {3, 2, 400},
                                    {4, 5, 999}, {5, 4, 999}, {0, 8, 11}};
  const KnotResult result = find_knots(vertices, edges, defaults());
  REQUIRE(result.knots.size() == 3);
  CHECK(result.knots[0].vertices == Ids{2, 3});
  CHECK(result.knots[1].vertices == Ids{0, 1});
  CHECK(result.knots[2].vertices == Ids{4, 5});
  CHECK(result.knots[2].background);
  REQUIRE(result.sinks.size() == 3);
  CHECK(result.sinks[0].vertex == 6);
  CHECK(result.sinks[1].vertex == 7);
  CHECK(result.sinks[2].vertex == 8);
  CHECK_FALSE(result.sinks[2].saturated);
}

TEST_CASE("of edges with equal weight the smaller (from, to) goes first, whatever their order") {
  const std::vector<KnotVertex> vertices{worker(), worker(), disk(500)};
  // Dropping 0→1 first leaves {1,2}; dropping 1→0 first would as well leave it, 2→1 first would not.
  const std::vector<KnotEdge> forth{{0, 1, 50}, {1, 0, 50}, {1, 2, 50}, {2, 1, 50}};
  const std::vector<KnotEdge> back(forth.rbegin(), forth.rend());
  const KnotResult a = find_knots(vertices, forth, defaults());
  const KnotResult b = find_knots(vertices, back, defaults());
  REQUIRE(a.knots.size() == 1);
  REQUIRE(b.knots.size() == 1);
  CHECK(a.knots[0].vertices == Ids{1, 2});
  CHECK(b.knots[0].vertices == Ids{1, 2});
  CHECK(a.knots[0].edges == Ids{2, 3});
  CHECK(b.knots[0].edges == Ids{1, 0});
}

TEST_CASE("weight 0 is an edge when there is no noise floor; sums are clamped") {
  KnotOptions options = defaults();
  options.noise_ns = 0;
  const KnotResult zero = find_knots({worker(), worker()}, {{0, 1, 0}, {1, 0, 0}}, options);
  REQUIRE(zero.knots.size() == 1);
  CHECK(zero.knots[0].weight_ns == 0);
  constexpr Nanos kMost = std::numeric_limits<Nanos>::max();
  const KnotVertex huge{Kind::thread, kMost, kMost};
  const KnotResult most = find_knots({huge, huge}, {{0, 1, kMost}, {1, 0, kMost}}, defaults());
  REQUIRE(most.knots.size() == 1);
  CHECK(most.knots[0].weight_ns == kMost);
  CHECK_FALSE(most.knots[0].background);
}

TEST_CASE("a knot that loses one vertex at a time, 50,000 times") {
  // A ladder: disk 0 ↔ 1 is heavy, each further worker hangs on the one before by a light edge back. The
  // lightest edge back belongs to the last worker.
  constexpr std::uint32_t kLength = 50'000;
  KnotOptions options{1'000'000, 0, 200'000, 0.9};
  std::vector<KnotVertex> vertices(kLength, KnotVertex{Kind::thread, 500'000, 500'000});
  vertices[0] = {Kind::device, 500'000, 0};
  std::vector<KnotEdge> edges{{0, 1, 400'000}, {1, 0, 400'000}};
  for (std::uint32_t v = 2; v < kLength; ++v) {
    edges.push_back({v, v - 1, 300'000});
    edges.push_back({v - 1, v, kLength - v});
  }
  const KnotResult result = find_knots(vertices, edges, options);
  REQUIRE(result.knots.size() == 1);
  CHECK(result.knots[0].vertices == Ids{0, 1});
  CHECK(result.knots[0].edges == Ids{0, 1});
  CHECK(result.sinks.empty());
  REQUIRE(result.steps.size() == kLength - 2);
  CHECK(result.steps.front().weight_ns == 1);
  CHECK(result.steps.back().weight_ns == kLength - 2);
}

struct RandomGraph {
  std::vector<KnotVertex> vertices;
  std::vector<KnotEdge> edges;
  KnotOptions options;
};

RandomGraph random_graph(std::mt19937_64& random) {
  const auto up_to = [&random](std::uint64_t n) { return random() % (n + 1); };
  RandomGraph graph;
  graph.options = defaults();
  graph.options.noise_ns = static_cast<Nanos>(up_to(40));
  graph.options.min_weight_ns = static_cast<Nanos>(up_to(3) == 0 ? 10'000 : up_to(400));
  const std::uint64_t most_cpu = up_to(3) * 500;
  const std::uint64_t devices = up_to(5);
  const auto count = static_cast<std::uint32_t>(1 + up_to(8));
  for (std::uint32_t v = 0; v < count; ++v) {
    const auto kind = up_to(9) == 0 ? Kind::pseudo : up_to(9) < devices ? Kind::device : Kind::thread;
    const auto cpu = static_cast<Nanos>(up_to(most_cpu));
    const bool target = up_to(3) != 0;
    graph.vertices.push_back({kind, static_cast<Nanos>(up_to(950)), kind == Kind::thread ? cpu : 0, target});
    if (kind == Kind::thread) {
      graph.vertices.back().paced_ns = static_cast<Nanos>(up_to(1100));
      graph.vertices.back().active_ns = static_cast<Nanos>(up_to(up_to(1) == 0 ? 150 : 1100));
    }
  }
  const std::uint64_t edges = up_to(count * (1 + up_to(4)));
  // Few different weights make ties.
  const std::uint64_t most_weight = up_to(1) == 0 ? 6 : 500;
  const Nanos unit = most_weight == 6 ? 60 : 1;
  for (std::uint64_t e = 0; e < edges; ++e) {
    graph.edges.push_back({static_cast<VertexId>(up_to(count - 1)), static_cast<VertexId>(up_to(count - 1)),
                           unit * static_cast<Nanos>(up_to(most_weight))});
    if (up_to(3) == 0) {
      graph.edges.back().gain_ns = graph.edges.back().weight_ns * static_cast<Nanos>(1 + up_to(3));
    }
  }
  return graph;
}

using StepKey = std::tuple<Reason, std::optional<std::uint32_t>, std::optional<VertexId>, Nanos>;
std::vector<StepKey> sorted_steps(const KnotResult& result) {
  std::vector<StepKey> keys;
  for (const KnotStep& s : result.steps) {
    keys.emplace_back(s.reason, s.edge, s.vertex, s.weight_ns);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST_CASE("equal to brute force on 4,000 random graphs") {
  std::mt19937_64 random(20181008);  // NOLINT(cert-msc*): the same graphs in every run
  int refined = 0;
  int kept = 0;
  int in_between = 0;
  int paced = 0;
  for (int i = 0; i < 4000; ++i) {
    const RandomGraph graph = random_graph(random);
    const KnotResult fast = find_knots(graph.vertices, graph.edges, graph.options);
    const KnotResult slow = reference::brute_force_knots(graph.vertices, graph.edges, graph.options);
    CAPTURE(i);
    REQUIRE(fast.only_background == slow.only_background);
    REQUIRE(fast.knots.size() == slow.knots.size());
    for (std::size_t k = 0; k < fast.knots.size(); ++k) {
      REQUIRE(fast.knots[k].vertices == slow.knots[k].vertices);
      REQUIRE(fast.knots[k].edges == slow.knots[k].edges);
      REQUIRE(fast.knots[k].background == slow.knots[k].background);
      REQUIRE(fast.knots[k].weight_ns == slow.knots[k].weight_ns);
    }
    REQUIRE(fast.sinks.size() == slow.sinks.size());
    for (std::size_t s = 0; s < fast.sinks.size(); ++s) {
      REQUIRE(fast.sinks[s].vertex == slow.sinks[s].vertex);
      REQUIRE(fast.sinks[s].saturated == slow.sinks[s].saturated);
      REQUIRE(fast.sinks[s].paced == slow.sinks[s].paced);
      paced += fast.sinks[s].paced ? 1 : 0;
    }
    REQUIRE(sorted_steps(fast) == sorted_steps(slow));
    const auto has = [&fast](Reason reason) {
      return std::any_of(fast.steps.begin(), fast.steps.end(),
                         [reason](const KnotStep& s) { return s.reason == reason; });
    };
    refined += has(Reason::light) ? 1 : 0;
    kept += has(Reason::kept) ? 1 : 0;
    in_between += has(Reason::light) && has(Reason::background_sink) && !has(Reason::kept) ? 1 : 0;
  }
  // The graphs do reach the rare cases.
  CHECK(refined > 400);
  CHECK(kept > 40);
  CHECK(in_between > 40);
  CHECK(paced > 40);
}

TEST_CASE("2,000 vertices, 200,000 edges, every one of them light") {
  constexpr std::uint32_t kVertices = 2000;
  constexpr std::size_t kEdges = 200'000;
  std::mt19937_64 random(7);  // NOLINT(cert-msc*): the same graph in every run
  std::vector<KnotVertex> vertices(kVertices, KnotVertex{Kind::thread, 500, 500});
  vertices[0] = {Kind::device, 500, 0};
  std::vector<KnotEdge> edges;
  for (std::size_t e = 0; e < kEdges; ++e) {
    edges.push_back({static_cast<VertexId>(random() % kVertices), static_cast<VertexId>(random() % kVertices),
                     static_cast<Nanos>(random() % 1'000'000'000)});
  }
  KnotOptions options{1000, 0, 2'000'000'000, 0.9};
  const KnotResult result = find_knots(vertices, edges, options);
  // The remaining knot is strongly connected, and no edge was dropped twice.
  REQUIRE_FALSE(result.knots.empty());
  REQUIRE_FALSE(result.knots[0].background);
  std::vector<std::uint32_t> light;
  for (const KnotStep& step : result.steps) {
    if (step.reason == Reason::light) {
      light.push_back(*step.edge);
    }
  }
  CHECK(light.size() > kEdges / 2);
  std::sort(light.begin(), light.end());
  CHECK(std::adjacent_find(light.begin(), light.end()) == light.end());
}

}  // namespace
}  // namespace offwait
