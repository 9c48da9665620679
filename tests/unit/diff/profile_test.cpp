// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/profile.h"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <string>

#include "analysis/analyse.h"
#include "unit/diff/server.h"

using namespace offwait;
using namespace offwait::test;

namespace {

double all_weights(const Profile& profile) {
  return std::accumulate(profile.edges.begin(), profile.edges.end(), 0.0,
                         [](double sum, const auto& edge) { return sum + sum_of(edge.second.weight); });
}

const EdgeSums* edge_to(const Profile& profile, EndKey::Kind kind, const std::string& waiter = "srv-0") {
  for (const auto& [key, sums] : profile.edges) {
    if (key.to.kind == kind && key.from.thread.name == waiter) return &sums;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("pieces add up to the edges of the report's graph without merging") {
  Server server;
  server.seconds = 2;
  const Trace trace = recorded(server, 1);
  const Result<Profile> profile = profile_of(trace, {});
  REQUIRE(profile.ok());
  AnalysisOptions options;
  options.answers = false;
  options.merge = false;
  const Result<Findings> findings = analyse(trace, options);
  REQUIRE(findings.ok());
  double wait_s = 0;
  std::uint64_t waits = 0;
  double weight_s = 0;
  for (const FoundEdge& edge : findings->edges) {
    if (edge.idle) continue;
    wait_s += edge.wait_s;
    waits += edge.waits;
    weight_s += edge.weight_s;
  }
  double sum_s = 0;
  double sum = 0;
  for (const auto& [key, sums] : profile->edges) {
    sum_s += sum_of(sums.wait);
    sum += sum_of(sums.waits);
  }
  CHECK(sum_s == Approx(wait_s));
  CHECK(sum == static_cast<double>(waits));
  CHECK(all_weights(*profile) == Approx(weight_s));
  CHECK(profile->how == Progress::How::clients);
  CHECK(profile->units > 1000);
  CHECK(profile->window_s == 2);
}

TEST_CASE("times of threads add up, without idle waits") {
  const Trace trace = recorded({}, 1);
  const Result<Profile> profile = profile_of(trace, {});
  REQUIRE(profile.ok());
  double busy_s = 0;
  for (const auto& [key, time] : profile->times) {
    if (key.thread.name == "srv-0") busy_s += sum_of(time);
  }
  // Four workers; what they wait for at the end is not known.
  CHECK(busy_s == Approx(4 * 0.4).epsilon(0.02));
  const EdgeSums* const disk = edge_to(*profile, EndKey::Kind::disk);
  REQUIRE(disk != nullptr);
  double at_disk_s = 0;
  for (const auto& [key, sums] : profile->functions_by_time) {
    if (key.function.function == "fdatasync") at_disk_s += sum_of(sums.time);
  }
  CHECK(at_disk_s == Approx(sum_of(disk->wait)));
  CHECK(disk->classes.at(WaitClass::disk) == Approx(sum_of(disk->wait)));
  CHECK_FALSE(disk->stack.empty());
  double idle_s = 0;
  for (const auto& [key, time] : profile->times) {
    if (key.thread.name == "idle" && key.kind != TimeKind::cpu) idle_s += sum_of(time);
  }
  CHECK(idle_s == 0);
}

TEST_CASE("threads that work counts, and those that nobody waits for do not") {
  const Result<Profile> profile = profile_of(recorded({}, 1), {});
  REQUIRE(profile.ok());
  for (const auto& [key, sums] : profile->threads) {
    if (key.name == "srv-0") {
      CHECK(sums.counts);
      CHECK(sums.threads == 4);
      CHECK(sums.name == "srv-*");
    }
    if (key.name == "house" || key.name == "idle") CHECK_FALSE(sums.counts);
  }
}

TEST_CASE("waits at one lock are one row, with the function that takes it") {
  const Result<Profile> profile = profile_of(recorded({}, 1), {});
  REQUIRE(profile.ok());
  REQUIRE(profile->locks.size() == 1);
  const auto& [key, sums] = *profile->locks.begin();
  CHECK(key.lock.function == "store");
  const EdgeSums* const edge = edge_to(*profile, EndKey::Kind::thread);
  REQUIRE(edge != nullptr);
  CHECK(sum_of(sums.wait) == Approx(sum_of(edge->wait)));
  CHECK(sums.waits == edge->waits);
}

TEST_CASE("CPU time goes to the functions that samples show") {
  Server server;
  server.locked_ms = 0;
  server.more =
      "on_cpu 101 at=100000 stack=--;work;serve\n"
      "on_cpu 102 at=200000000 stack=--;work;serve\n"
      "on_cpu 103 at=300000000 stack=--;other;serve\n";
  const Result<Profile> profile = profile_of(recorded(server, 1), {});
  REQUIRE(profile.ok());
  double cpu_s = 0;
  for (const auto& [key, time] : profile->times) {
    if (key.kind == TimeKind::cpu && key.thread.name == "srv-0") cpu_s += sum_of(time);
  }
  std::map<std::string, double> of_function;
  for (const auto& [key, sums] : profile->functions_by_time)
    of_function[key.function.function] += sums.by_kind[static_cast<std::size_t>(TimeKind::cpu)];
  CHECK(of_function["work"] == Approx(2 * cpu_s / 3));
  CHECK(of_function["other"] == Approx(cpu_s / 3));
}
