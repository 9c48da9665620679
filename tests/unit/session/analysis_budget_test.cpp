// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/analysis_budget.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

using Kind = AnalysisBudget::Kind;

/// Seconds on two CPUs; recording takes `recording` of each.
void add_seconds(AnalysisBudget& budget, int seconds, Nanos recording, std::uint64_t waits = 1000) {
  for (int i = 0; i < seconds; ++i) budget.add(kSecond, 2 * kSecond, recording, waits);
}

void run(AnalysisBudget& budget, Kind kind, Nanos cost) {
  budget.begins(kind);
  budget.spent(kind, cost);
}

}  // namespace

TEST_CASE("The first analysis of each kind begins whatever it costs") {
  AnalysisBudget budget(0.05);
  CHECK_FALSE(budget.due());
  add_seconds(budget, 2, kSecond);
  CHECK(budget.due() == Kind::graph);
  run(budget, Kind::graph, kSecond);
  add_seconds(budget, 8, kSecond);
  CHECK(budget.due() == Kind::answers);
}

TEST_CASE("An analysis begins when as much is saved as the last one took, after it was paid off") {
  AnalysisBudget budget(0.05);
  add_seconds(budget, 2, 0);
  run(budget, Kind::graph, kSecond / 2);
  add_seconds(budget, 8, 0);
  run(budget, Kind::answers, 100 * kSecond);
  // 0.05 × 2 CPUs are 100 ms a second, half of which is for the graph; 500 ms were saved, and are spent.
  int seconds = 0;
  while (!budget.due()) {
    add_seconds(budget, 1, 0);
    ++seconds;
  }
  CHECK(budget.due() == Kind::graph);
  CHECK(seconds == 10);
}

TEST_CASE("What recording takes is not saved, but a part of the budget always is") {
  AnalysisBudget half(0.05);
  AnalysisBudget all(0.05);
  const auto seconds_until_due = [](AnalysisBudget& budget, Nanos recording) {
    add_seconds(budget, 2, recording);
    run(budget, Kind::graph, kSecond / 10);
    run(budget, Kind::answers, 100 * kSecond);
    int seconds = 0;
    for (; !budget.due() && seconds < 1000; ++seconds) add_seconds(budget, 1, recording);
    return seconds;
  };
  // 50 ms are left, 25 for each kind; in the two seconds before 50 were saved, and 100 are spent.
  CHECK(seconds_until_due(half, kSecond / 20) == 6);
  CHECK(seconds_until_due(all, kSecond) == 18);
}

TEST_CASE("An analysis that takes long comes again") {
  AnalysisBudget budget(0.05);
  add_seconds(budget, 10, 0);
  run(budget, Kind::answers, 5 * kSecond);
  int seconds = 0;
  bool again = false;
  for (; !again && seconds < 1000; ++seconds) {
    add_seconds(budget, 1, 0);
    const std::optional<Kind> due = budget.due();
    again = due == Kind::answers;
    if (due == Kind::graph) run(budget, Kind::graph, kSecond / 10);
  }
  CHECK(again);
}

TEST_CASE("Without a limit the graph is analysed every other second, and answers every 10") {
  AnalysisBudget budget(0);
  int graphs = 0;
  int answers = 0;
  for (int i = 0; i < 60; ++i) {
    add_seconds(budget, 1, 0);
    const std::optional<Kind> due = budget.due();
    if (!due) continue;
    run(budget, *due, 10 * kSecond);
    ++(*due == Kind::graph ? graphs : answers);
  }
  CHECK(answers == 6);
  CHECK(graphs == 24);
}

TEST_CASE("The more waits there are, the less of the recording is analysed") {
  AnalysisBudget budget(0.05);
  CHECK(budget.length(Kind::answers) == 10 * kSecond);
  add_seconds(budget, 10, 0, 20'000);
  CHECK(budget.length(Kind::answers) == 10 * kSecond);
  CHECK(budget.length(Kind::graph) == 2 * kSecond);
  add_seconds(budget, 60, 0, 100'000);
  CHECK(budget.length(Kind::answers) == 2 * kSecond);
  CHECK(budget.length(Kind::graph) == kSecond);
}
