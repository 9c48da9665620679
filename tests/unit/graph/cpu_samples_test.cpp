// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/cpu_samples.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "reference/recursion.h"
#include "traces.h"

namespace offwait {
namespace {

using Ends = std::pair<std::uint32_t, std::uint32_t>;
using Rows = std::vector<std::vector<std::uint64_t>>;

Rows rows(const std::vector<StackSamples>& all) {
  Rows out;
  for (const StackSamples& one : all) out.push_back({one.stack, one.samples, one.waiting});
  return out;
}

TEST_CASE("an edge has the waker's samples during its waits, half open, by stack") {
  test::TraceByHand t(1000);
  const ActorId a = t.thread();
  const ActorId b = t.thread();
  const StackId f = t.stack("f");
  const StackId g = t.stack("g");
  t.wait(a, b, 100, 200);
  t.wait(a, b, 300, 400);
  t.wait(a, t.device(ActorKind::timer, ""), 500, 600);
  t.trace.cpu_samples = {{b, f, 399}, {b, f, 100}, {b, g, 150}, {b, g, 200},
                         {b, g, 99},  {a, f, 150}, {b, f, 550}, {b, f, 1000}};
  const CpuSampleSums sums = sum_cpu_samples(t.trace, {0, 1, 2}, 3);
  REQUIRE(sums.by_edge.size() == 1);
  CHECK(rows(sums.by_edge.at(Ends{a, b})) == Rows{{f, 2, 2}, {g, 1, 1}});
  REQUIRE(sums.by_vertex.size() == 3);
  CHECK(rows(sums.by_vertex[a]) == Rows{{f, 1, 0}});
  CHECK(rows(sums.by_vertex[b]) == Rows{{f, 3, 0}, {g, 3, 0}});
  CHECK(sums.by_vertex[2].empty());
}

TEST_CASE("a sample counts once, and once for each thread of a group that waited") {
  test::TraceByHand t(1000);
  const ActorId a = t.thread();
  const ActorId b = t.thread();
  const ActorId c = t.thread();
  const StackId f = t.stack("f");
  t.wait(a, c, 100, 200);
  t.wait(b, c, 150, 300);
  t.trace.cpu_samples = {{c, f, 120}, {c, f, 170}, {c, f, 250}};
  const CpuSampleSums sums = sum_cpu_samples(t.trace, {0, 0, 1}, 2);
  CHECK(rows(sums.by_edge.at(Ends{0, 1})) == Rows{{f, 3, 4}});
}

TEST_CASE("samples are counted as the slow oracle counts them, on random histories") {
  std::uint64_t counted = 0, several = 0, outside = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Trace trace = test::random_history(seed);
    std::mt19937_64 random(seed);
    constexpr StackId kStacks = 3;
    for (StackId stack = 0; stack < kStacks; ++stack) {
      trace.frames.push_back({.function = "f" + std::to_string(stack)});
      trace.stacks.push_back({{static_cast<FrameId>(trace.frames.size() - 1)}});
    }
    const auto first_stack = static_cast<StackId>(trace.stacks.size() - kStacks);
    for (int i = 0; i < 60; ++i) {
      const auto thread = static_cast<ActorId>(random() % trace.actors.size());
      if (trace.actors[thread].kind != ActorKind::thread) continue;
      // Some samples are at the very begin or end of a wait.
      const Wait& wait = trace.waits[random() % trace.waits.size()];
      const auto anywhere =
          trace.window.begin - 100 +
          static_cast<Nanos>(random() % static_cast<std::uint64_t>(trace.window.length() + 200));
      const Nanos at = i % 3 == 0 ? wait.block : i % 3 == 1 && wait.wake != kNever ? wait.wake : anywhere;
      trace.cpu_samples.push_back({thread, first_stack + static_cast<StackId>(random() % kStacks), at});
    }
    const auto vertices = static_cast<std::uint32_t>(1 + random() % trace.actors.size());
    std::vector<std::uint32_t> vertex_of;
    std::vector<std::vector<ActorId>> members(vertices);
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      vertex_of.push_back(static_cast<std::uint32_t>(random() % vertices));
      members[vertex_of.back()].push_back(id);
    }
    const CpuSampleSums sums = sum_cpu_samples(trace, vertex_of, vertices);
    std::uint64_t in_sums = 0, in_oracle = 0;
    for (const auto& [ends, stacks] : sums.by_edge) {
      for (const StackSamples& one : stacks) {
        const reference::SampleCounts expected =
            reference::samples_meanwhile(trace, members[ends.first], members[ends.second], one.stack);
        REQUIRE(one.samples == expected.samples);
        REQUIRE(one.waiting == expected.waiting);
        in_sums += one.waiting;
        several += one.waiting > one.samples ? 1 : 0;
      }
    }
    // Together all threads have all samples.
    std::vector<ActorId> all;
    for (ActorId id = 0; id < trace.actors.size(); ++id) all.push_back(id);
    for (StackId stack = first_stack; stack < first_stack + kStacks; ++stack) {
      in_oracle += reference::samples_meanwhile(trace, all, all, stack).waiting;
    }
    REQUIRE(in_sums == in_oracle);
    counted += in_sums;
    for (const CpuSample& sample : trace.cpu_samples) {
      outside += sample.at < trace.window.begin || sample.at >= trace.window.end ? 1 : 0;
    }
  }
  CHECK(counted >= 1000);
  CHECK(several >= 10);
  CHECK(outside >= 100);
}

}  // namespace
}  // namespace offwait
