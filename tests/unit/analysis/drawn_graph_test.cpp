// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/drawn_graph.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

using namespace offwait;

namespace {

/// Ten seconds; edges of a tenth of a second or more are drawn.
class Drawing {
 public:
  Drawing() {
    findings.window_s = 10;
    findings.options.noise_s = 0.1;
  }

  FoundActorId actor(const std::string& name, bool outside = false, ActorKind kind = ActorKind::thread) {
    FoundActor actor;
    actor.name = name;
    actor.outside = outside;
    actor.kind = kind;
    if (kind == ActorKind::thread) actor.tids = {static_cast<std::int32_t>(findings.actors.size()) + 1};
    findings.actors.push_back(actor);
    return static_cast<FoundActorId>(findings.actors.size() - 1);
  }

  FoundEdgeId edge(FoundActorId from, FoundActorId to, double weight_s, bool idle = false) {
    FoundEdge edge;
    edge.from = from;
    edge.to = to;
    edge.weight_s = weight_s;
    edge.wait_s = weight_s / 2;
    edge.waits = 10;
    edge.idle = idle;
    findings.edges.push_back(edge);
    return static_cast<FoundEdgeId>(findings.edges.size() - 1);
  }

  void knot(std::vector<FoundActorId> actors, std::vector<FoundEdgeId> edges) {
    FoundKnot knot;
    knot.actors = std::move(actors);
    knot.edges = std::move(edges);
    findings.knots.push_back(knot);
  }

  void set_aside(FoundEdgeId edge, ExcludedWait::Reason reason) {
    ExcludedWait excluded;
    excluded.edge = edge;
    excluded.reason = reason;
    findings.excluded_waits.push_back(excluded);
  }

  Findings findings;
};

}  // namespace

TEST_CASE("clients outside of the target that are called alike are one box") {
  Drawing drawing;
  const FoundActorId server = drawing.actor("server");
  for (int i = 0; i < 4; ++i) drawing.edge(drawing.actor("client-" + std::to_string(i), true), server, 4);
  const DrawnGraph graph = drawn_graph(drawing.findings);
  REQUIRE(graph.boxes.size() == 2);
  CHECK(graph.boxes[0].actors == std::vector<FoundActorId>{1, 2, 3, 4});
  REQUIRE(graph.arrows.size() == 1);
  CHECK(graph.arrows[0].edges == std::vector<FoundEdgeId>{0, 1, 2, 3});
  // Of one thread, on average.
  CHECK(graph.arrows[0].weight_s == Approx(4));
  CHECK(graph.arrows[0].wait_s == Approx(2));
  CHECK(graph.arrows[0].waits == 40);
}

TEST_CASE("a knot comes first and keeps its idle edge, whatever weighs more beside it") {
  Drawing drawing;
  const FoundActorId a = drawing.actor("A");
  const FoundActorId b = drawing.actor("B");
  const FoundActorId disk = drawing.actor("vda", false, ActorKind::disk);
  drawing.edge(a, b, 9);
  const FoundEdgeId waits = drawing.edge(b, disk, 3);
  const FoundEdgeId idle = drawing.edge(disk, b, 2, true);
  drawing.edge(disk, a, 5, true);
  drawing.knot({b, disk}, {waits, idle});
  const DrawnGraph graph = drawn_graph(drawing.findings);
  REQUIRE(graph.arrows.size() == 3);
  CHECK(graph.arrows[0].edges == std::vector<FoundEdgeId>{waits});
  CHECK(graph.arrows[0].in_knot);
  CHECK(graph.arrows[1].idle);
  CHECK(graph.arrows[2].edges == std::vector<FoundEdgeId>{0});
  CHECK_FALSE(graph.arrows[2].in_knot);
  CHECK(graph.first_arrows == 3);
  CHECK(graph.boxes[graph.arrows[0].from].knot == 0);
  CHECK(graph.boxes[graph.arrows[2].from].knot == std::nullopt);
}

TEST_CASE("what holds nothing up, timers and noise are not drawn at first") {
  Drawing drawing;
  const FoundActorId a = drawing.actor("A");
  const FoundActorId b = drawing.actor("B");
  const FoundActorId pool = drawing.actor("pool");
  const FoundActorId timer = drawing.actor("", false, ActorKind::timer);
  drawing.edge(a, b, 1);
  drawing.set_aside(drawing.edge(pool, b, 9), ExcludedWait::Reason::apart);
  drawing.edge(b, timer, 9);
  drawing.edge(b, a, 0.09);
  const DrawnGraph graph = drawn_graph(drawing.findings);
  CHECK(graph.first_arrows == 1);
  CHECK(graph.first_boxes == 2);
  REQUIRE(graph.arrows.size() == 2);
  CHECK(graph.arrows[0].holds_up);
  CHECK_FALSE(graph.arrows[1].holds_up);
}

TEST_CASE("where nothing holds anything up, what there is is drawn") {
  Drawing drawing;
  const FoundActorId a = drawing.actor("A");
  drawing.set_aside(drawing.edge(a, drawing.actor("B"), 9), ExcludedWait::Reason::requests);
  CHECK(drawn_graph(drawing.findings).first_arrows == 1);
}

TEST_CASE("no graph is larger than a picture") {
  Drawing drawing;
  const FoundActorId one = drawing.actor("one");
  for (int i = 0; i < 300; ++i)
    drawing.edge(drawing.actor("t" + std::string(static_cast<std::size_t>(i), 'x')), one, 9);
  const DrawnGraph graph = drawn_graph(drawing.findings);
  CHECK(graph.first_boxes == kFirstBoxes);
  CHECK(graph.first_arrows == kFirstBoxes - 1);
  CHECK(graph.arrows.size() == kMostArrows);
  CHECK(graph.left_out == 100);
}
