// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/graph.h"

#include <catch2/catch.hpp>

#include "traces.h"

namespace offwait {
namespace {

using test::TraceByHand;

Graph graph_of(const Trace& trace) {
  const Result<Sweep> result = sweep(trace);
  if (!result.ok()) FAIL(result.error().message);
  return build_graph(trace, *result);
}

TEST_CASE("an edge sums the sites of its ends, its stacks heaviest first") {
  TraceByHand t(1000);
  const ActorId a = t.thread("A"), b = t.thread("B"), c = t.thread("C");
  const StackId lock = t.stack("lock"), unlock = t.stack("unlock"), read = t.stack("read");
  t.in(WaitClass::futex, lock, unlock);
  t.wait(a, b, 0, 10);
  t.wait(a, b, 20, 30);
  t.in(WaitClass::pipe, read, kNoStack);
  t.wait(a, b, 100, 200);
  t.in(WaitClass::futex, lock, unlock);
  t.wait(b, c, 150, 160);
  const Graph graph = graph_of(t.trace);

  REQUIRE(graph.edges.size() == 2);
  const Edge& edge = graph.edges[0];
  CHECK(edge.from == a);
  CHECK(edge.to == b);
  CHECK(edge.waits == 3);
  CHECK(edge.wait_ns == 120);
  CHECK(edge.weight_ns == 120);
  CHECK(edge.waker_running_ns == 110);
  CHECK(edge.waker_blocked_ns == 10);
  CHECK(edge.waker_runnable_ns == 0);
  CHECK(edge.waker_unknown_ns == 0);
  CHECK(edge.class_wait_ns[static_cast<std::size_t>(WaitClass::futex)] == 20);
  CHECK(edge.class_wait_ns[static_cast<std::size_t>(WaitClass::pipe)] == 100);
  REQUIRE(edge.stacks.size() == 2);
  CHECK(edge.stacks[0].wait_stack == read);
  CHECK(edge.stacks[0].waker_stack == kNoStack);
  CHECK(edge.stacks[0].wait_class == WaitClass::pipe);
  CHECK(edge.stacks[0].weight_ns == 100);
  CHECK(edge.stacks[1].wait_stack == lock);
  CHECK(edge.stacks[1].waker_stack == unlock);
  CHECK(edge.stacks[1].waits == 2);
  CHECK(edge.stacks[1].wait_ns == 20);
  CHECK(graph.edges[1].from == b);
  CHECK(graph.edges[1].weight_ns == 20);
}

TEST_CASE("drawn waits add to the variance of their stacks, by as much of them as lies in the window") {
  TraceByHand t(1000);
  const ActorId a = t.thread("A"), b = t.thread("B");
  const StackId often = t.stack("often"), seldom = t.stack("seldom");
  t.in(WaitClass::futex, often, kNoStack);
  t.wait(a, b, 0, 10);
  t.trace.waits.back().stands_for = 4;
  t.wait(a, b, 20, 40);
  t.in(WaitClass::futex, seldom, kNoStack);
  t.wait(a, b, 900, 1100);
  t.trace.waits.back().stands_for = 1.5;
  const Graph graph = graph_of(t.trace);

  REQUIRE(graph.edges.size() == 1);
  REQUIRE(graph.edges[0].stacks.size() == 2);
  CHECK(graph.edges[0].stacks[0].wait_stack == seldom);
  CHECK(graph.edges[0].stacks[0].variance == Approx(1.5 * 0.5 * 100 * 100));
  CHECK(graph.edges[0].stacks[1].variance == Approx(4 * 3 * 10 * 10));
}

TEST_CASE("waits without a known waker, and sites without a wait in the window, make no edge") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread();
  t.wait(a, kNoActor, 0, 10);
  t.wait(a, b, 100, 110);
  t.wait(b, kNoActor, 50, kNever);
  CHECK(graph_of(t.trace).edges.empty());
}

TEST_CASE("edges of equal weight are in order of their ends") {
  TraceByHand t(100);
  const ActorId a = t.thread(), b = t.thread(), c = t.thread(), d = t.thread();
  t.wait(c, d, 0, 10);
  t.wait(b, d, 20, 30);
  t.wait(b, a, 40, 50);
  const Graph graph = graph_of(t.trace);
  REQUIRE(graph.edges.size() == 3);
  CHECK(graph.edges[0].from == b);
  CHECK(graph.edges[0].to == a);
  CHECK(graph.edges[1].from == b);
  CHECK(graph.edges[1].to == d);
  CHECK(graph.edges[2].from == c);
}

TEST_CASE("added edges take their place by weight") {
  TraceByHand t(100);
  const ActorId a = t.thread();
  const ActorId disk = t.device(ActorKind::disk, "vda");
  t.wait(a, disk, 0, 10);
  Graph graph = graph_of(t.trace);
  Edge idle;
  idle.from = disk;
  idle.to = a;
  idle.wait_ns = idle.weight_ns = 90;
  idle.stacks = {{.wait_ns = 1, .weight_ns = 1}, {.wait_stack = 3, .wait_ns = 2, .weight_ns = 2}};
  add_edges(graph, {idle});
  REQUIRE(graph.edges.size() == 2);
  CHECK(graph.edges[0].from == disk);
  CHECK(graph.edges[0].weight_ns == 90);
  CHECK(graph.edges[0].stacks[0].wait_stack == 3);
  CHECK(graph.edges[1].from == a);
}

}  // namespace
}  // namespace offwait
