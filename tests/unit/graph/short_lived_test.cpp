// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/short_lived.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "graph/merge.h"
#include "model/validate.h"
#include "traces.h"

namespace offwait {
namespace {

using test::TraceByHand;

ActorId born(TraceByHand& t, const std::string& name, Nanos start, Nanos exit, ActorId parent = kNoActor) {
  const ActorId id = t.thread(name);
  Actor& actor = t.trace.actors[id];
  actor.start = actor.seen = start;
  actor.exit = exit;
  actor.parent = parent;
  return id;
}

struct Swept {
  TraceWithStandIns short_lived;
  Sweep swept;
  Merged merged;
};

Swept analyse(TraceByHand& t) {
  const Status valid = validate(t.trace);
  if (!valid.ok()) FAIL(valid.error().message);
  TraceWithStandIns short_lived = stand_in_for_short_lived(t.trace);
  Result<Sweep> swept = sweep(short_lived.all());
  if (!swept.ok()) FAIL(swept.error().message);
  Merged merged = merge_similar(short_lived, *swept, build_graph(short_lived.all(), *swept));
  return {std::move(short_lived), *std::move(swept), std::move(merged)};
}

const Edge* edge_between(const Graph& graph, std::uint32_t from, std::uint32_t to) {
  for (const Edge& edge : graph.edges) {
    if (edge.from == from && edge.to == to) return &edge;
  }
  return nullptr;
}

TEST_CASE("threads that follow each other are one that waits for their creator in between") {
  TraceByHand t(1000);
  const ActorId accept = t.thread("accept");
  const ActorId nic = t.device(ActorKind::nic, "eth0");
  const ActorId disk = t.device(ActorKind::disk, "vda");
  // Alive in [100, 400) and [600, 700); two of them in [200, 300) and [650, 690).
  const ActorId a = born(t, "conn", 100, 300, accept);
  const ActorId b = born(t, "conn", 200, 400, accept);
  const ActorId c = born(t, "conn", 600, 700, accept);
  const ActorId d = born(t, "conn", 650, 690, accept);
  t.in(WaitClass::disk, t.stack("read"));
  t.wait(a, disk, 120, 250);
  t.wait(b, disk, 210, 310);
  t.wait(c, disk, 640, 680, 690);
  t.in(WaitClass::net, t.stack("accept"));
  t.wait(accept, nic, 450, 600);

  const Swept done = analyse(t);
  REQUIRE(done.short_lived.groups().size() == 1);
  const ShortLived& group = done.short_lived.groups()[0];
  CHECK(group.members == std::vector<ActorId>{a, b, c, d});
  CHECK(group.alive_ns == 400);
  // Everything but [120, 200), when a waits alone; [210, 250), when a and b wait; [300, 310), when b waits
  // alone; and [640, 650).
  CHECK(group.busy_ns == 260);
  CHECK(done.short_lived.actors().size() == 7);
  CHECK(done.short_lived.waits().size() == 4);
  CHECK(done.short_lived.is_stand_in(group.stand_in));
  CHECK(done.short_lived.all().actors.size() == 8);

  const std::uint32_t vertex = done.merged.vertex_of[a];
  const Vertex& merged = done.merged.vertices[vertex];
  CHECK(merged.short_lived);
  CHECK(merged.members == group.members);
  CHECK(done.merged.vertex_of[group.stand_in] == vertex);
  CHECK(merged.time.lifetime_ns == 540);
  CHECK(merged.time.blocked_ns == 270);

  // There are 270 ns of waits, and 540 ÷ 400 threads alive at a time.
  const Edge* const to_disk = edge_between(done.merged.graph, vertex, done.merged.vertex_of[disk]);
  REQUIRE(to_disk != nullptr);
  CHECK(to_disk->waits == 3);
  CHECK(to_disk->wait_ns == 200);
  CHECK(to_disk->weight_ns == 200);

  // The waits are [0, 100) and [400, 600); the one from 700 on has no end.
  const Edge* const to_creator = edge_between(done.merged.graph, vertex, done.merged.vertex_of[accept]);
  REQUIRE(to_creator != nullptr);
  CHECK(to_creator->waits == 2);
  CHECK(to_creator->wait_ns == 300);
  CHECK(to_creator->waker_blocked_ns == 150);
  CHECK(to_creator->waker_running_ns == 150);
  REQUIRE(to_creator->stacks.size() == 1);
  CHECK(done.short_lived.all()
            .frames[done.short_lived.all().stacks[to_creator->stacks[0].wait_stack].frames[0]]
            .function == "[no thread of it alive]");
  // The creator's wait counts twice, because the stand-in waits for the creator.
  const Edge* const to_nic =
      edge_between(done.merged.graph, done.merged.vertex_of[accept], done.merged.vertex_of[nic]);
  REQUIRE(to_nic != nullptr);
  CHECK(to_nic->weight_ns == 300);
}

TEST_CASE("which threads are short-lived") {
  struct Case {
    const char* why;
    std::size_t groups;
    void (*change)(Trace& trace, ActorId creator, ActorId first, ActorId second);
  };
  const auto c = GENERATE(values<Case>({
      {"nothing special", 1, [](Trace&, ActorId, ActorId, ActorId) {}},
      {"digits differ", 1, [](Trace& t, ActorId, ActorId, ActorId b) { t.actors[b].name = "conn-12"; }},
      {"letters differ", 0, [](Trace& t, ActorId, ActorId, ActorId b) { t.actors[b].name = "conm-1"; }},
      {"born at the begin of the window", 0,
       [](Trace& t, ActorId, ActorId a, ActorId) { t.actors[a].start = 0; }},
      {"dead at the end of the window", 0,
       [](Trace& t, ActorId, ActorId, ActorId b) {
         t.actors[b].start = 600;
         t.actors[b].exit = 1000;
       }},
      {"half of the window long", 1, [](Trace& t, ActorId, ActorId, ActorId b) { t.actors[b].exit = 900; }},
      {"longer", 0, [](Trace& t, ActorId, ActorId, ActorId b) { t.actors[b].exit = 901; }},
      {"both at once for 1 ns", 0, [](Trace& t, ActorId, ActorId a, ActorId) { t.actors[a].exit = 401; }},
      {"one outside of the target", 0,
       [](Trace& t, ActorId, ActorId, ActorId b) { t.actors[b].outside = true; }},
      {"no name", 0,
       [](Trace& t, ActorId, ActorId a, ActorId b) { t.actors[a].name = t.actors[b].name = ""; }},
      {"two processes", 0,
       [](Trace& t, ActorId, ActorId a, ActorId b) {
         t.actors[a].tgid = 2;
         t.actors[b].tgid = 3;
       }},
      {"two processes with one creator", 1,
       [](Trace& t, ActorId creator, ActorId a, ActorId b) {
         t.actors[a].tgid = 2;
         t.actors[b].tgid = 3;
         t.actors[a].parent = t.actors[b].parent = creator;
       }},
  }));
  INFO(c.why);
  TraceByHand t(1000);
  const ActorId creator = t.thread("main");
  const ActorId first = born(t, "conn-1", 100, 400);
  const ActorId second = born(t, "conn-2", 400, 500);
  c.change(t.trace, creator, first, second);
  CHECK(stand_in_for_short_lived(t.trace).groups().size() == c.groups);
}

TEST_CASE("a pool that starts and stops inside the window is no group, two that follow each other are") {
  TraceByHand t(1000);
  for (int i = 0; i < 8; ++i) born(t, "pool", 10, 300);
  CHECK(stand_in_for_short_lived(t.trace).groups().empty());
  CHECK(stand_in_for_short_lived(t.trace).all().actors.size() == 8);
  for (int i = 0; i < 8; ++i) born(t, "pool", 310, 600);
  CHECK(stand_in_for_short_lived(t.trace).groups().size() == 1);
}

/// A process that is born and dies.
ActorId forked(TraceByHand& t, const std::string& name, Nanos start, Nanos exit, ActorId parent = kNoActor) {
  const ActorId id = born(t, name, start, exit, parent);
  t.trace.actors[id].tgid = t.trace.actors[id].tid;
  return id;
}

TEST_CASE("processes are one by what they are called, whoever forked them") {
  TraceByHand t(1000);
  const ActorId make = t.thread("make");
  std::vector<ActorId> compilers;
  for (const Nanos at : {10, 20, 110, 120, 210}) {
    const ActorId driver = forked(t, "g++", at, at + 95, make);
    compilers.push_back(forked(t, "cc1plus", at + 2, at + 93, driver));
  }
  const Swept done = analyse(t);
  REQUIRE(done.short_lived.groups().size() == 2);
  CHECK(done.short_lived.groups()[0].members == compilers);
  CHECK(done.merged.vertices.size() == 3);
}

TEST_CASE("processes that never follow each other are a pool, and no group") {
  TraceByHand t(1000);
  for (int i = 0; i < 3; ++i) forked(t, "worker", 10 + i, 300 + i);
  CHECK(stand_in_for_short_lived(t.trace).groups().empty());
  forked(t, "worker", 302, 400);
  CHECK(stand_in_for_short_lived(t.trace).groups().size() == 1);
}

TEST_CASE("processes that the window cuts off belong to those that follow each other inside of it") {
  TraceByHand t(1000);
  const ActorId first = forked(t, "sed", -50, 100);
  const ActorId second = forked(t, "sed", 200, 300);
  const ActorId third = forked(t, "sed", 400, 500);
  const ActorId last = forked(t, "sed", 900, kNever);
  forked(t, "sed", -50, 501);  // recorded for more than half of the window
  forked(t, "sed", 499, kNever);
  t.trace.actors[first].seen = 0;
  t.wait(first, kNoActor, -10, 40);
  t.wait(last, kNoActor, 950, kNever, kNever);
  const Swept done = analyse(t);
  REQUIRE(done.short_lived.groups().size() == 1);
  CHECK(done.short_lived.groups()[0].members == std::vector<ActorId>{first, second, third, last});
  CHECK(done.short_lived.groups()[0].alive_ns == 400);
  CHECK(done.short_lived.groups()[0].busy_ns == 400 - 40 - 50);
}

TEST_CASE("the threads of short-lived processes that are called alike are one, too") {
  TraceByHand t(1000);
  for (const Nanos at : {10, 200, 400}) {
    const ActorId compiler = forked(t, "rustc", at, at + 100);
    const ActorId thread = born(t, "opt cgu.0", at + 10, at + 90, compiler);
    t.trace.actors[thread].tgid = t.trace.actors[compiler].tgid;
  }
  CHECK(stand_in_for_short_lived(t.trace).groups().size() == 2);
}

TEST_CASE("a creator that was blocked when its child was born is not waited for") {
  TraceByHand t(1000);
  const ActorId creator = t.thread("main");
  born(t, "conn", 100, 200, creator);
  born(t, "conn", 300, 400, creator);
  born(t, "conn", 500, 600, creator);
  t.wait(creator, kNoActor, 90, 100);   // awake again just then
  t.wait(creator, kNoActor, 290, 310);  // blocked
  t.wait(creator, kNoActor, 500, 510);  // not yet
  const Swept done = analyse(t);
  const Edge* const edge = edge_between(done.merged.graph, 1, 0);
  REQUIRE(edge != nullptr);
  CHECK(edge->wait_ns == 200);
  CHECK(edge->waits == 2);
}

TEST_CASE("a thread that starts the next one itself leaves nothing to wait for") {
  TraceByHand t(1000);
  const ActorId a = born(t, "x", 100, 210);
  const ActorId b = born(t, "x", 200, 310, a);
  born(t, "x", 300, 400, b);
  born(t, "x", 410, 420);
  const Swept done = analyse(t);
  REQUIRE(done.merged.vertices.size() == 1);
  CHECK(done.merged.graph.edges.empty());
}

/// In how many nanoseconds at least one of the threads lives and is neither blocked nor unknown.
Nanos busy_by_counting(const Trace& trace, const std::vector<ActorId>& members) {
  std::vector<bool> any(static_cast<std::size_t>(trace.window.length()));
  for (const ActorId member : members) {
    std::vector<bool> busy(any.size());
    const auto set = [&](Nanos from, Nanos to, bool value) {
      for (Nanos at = std::max(from, trace.window.begin); at < std::min(to, trace.window.end); ++at)
        busy[static_cast<std::size_t>(at - trace.window.begin)] = value;
    };
    set(trace.actors[member].start, trace.actors[member].exit, true);
    for (const Wait& wait : trace.waits) {
      if (trace.sites[wait.site].thread == member) set(wait.block, wait.wake, false);
    }
    for (const Gap& gap : trace.gaps) {
      if (gap.thread == member) set(gap.from, gap.to, false);
    }
    for (std::size_t i = 0; i < any.size(); ++i) any[i] = any[i] || busy[i];
  }
  return std::count(any.begin(), any.end(), true);
}

TEST_CASE("stand-ins never make a history impossible, and groups were busy as a count says") {
  std::size_t groups = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Trace trace = test::random_history(seed);
    trace.window.end *= 4;  // many lives are short then
    // Creators at random, awake or not.
    ActorId previous = kNoActor;
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      if (trace.actors[id].kind != ActorKind::thread) continue;
      trace.actors[id].name = "t";
      trace.actors[id].tgid = 1;
      trace.actors[id].parent = previous;
      previous = id;
    }
    const Result<Sweep> before = sweep(trace);
    const TraceWithStandIns with = stand_in_for_short_lived(trace);
    groups += with.groups().size();
    for (const ShortLived& group : with.groups())
      REQUIRE(group.busy_ns == busy_by_counting(trace, group.members));
    const Result<Sweep> after = sweep(with.all());
    INFO(seed);
    if (!after.ok()) FAIL(after.error().message);
    for (std::size_t site = 0; site < before->sites.size(); ++site) {
      REQUIRE(after->sites[site].wait_ns == before->sites[site].wait_ns);
    }
  }
  CHECK(groups > 0);
}

}  // namespace
}  // namespace offwait
