// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/rankings.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

using Actors = std::vector<FoundActorId>;

Findings four_threads() {
  Findings findings;
  findings.actors.resize(4);
  return findings;
}

FoundEdge edge_between(FoundActorId from, FoundActorId to) {
  FoundEdge edge;
  edge.from = from;
  edge.to = to;
  return edge;
}

}  // namespace

TEST_CASE("actors are ranked by what they lost, and the target's by how long they lacked a CPU") {
  Findings findings = four_threads();
  findings.actors[1].lost_s = 1;
  findings.actors[3].lost_s = 2;
  CHECK(actors_with_losses(findings) == Actors{3, 1});
  findings.actors[0].time.runnable_s = 1;
  findings.actors[2].time.runnable_s = 3;
  findings.actors[3].time.runnable_s = 9;
  findings.actors[3].outside = true;
  CHECK(actors_by_runnable(findings) == Actors{2, 0});
}

TEST_CASE("a knot is a simple cycle if each waits for one other, all in one round") {
  Findings findings = four_threads();
  findings.edges = {edge_between(0, 2), edge_between(2, 1), edge_between(1, 0), edge_between(0, 1)};
  FoundKnot knot;
  knot.actors = {0, 1, 2};
  knot.edges = {0, 1, 2};
  CHECK(simple_cycle(findings, knot, 6) == Actors{0, 2, 1});
  CHECK(simple_cycle(findings, knot, 2).empty());
  knot.edges = {0, 1, 2, 3};
  CHECK(simple_cycle(findings, knot, 6).empty());
}

TEST_CASE("sums over edges, stacks, disks and steps") {
  FoundEdge edge;
  edge.classes = {{WaitClass::disk, 1}, {WaitClass::futex, 3}};
  CHECK(classes_by_time(edge.classes).front() == std::pair(WaitClass::futex, 3.0));
  Totals totals;
  totals.waits_for = {{BlockedBy::disk, 1}, {BlockedBy::timer, 3}, {BlockedBy::unknown, 2}};
  CHECK(blockers_by_time(totals).front() == std::pair(BlockedBy::timer, 3.0));
  CHECK(blockers_by_time(totals).back() == std::pair(BlockedBy::disk, 1.0));
  const StackEnds ends{5, 1, {{StackCut::deep, 1}, {StackCut::no_rule, 2}}};
  CHECK(all_s(ends) == 9);
  CHECK(cuts_by_time(ends).front() == std::pair(StackCut::no_rule, 2.0));
  FoundDisk disk;
  disk.users = {{std::nullopt, 3, 1, 0, 0}, {0, 4, 1, 0, 0}};
  CHECK(bytes_of_users(disk) == 7);
  const NoiseSum noise = noise_of({{RefinementStep::Reason::noise, 0, std::nullopt, 1},
                                   {RefinementStep::Reason::light, 0, std::nullopt, 8},
                                   {RefinementStep::Reason::noise, 1, std::nullopt, 2}});
  CHECK(noise.edges == 2);
  CHECK(noise.weight_s == 3);
}
