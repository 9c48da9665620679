// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/verdict.h"

#include <catch2/catch.hpp>

using namespace offwait;
using Rule = Verdict::Rule;

namespace {

/// A window of 10 s in which the target ran for 6 s.
Findings quiet() {
  Findings findings;
  findings.window_s = 10;
  findings.totals.waits = 5;
  findings.totals.target.running_s = 6;
  return findings;
}

FoundSink sink(bool saturated, bool paced, SinkLimit limit) {
  FoundSink out;
  out.saturated = saturated;
  out.paced = paced;
  out.limit = limit;
  return out;
}

Rule rule_of(const Findings& findings) { return find_verdict(findings, std::nullopt).rule; }

}  // namespace

TEST_CASE("the rules, from the last one to the first: each goes before those after it") {
  Findings findings = quiet();
  CHECK(rule_of(findings) == Rule::no_limit);
  findings.totals.target.running_s = 4.9;
  CHECK(rule_of(findings) == Rule::idle);
  findings.totals.target.runnable_s = 5;
  CHECK(rule_of(findings) == Rule::lacks_cpu);
  findings.totals.waits = 0;
  CHECK(rule_of(findings) == Rule::no_waits);
  findings.knots.resize(1);
  findings.knots[0].background = true;
  CHECK(rule_of(findings) == Rule::background);
  findings.actors.resize(1);
  findings.edges.resize(1);
  findings.edges[0].wait_s = 5;
  CHECK(find_verdict(findings, 0).rule == Rule::requests);
  findings.sinks = {sink(false, true, SinkLimit::execution)};
  CHECK(find_verdict(findings, 0).rule == Rule::paced);
  findings.sinks.push_back(sink(true, false, SinkLimit::capacity));
  CHECK(find_verdict(findings, 0).rule == Rule::saturated);
  findings.knots.resize(2);
  CHECK(find_verdict(findings, 0).rule == Rule::knots);
  CHECK(find_verdict(findings, 0).knots == 1);
  CHECK(find_verdict(findings, 0).saturated == 1);
  CHECK(find_verdict(findings, 0).paced == 1);
  findings.totals.target.lifetime_s = 20;
  findings.totals.stopped_s = 8;
  findings.totals.frozen_s = 2;
  CHECK(find_verdict(findings, 0).rule == Rule::knots);
  findings.totals.frozen_s = 2.1;
  CHECK(find_verdict(findings, 0).rule == Rule::stopped);
}

TEST_CASE("a target that lacks CPU is not idle unless it waits for requests for half of the window") {
  Findings findings = quiet();
  findings.totals.target = {1, 2, 20, 0, 23};
  findings.actors.resize(1);
  findings.edges.resize(1);
  findings.edges[0].wait_s = 4.9;
  CHECK(find_verdict(findings, 0).rule == Rule::lacks_cpu);
  findings.edges[0].wait_s = 5;
  CHECK(find_verdict(findings, 0).rule == Rule::requests);
  findings.edges[0].wait_s = 1;
  findings.totals.target.runnable_s = 1.9;
  CHECK_FALSE(find_verdict(findings, 0).lacks_cpu);
  CHECK(find_verdict(findings, 0).rule == Rule::requests);
}

TEST_CASE("what saturated sinks lack: execution goes before CPU, CPU before capacity") {
  Findings findings = quiet();
  findings.sinks = {sink(true, false, SinkLimit::capacity), sink(false, true, SinkLimit::execution)};
  CHECK(find_verdict(findings, std::nullopt).saturated_by == SinkLimit::capacity);
  findings.sinks.push_back(sink(true, false, SinkLimit::cpu));
  CHECK(find_verdict(findings, std::nullopt).saturated_by == SinkLimit::cpu);
  findings.sinks.push_back(sink(true, false, SinkLimit::execution));
  CHECK(find_verdict(findings, std::nullopt).saturated_by == SinkLimit::execution);
}

TEST_CASE("remote services of all interfaces are one limit, named by the one that is waited for longest") {
  Findings findings = quiet();
  findings.sinks = {sink(false, true, SinkLimit::remote_service),
                    sink(false, true, SinkLimit::remote_service)};
  findings.sinks[0].remote_s = 5;
  findings.sinks[0].services = {{{Peer::Role::service, "a", 1}, 3}, {{Peer::Role::service, "b", 1}, 2}};
  findings.sinks[1].remote_s = 4;
  findings.sinks[1].services = {{{Peer::Role::service, "b", 1}, 2}, {{Peer::Role::service, "c", 1}, 2}};
  const Verdict verdict = find_verdict(findings, std::nullopt);
  CHECK(verdict.rule == Rule::paced);
  CHECK(verdict.paced == 0);
  REQUIRE(verdict.remote);
  CHECK(verdict.remote->longest.address == "b");
  CHECK(verdict.remote->others == 2);
  CHECK(verdict.remote->wait_s == 9);
}

TEST_CASE("the machine is full from 80 % on, or when that is not known") {
  Findings findings = quiet();
  CHECK(find_verdict(findings, std::nullopt).machine_full);
  findings.recording.cpu_busy_ns = 80;
  findings.recording.cpu_idle_ns = 20;
  CHECK(find_verdict(findings, std::nullopt).machine_full);
  findings.recording.cpu_idle_ns = 21;
  CHECK_FALSE(find_verdict(findings, std::nullopt).machine_full);
}

TEST_CASE("a target that waits for a service for half of the window is not idle") {
  Findings findings = quiet();
  findings.totals.target.running_s = 4.9;
  findings.actors.resize(2);
  findings.actors[0].tids = {1, 2};
  findings.edges.resize(1);
  findings.edges[0].from = 0;
  findings.edges[0].to = 1;
  findings.edges[0].peers = {{{Peer::Role::service, "127.0.0.1", 81}, 3, 10}};
  CHECK(rule_of(findings) == Rule::asks);
  CHECK(find_verdict(findings, std::nullopt).asked == Peer{Peer::Role::service, "127.0.0.1", 81});
  findings.edges[0].peers[0].wait_s = 9.9;  // of two threads
  CHECK(rule_of(findings) == Rule::idle);
  findings.edges[0].peers[0].wait_s = 20;
  findings.edges[0].peers[0].peer.role = Peer::Role::client;
  CHECK(rule_of(findings) == Rule::idle);
  findings.edges[0].peers[0].peer.role = Peer::Role::service;
  findings.actors[0].outside = true;
  CHECK(rule_of(findings) == Rule::idle);
}

TEST_CASE("each rule is one kind of answer") {
  using Kind = Verdict::Kind;
  const auto kind = [](Rule rule) {
    Verdict verdict;
    verdict.rule = rule;
    return verdict.kind();
  };
  CHECK(kind(Rule::knots) == Kind::knot);
  CHECK(kind(Rule::saturated) == Kind::sink);
  CHECK(kind(Rule::paced) == Kind::sink);
  CHECK(kind(Rule::requests) == Kind::idle);
  CHECK(kind(Rule::background) == Kind::background);
  CHECK(kind(Rule::no_waits) == Kind::none);
  CHECK(kind(Rule::lacks_cpu) == Kind::cpu);
  CHECK(kind(Rule::asks) == Kind::none);
  CHECK(kind(Rule::idle) == Kind::idle);
  CHECK(kind(Rule::no_limit) == Kind::none);
}
