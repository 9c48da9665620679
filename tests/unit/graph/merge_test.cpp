// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/merge.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "traces.h"

namespace offwait {
namespace {

using test::TraceByHand;

struct Analysed {
  Sweep swept;
  Graph graph;
};

Analysed analyse(const Trace& trace) {
  Result<Sweep> result = sweep(trace);
  if (!result.ok()) FAIL(result.error().message);
  Graph graph = build_graph(trace, *result);
  return {*std::move(result), std::move(graph)};
}

Merged merged(Trace trace) {
  const TraceWithStandIns with = stand_in_for_short_lived(std::move(trace));
  const Analysed a = analyse(with.all());
  return merge_similar(with, a.swept, a.graph);
}

const Edge* find_edge(const Graph& graph, std::uint32_t from, std::uint32_t to) {
  for (const Edge& edge : graph.edges) {
    if (edge.from == from && edge.to == to) return &edge;
  }
  return nullptr;
}

TEST_CASE("Without merging, every actor is its own vertex and every edge itself") {
  TraceByHand t(100);
  const ActorId a = t.thread("worker-1"), b = t.thread("worker-2");
  t.wait(a, b, 10, 30);
  const Analysed analysed = analyse(t.trace);
  const Merged m = without_merging(TraceWithStandIns(t.trace), analysed.swept, analysed.graph);
  REQUIRE(m.vertices.size() == 2);
  CHECK(m.vertex_of == std::vector<std::uint32_t>{0, 1});
  CHECK(m.vertices[b].representative == b);
  CHECK(m.vertices[b].members == std::vector<ActorId>{b});
  CHECK(m.vertices[a].time.blocked_ns == 20);
  REQUIRE(m.graph.edges.size() == 1);
  CHECK(m.graph.edges[0].from == a);
  CHECK(m.graph.edges[0].to == b);
  CHECK(m.graph.edges[0].weight_ns == 20);
}

TEST_CASE("eight similar workers become one with a self-loop, one that is different stays alone") {
  TraceByHand t(10'000);
  const ActorId odd = t.thread("worker-0");
  std::vector<ActorId> workers;
  workers.reserve(8);
  for (int i = 0; i < 8; ++i) workers.push_back(t.thread("worker-" + std::to_string(7 + i)));
  const ActorId disk = t.device(ActorKind::disk, "vda");
  const StackId lock = t.stack("lock"), unlock = t.stack("unlock"), fsync = t.stack("fsync");

  // Each worker waits 100 ns for the one before it; worker 1 waits for the odd one. No worker waits longer
  // than that.
  t.in(WaitClass::futex, lock, unlock);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const Nanos at = static_cast<Nanos>(i) * 100;
    t.wait(workers[i], i == 0 ? odd : workers[i - 1], at, at + 100, at + 101);
  }
  // A little of something else does not make a worker different.
  t.in(WaitClass::disk, fsync);
  t.wait(workers[3], disk, 5000, 5008);
  t.wait(odd, disk, 6000, 6800);
  const Merged m = merged(t.trace);

  REQUIRE(m.vertices.size() == 3);
  CHECK(m.vertices[0].members == std::vector<ActorId>{odd});
  CHECK(m.vertices[1].representative == workers[0]);
  CHECK(m.vertices[1].members == workers);
  CHECK(m.vertices[2].representative == disk);
  CHECK(m.vertex_of == std::vector<std::uint32_t>{0, 1, 1, 1, 1, 1, 1, 1, 1, 2});
  CHECK(m.vertices[1].time.lifetime_ns == 80'000);
  CHECK(m.vertices[1].time.blocked_ns == 808);
  CHECK(m.vertices[1].time.runnable_ns == 8);
  CHECK(m.vertices[1].time.running_ns == 80'000 - 816);

  REQUIRE(m.graph.edges.size() == 4);
  const Edge* const loop = find_edge(m.graph, 1, 1);
  REQUIRE(loop != nullptr);
  CHECK(loop->waits == 7);
  CHECK(loop->wait_ns == 700 / 8);
  CHECK(loop->weight_ns == 700 / 8);
  CHECK(loop->waker_runnable_ns == 0);
  CHECK(loop->waker_running_ns == 693 / 8);
  CHECK(loop->class_wait_ns[static_cast<std::size_t>(WaitClass::futex)] == 700 / 8);
  REQUIRE(loop->stacks.size() == 1);
  CHECK(loop->stacks[0].wait_stack == lock);
  CHECK(loop->stacks[0].waits == 7);
  CHECK(loop->stacks[0].weight_ns == 700 / 8);

  const Edge* const to_odd = find_edge(m.graph, 1, 0);
  REQUIRE(to_odd != nullptr);
  CHECK(to_odd->waits == 1);
  CHECK(to_odd->wait_ns == 100 / 8);
  const Edge* const to_disk = find_edge(m.graph, 1, 2);
  REQUIRE(to_disk != nullptr);
  CHECK(to_disk->weight_ns == 1);
  const Edge* const odd_to_disk = find_edge(m.graph, 0, 2);
  REQUIRE(odd_to_disk != nullptr);
  CHECK(odd_to_disk->weight_ns == 800);
  CHECK(m.graph.edges[0].weight_ns == 800);
}

TEST_CASE("an edge is divided by the members of the waiting group, not of the group waited for") {
  TraceByHand t(100);
  const ActorId boss = t.thread("boss"), w1 = t.thread("w1"), w2 = t.thread("w2");
  t.in(WaitClass::pipe, t.stack("read"));
  t.wait(w1, boss, 0, 10);
  t.wait(w2, boss, 0, 10);
  t.in(WaitClass::child, t.stack("join"));
  t.wait(boss, w1, 20, 50);
  t.wait(boss, w2, 50, 60);
  const Merged m = merged(t.trace);
  REQUIRE(m.vertices.size() == 2);
  const Edge* const down = find_edge(m.graph, 0, 1);
  REQUIRE(down != nullptr);
  CHECK(down->weight_ns == 40);
  CHECK(down->waits == 2);
  const Edge* const up = find_edge(m.graph, 1, 0);
  REQUIRE(up != nullptr);
  CHECK(up->weight_ns == 10);
  CHECK(up->waits == 2);
}

TEST_CASE("a group's edges are the sum over members that differ, not a multiple of one of them") {
  TraceByHand t(1000);
  const ActorId w1 = t.thread("w-1"), w2 = t.thread("w-2"), w3 = t.thread("w-3");
  const ActorId disk = t.device(ActorKind::disk, "vda"), other = t.device(ActorKind::disk, "vdb");
  const StackId read = t.stack("read"), write = t.stack("write");
  t.in(WaitClass::disk, read);
  t.wait(w1, disk, 0, 100);
  t.wait(w2, disk, 0, 310);
  t.wait(w3, other, 0, 500);
  t.wait(w3, disk, 600, 601);
  t.in(WaitClass::disk, write);
  t.wait(w1, disk, 200, 219);
  const Merged m = merged(t.trace);
  REQUIRE(m.vertices.size() == 3);
  CHECK(m.vertices[0].time.blocked_ns == 930);
  const Edge* const edge = find_edge(m.graph, 0, m.vertex_of[disk]);
  REQUIRE(edge != nullptr);
  CHECK(edge->waits == 4);
  CHECK(edge->wait_ns == 430 / 3);
  CHECK(edge->class_wait_ns[static_cast<std::size_t>(WaitClass::disk)] == 430 / 3);
  REQUIRE(edge->stacks.size() == 2);
  CHECK(edge->stacks[0].wait_stack == read);
  CHECK(edge->stacks[0].wait_ns == 411 / 3);
  CHECK(edge->stacks[1].wait_ns == 19 / 3);
  const Edge* const to_other = find_edge(m.graph, 0, m.vertex_of[other]);
  REQUIRE(to_other != nullptr);
  CHECK(to_other->wait_ns == 500 / 3);
}

TEST_CASE("threads merge only within a process, a name pattern and the target") {
  struct Case {
    const char* why;
    std::size_t vertices;
    void (*change)(Actor& actor);
  };
  const auto c = GENERATE(values<Case>({
      {"nothing differs", 2, [](Actor&) {}},
      {"digits, more of them", 2, [](Actor& actor) { actor.name = "io-100-w"; }},
      {"a letter", 3, [](Actor& actor) { actor.name = "io-1-v"; }},
      {"no digits at all", 3, [](Actor& actor) { actor.name = "io--w"; }},
      {"another process", 3, [](Actor& actor) { actor.tgid = 2; }},
      {"outside of the target", 3, [](Actor& actor) { actor.outside = true; }},
  }));
  INFO(c.why);
  TraceByHand t(100);
  const ActorId a = t.thread("io-1-w"), b = t.thread("io-2-w");
  const ActorId timer = t.device(ActorKind::timer, "");
  t.wait(a, timer, 0, 15);
  t.wait(b, timer, 5, 25);
  c.change(t.trace.actors[b]);
  CHECK(merged(t.trace).vertices.size() == c.vertices);
}

TEST_CASE("a thread that is always ready to run is not merged with those that wait for it") {
  // Busy for 90 % of the window, or a little less.
  const auto [waits, vertices] = GENERATE(table<Nanos, std::size_t>({{10, 3}, {11, 2}}));
  TraceByHand t(100);
  const ActorId last = t.thread("rank-0"), other = t.thread("rank-1");
  t.in(WaitClass::futex, t.stack("barrier"));
  t.wait(other, last, 0, 40);
  t.wait(last, t.device(ActorKind::timer, ""), 50, 50 + waits);
  CHECK(merged(t.trace).vertices.size() == vertices);
}

TEST_CASE("threads without a name or a process stay alone") {
  TraceByHand t(100);
  const ActorId a = t.thread(""), b = t.thread("");
  const ActorId x = t.thread("x"), y = t.thread("x");
  t.trace.actors[x].tgid = t.trace.actors[y].tgid = 0;
  t.wait(a, b, 0, 10);
  t.wait(x, y, 0, 10);
  CHECK(merged(t.trace).vertices.size() == 4);
}

TEST_CASE("similar is a cosine of 0.9 over wait stack and class") {
  // Against a thread that waits on one stack only, the cosine of (x, y) is x / sqrt(x² + y²).
  struct Case {
    Nanos same, other;
    bool other_class_only;
    std::size_t vertices;
  };
  const auto c = GENERATE(values<Case>({
      {900, 430, false, 2},  // 0.902
      {900, 440, false, 3},  // 0.898
      {900, 430, true, 2},
      {900, 440, true, 3},
      {0, 1000, false, 3},
  }));
  TraceByHand t(10'000);
  const ActorId a = t.thread("a"), b = t.thread("a");
  const ActorId timer = t.device(ActorKind::timer, "");
  const StackId s1 = t.stack("s1"), s2 = t.stack("s2");
  t.in(WaitClass::poll, s1);
  t.wait(a, timer, 0, c.same + c.other);  // as busy as b
  if (c.same > 0) t.wait(b, timer, 0, c.same);
  t.in(c.other_class_only ? WaitClass::sleep : WaitClass::poll, c.other_class_only ? s1 : s2);
  t.wait(b, timer, 1000, 1000 + c.other);
  CHECK(merged(t.trace).vertices.size() == c.vertices);
}

TEST_CASE("an idle thread of a pool is not merged with a busy one that waits in the same place") {
  // The group's mean is 0.5 busy; 0.2 is similar enough, and one ns less is not.
  const auto [waits, vertices] = GENERATE(table<Nanos, std::size_t>({{800, 2}, {801, 3}}));
  TraceByHand t(1000);
  const ActorId busy = t.thread("w-1"), idle = t.thread("w-2");
  const ActorId timer = t.device(ActorKind::timer, "");
  t.in(WaitClass::futex, t.stack("libc"));
  t.wait(busy, timer, 0, 500);
  t.wait(idle, timer, 0, waits);
  CHECK(merged(t.trace).vertices.size() == vertices);
}

TEST_CASE("threads of one name fall into as many groups as there are roles") {
  TraceByHand t(10'000);
  const ActorId timer = t.device(ActorKind::timer, "");
  std::vector<StackId> roles;
  roles.reserve(3);
  for (int i = 0; i < 3; ++i) roles.push_back(t.stack("role" + std::to_string(i)));
  for (std::size_t i = 0; i < 12; ++i) {
    const ActorId thread = t.thread("mariadbd");
    t.in(WaitClass::futex, roles[i % 3]);
    t.wait(thread, timer, 0, 100 + static_cast<Nanos>(i));
  }
  const Merged m = merged(t.trace);
  REQUIRE(m.vertices.size() == 4);
  CHECK(m.vertices[1].members == std::vector<ActorId>{1, 4, 7, 10});
  CHECK(m.vertices[2].members == std::vector<ActorId>{2, 5, 8, 11});
  CHECK(m.vertices[3].members == std::vector<ActorId>{3, 6, 9, 12});
}

TEST_CASE("threads that never waited are one group, and an open wait is a wait") {
  TraceByHand t(100);
  const ActorId busy1 = t.thread("w1"), idle1 = t.thread("w2"), busy2 = t.thread("w3"),
                idle2 = t.thread("w4");
  t.wait(idle1, kNoActor, 0, kNever);
  t.wait(idle2, kNoActor, 10, kNever);
  const Merged m = merged(t.trace);
  REQUIRE(m.vertices.size() == 2);
  CHECK(m.vertices[0].members == std::vector<ActorId>{busy1, busy2});
  CHECK(m.vertices[0].time.running_ns == 200);
  CHECK(m.vertices[1].members == std::vector<ActorId>{idle1, idle2});
  CHECK(m.vertices[1].time.open_wait_ns == 190);
}

TEST_CASE("idle edges of a device to a group are summed") {
  TraceByHand t(100);
  const ActorId w1 = t.thread("w1"), w2 = t.thread("w2");
  const ActorId disk = t.device(ActorKind::disk, "vda");
  t.wait(w1, disk, 0, 10);
  t.wait(w2, disk, 0, 10);
  Analysed a = analyse(t.trace);
  Edge idle;
  idle.from = disk;
  idle.to = w1;
  idle.wait_ns = idle.weight_ns = 60;
  Edge other = idle;
  other.to = w2;
  other.wait_ns = other.weight_ns = 30;
  add_edges(a.graph, {idle, other});
  const Merged m = merge_similar(TraceWithStandIns(t.trace), a.swept, a.graph);
  const Edge* const edge = find_edge(m.graph, m.vertex_of[disk], m.vertex_of[w1]);
  REQUIRE(edge != nullptr);
  CHECK(edge->weight_ns == 90);
}

TEST_CASE("processes merge if they are known to run one program, and not without that") {
  TraceByHand t(1000);
  std::vector<ActorId> workers;
  for (int i = 0; i < 4; ++i) {
    workers.push_back(t.thread("php-fpm"));
    Actor& actor = t.trace.actors.back();
    actor.tgid = actor.tid;
    actor.program = "/usr/sbin/php-fpm";
    actor.title = "php-fpm: pool www";
  }
  t.trace.actors[workers[3]].title = "php-fpm: master process (/etc/fpm)";
  t.in(WaitClass::poll, t.stack("accept"));
  for (const ActorId worker : workers) t.wait(worker, kNoActor, 10, 900);
  const Merged m = merged(t.trace);
  REQUIRE(m.vertices.size() == 2);
  CHECK(m.vertices[0].members == std::vector<ActorId>{workers[0], workers[1], workers[2]});
  for (const ActorId worker : workers) t.trace.actors[worker].program.clear();
  CHECK(merged(t.trace).vertices.size() == 4);
}

TEST_CASE("threads that start in different functions do not merge, however alike they wait") {
  TraceByHand t(1000);
  std::vector<ActorId> threads;
  for (int i = 0; i < 4; ++i) threads.push_back(t.thread("db"));
  const StackId wait = t.stack("wait");
  t.in(WaitClass::futex, wait);
  for (const ActorId thread : threads) t.wait(thread, kNoActor, 10, 900);
  CHECK(merged(t.trace).vertices.size() == 1);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const auto leaf = static_cast<FrameId>(t.trace.frames.size());
    t.trace.frames.push_back({.function = "read"});
    t.trace.frames.push_back({.function = i < 2 ? "connection" : "cleaner"});
    t.trace.stacks.push_back({{leaf, leaf + 1}});
    t.trace.cpu_samples.push_back({threads[i], static_cast<StackId>(t.trace.stacks.size() - 1), 5});
  }
  const Merged m = merged(t.trace);
  REQUIRE(m.vertices.size() == 2);
  CHECK(m.vertices[0].members == std::vector<ActorId>{threads[0], threads[1]});
}

}  // namespace
}  // namespace offwait
