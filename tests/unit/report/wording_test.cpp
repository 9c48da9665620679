// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording.h"

#include <catch2/catch.hpp>

#include "report/wording_answers.h"
#include "report/wording_disks.h"
#include "report/wording_sections.h"
#include "unit/analysis/scene.h"
#include "unit/report/sample.h"

using namespace offwait;
using test::kMs;
using test::Scene;

namespace {

std::string verdict(const Findings& findings) { return verdict_sentence(findings, raw_names(findings)); }

std::string excluded(const Findings& findings, std::size_t index) {
  return excluded_wait_sentence(findings, findings.excluded_waits.at(index), raw_names(findings));
}

}  // namespace

TEST_CASE("Each pattern has its advice") {
  CHECK(advice(Pattern::mixed) ==
        "No one kind of wait prevails: look at the heaviest edges and their stacks.");
  for (const Pattern pattern :
       {Pattern::lock_across_disk, Pattern::group_commit, Pattern::request_answer, Pattern::blocking_io,
        Pattern::cpu_starvation, Pattern::timer_driven, Pattern::lock_contention, Pattern::load_imbalance,
        Pattern::producer_consumer}) {
    CHECK(advice(pattern) != advice(Pattern::mixed));
    CHECK(advice(pattern).back() == '.');
  }
}

TEST_CASE("A wait for a saturated sink leads to it; one for a knot says that the knot does not wait back") {
  Scene scene;
  const ActorId a = scene.thread("A", 1);
  const ActorId b = scene.thread("B", 2);
  const ActorId c = scene.thread("C", 3);
  scene.wait(a, b, 100, 900);
  scene.wait(b, c, 100, 500);
  CHECK(excluded(scene.findings(), 0) == "A waits for C, directly or not, which is saturated.");

  Scene knot;
  knot.thread("a", 1);
  knot.thread("b", 2);
  knot.thread("client", 3);
  for (Nanos t = 0; t < 1000; t += 20) {
    knot.wait(0, 1, t, t + 10);
    knot.wait(1, 0, t + 10, t + 20);
  }
  knot.wait(2, 0, 15, 815);
  const Findings findings = knot.findings();
  CHECK(excluded(findings, 0) ==
        "Not in a knot: client waits for the knot, but nothing there waits for client.");
  CHECK(verdict(findings) ==
        "One knot limits throughput: at least one wait in it must get shorter before throughput can rise.");
}

TEST_CASE("A target that something keeps from running is told what") {
  Findings findings = sample_findings();
  findings.verdict = {};
  findings.verdict.rule = Verdict::Rule::stopped;
  findings.totals.target.lifetime_s = 4;
  findings.totals.stopped_s = 4;
  CHECK(verdict(findings) ==
        "Stopped: its threads did not run for 100% of their time, because a signal or a debugger had stopped "
        "them. Record it when it runs.");
  findings.totals.stopped_s = 0;
  findings.totals.frozen_s = 3;
  CHECK(verdict(findings) ==
        "Frozen: its threads did not run for 75% of their time, because their cgroup was frozen. Record it "
        "when it runs.");
}

TEST_CASE("Deadlocks come first, each circle in order of waiting; long ones are cut") {
  Findings findings = sample_findings();
  findings.verdict = {};
  findings.verdict.rule = Verdict::Rule::no_waits;
  const std::string rest =
      "No thread waited in the window: there is no wait to improve. The target ran 70% of one CPU.";
  CHECK(verdict(findings) == rest);
  findings.deadlocks = {{{{0, 1, "a"}, {0, 2, "b"}}}, {{{0, 4, "d"}}}};
  CHECK(verdict(findings) ==
        "Deadlock: a (tid 1) waits for the mutex of b (tid 2), which waits for that of a (tid 1). "
        "Deadlock: d (tid 4) waits for a mutex that it holds itself. " +
            rest);
  findings.deadlocks = {{{{0, 1, "a"}, {0, 2, "b"}, {0, 3, "c"}}}};
  CHECK(verdict(findings) ==
        "Deadlock: a (tid 1) waits for the mutex of b (tid 2), which waits for that of c (tid 3), which "
        "waits for "
        "that of a (tid 1). " +
            rest);
  findings.deadlocks = {{{{0, 1, "a"}, {0, 2, "b"}, {0, 3, "c"}, {0, 4, "d"}, {0, 5, "e"}}}};
  CHECK(verdict(findings) ==
        "Deadlock: a (tid 1) waits for the mutex of b (tid 2), which waits for that of c (tid 3), which "
        "waits for "
        "that of d (tid 4), which waits for that of e (tid 5), and so on through 5 threads. " +
            rest);
}

TEST_CASE("Nothing is balanced where a service is waited for, or where it is a guess whose work counts") {
  Findings findings = sample_findings();
  findings.progress = {{{{"B", 1}}, Progress::How::inferred, {1}, std::nullopt, 0.9}};
  FoundAnswer answer;
  answer.gain = 0.03;
  answer.actor = 1;
  findings.answers = {answer};
  findings.verdict = {};
  findings.verdict.rule = Verdict::Rule::asks;
  findings.verdict.asked = Peer{Peer::Role::service, "127.0.0.1", 7101};
  const auto heading = [&findings] {
    return answers_heading(findings, heading_of(findings), raw_names(findings));
  };
  CHECK_THAT(heading(), Catch::StartsWith("No knot, and nothing is saturated.") &&
                            Catch::Contains("mostly waited for service 127.0.0.1:7101") &&
                            Catch::Contains("did not show"));
  findings.held_back = HeldBack{};
  CHECK_THAT(heading(), !Catch::Contains("did not show"));
  findings.verdict.rule = Verdict::Rule::no_limit;
  CHECK_THAT(heading(), Catch::StartsWith("Balanced: no single change gains more than 3%"));
  findings.progress.front().threads.push_back({"A", 1});
  CHECK_THAT(heading(),
             Catch::StartsWith("What limits is not known, because it is not known which of these threads' "
                               "work counts: name them (--progress GLOB). No single change makes all of "
                               "them together faster by more than 3%, though one may make some of them much "
                               "faster"));
  findings.progress.front().how = Progress::How::clients;
  CHECK_THAT(heading(), Catch::StartsWith("Balanced"));
}

TEST_CASE("An idle target is told what it waits for") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId timer = scene.device(ActorKind::timer, "");
  const ActorId b = scene.thread("b", 2);
  scene.wait(a, timer, 0, 900, WaitClass::sleep);
  scene.wait(b, kNoActor, 0, -1, WaitClass::poll);
  CHECK(verdict(scene.findings()) ==
        "Idle: no knot, and nothing is saturated. The target ran 10% of one CPU, and its threads wait for "
        "events "
        "that did not come (53% of their blocked time), timers (47%).");
}

TEST_CASE("A target that lacks CPU is told how busy the machine's CPUs were") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId timer = scene.device(ActorKind::timer, "");
  scene.wait(a, timer, 0, 600, WaitClass::sleep);
  scene.trace.preemptions.push_back({a, 600 * kMs, 801 * kMs});
  CHECK(verdict(scene.findings()) ==
        "Lacks CPU: no knot, and nothing is saturated, but the target was ready to run for 201 ms without a "
        "CPU and ran for 199 ms.");
  scene.trace.recording.cpus = 2;
  scene.trace.recording.cpu_busy_ns = 1600 * kMs;
  scene.trace.recording.cpu_idle_ns = 400 * kMs;
  CHECK(verdict(scene.findings()) ==
        "Lacks CPU: no knot, and nothing is saturated, but the target was ready to run for 201 ms without a "
        "CPU and ran for 199 ms; the machine's CPUs were 80% busy. Other programs have CPUs that "
        "the target lacks: of 2, it has 0.20, others 1.40.");
  scene.trace.recording.cpu_idle_ns = 401 * kMs;
  CHECK(verdict(scene.findings()) ==
        "Lacks CPU: no knot, and nothing is saturated, but the target was ready to run for 201 ms without a "
        "CPU and ran for 199 ms; the machine's CPUs were 80% busy. Bursts: the CPUs were 80% busy "
        "on average, but not free when threads were ready: the target used 0.20 of 2, others 1.40.");
  scene.trace.recording.cpu_busy_ns = 1700 * kMs;
  scene.trace.recording.cpu_idle_ns = 300 * kMs;
  scene.trace.other_processes = {{71, "rustc", 700 * kMs, 100 * kMs}};
  CHECK(verdict(scene.findings()) ==
        "Lacks CPU: no knot, and nothing is saturated, but the target was ready to run for 201 ms without a "
        "CPU and ran for 199 ms; the machine's CPUs were 85% busy. Other programs have CPUs that the "
        "target lacks: of 2, it has 0.20, others 1.50 (rustc (pid 71) 0.80).");
}

TEST_CASE("A window without a wait says so") {
  Scene scene;
  scene.thread("a", 1);
  scene.trace.actors[0].exit = 300 * kMs;
  CHECK(verdict(scene.findings()) ==
        "No thread waited in the window: there is no wait to improve. The target ran 30% of one CPU.");
}

TEST_CASE("What a disk did, and what it could do") {
  Findings findings = sample_findings();
  FoundDisk& disk = findings.disks[0];
  FoundDiskActivity& activity = *disk.activity;
  disk.capacity_source = CapacitySource::given;
  CHECK(busy_text(findings, disk) == "busy 60% (something under way)");
  CHECK(requests_text(disk) == "1.25 requests at a time, 3.75 ms each: latency-bound");
  CHECK(rate_text(disk) == "200 IO/s, 100 MB/s");
  CHECK(capacity_text(findings, disk) ==
        "50% of its capacity used: 500 MB/s, 400 IO/s (given, raised to the highest rate seen)");
  CHECK(unseen_text(disk) == "1 request left out whose completion was not seen");
  CHECK(spare_text(findings, disk, "disk vda") ==
        "disk vda used 50% of its capacity (500 MB/s, 400 IO/s, given) and could have served more");
  disk.unseen = 0;
  CHECK(unseen_text(disk).empty());

  activity.kind = DiskKind::parallel;
  activity.in_flight_while_busy = 4.2;
  CHECK(requests_text(disk) == "4.20 requests at a time, 3.75 ms each: parallel or queued");
  disk.serves = 1;
  CHECK(requests_text(disk) == "4.20 requests at a time, 3.75 ms each: they queue, as it serves 1 at a time");
  CHECK(disk_sentence(findings, disk).find("(they queue, as it serves 1 at a time)") != std::string::npos);
  disk.serves = 8;
  CHECK(requests_text(disk) == "4.20 requests at a time, 3.75 ms each: parallel or queued");
  activity.kind = DiskKind::latency_bound;
  activity.in_flight_while_busy = 1.04;
  CHECK(requests_text(disk) == "one request at a time, 3.75 ms each: latency-bound");
  activity.kind = DiskKind::occasional;
  CHECK(requests_text(disk) == "one request at a time, 3.75 ms each");
  CHECK(disk_sentence(findings, disk) ==
        "Disk vda was busy for 60% of the window, with one request at a time, 3.75 ms each. 50% of its "
        "capacity was used (500 MB/s, 400 IO/s, given).");
  activity.ios = 0;
  CHECK(requests_text(disk) == "one request at a time, none of them complete");
  activity.kind = DiskKind::idle;
  CHECK(busy_text(findings, disk) == "idle: nothing under way");
  CHECK(requests_text(disk).empty());
  CHECK(disk_sentence(findings, disk) == "Disk vda had nothing under way.");
  disk.activity.reset();
  CHECK(busy_text(findings, disk) == "no request was seen");
  CHECK(requests_text(disk).empty());
  CHECK(disk_sentence(findings, disk) ==
        "Disk vda: 50% of its capacity was used (500 MB/s, 400 IO/s, given).");
}

TEST_CASE("No share of a capacity that is assumed is told, and nothing that rests on it") {
  Findings findings = sample_findings();
  FoundDisk& disk = findings.disks[0];
  REQUIRE(disk.capacity_source == CapacitySource::assumed);
  CHECK(capacity_text(findings, disk) ==
        "capacity assumed: 500 MB/s, 400 IO/s (raised to the highest rate seen; offwait calibrate measures "
        "it)");
  disk.capacity_raised = false;
  CHECK(capacity_text(findings, disk) ==
        "capacity assumed: 500 MB/s, 400 IO/s (offwait calibrate measures it)");
  CHECK(spare_text(findings, disk, "disk vda") ==
        "disk vda could have served more, by the capacity that is assumed for it (500 MB/s, 400 IO/s)");
  CHECK(disk_sentence(findings, disk) ==
        "Disk vda was busy for 60% of the window, with 1.25 requests at a time, 3.75 ms each "
        "(latency-bound).");
  for (const DiskKind kind : {DiskKind::ios_bound, DiskKind::bandwidth_bound}) {
    disk.activity->kind = kind;
    CHECK(requests_text(disk) == "1.25 requests at a time, 3.75 ms each");
  }
  disk.capacity_source = CapacitySource::measured;
  CHECK(requests_text(disk) == "1.25 requests at a time, 3.75 ms each: bandwidth-bound");
  disk.capacity_source = CapacitySource::assumed;
  FoundSink sink;
  sink.actor = 2;
  sink.busy_s = 9.6;
  sink.limit = SinkLimit::capacity;
  CHECK(sink_share(findings, sink) == "busy 60% (something under way)");
  CHECK(sink_text(findings, sink, 3) == "did as much as is assumed to be its capacity (500 MB/s, 400 IO/s)");
  sink.saturated = true;
  findings.sinks = {sink};
  findings.verdict = {};
  findings.verdict.rule = Verdict::Rule::saturated;
  findings.verdict.saturated = 1;
  CHECK(graph_sentence(findings, raw_names(findings)) ==
        "No knot: one actor is saturated. Its capacity limits, if it is what is assumed.");
  findings.disks[0].capacity_source = CapacitySource::given;
  CHECK(sink_text(findings, sink, 3) == "used 50% of its capacity (given)");
  CHECK(graph_sentence(findings, raw_names(findings)) ==
        "No knot: one actor is saturated. Its capacity limits.");
  disk.activity.reset();
  disk.capacity_source = CapacitySource::assumed;
  CHECK(disk_sentence(findings, disk) == "Disk vda: no request was seen.");
}

TEST_CASE("A knot with a disk says what that did; a paced sink how often it sleeps") {
  CHECK(evidence(sample_findings(), sample_findings().knots[0], raw_names(sample_findings())) ==
        "Disk vda was busy for 60% of the window, with 1.25 requests at a time, 3.75 ms each "
        "(latency-bound).");
  FoundSink sink;
  CHECK(evidence(sink).empty());
  CHECK(advice(sink).empty());
  sink.pattern = Pattern::timer_driven;
  sink.sleeps = {100, 0.9};
  CHECK(evidence(sink) == "100 sleeps, 9.00 ms each on average.");
  CHECK(advice(sink).starts_with("Usually the sleep is replaced"));
}

TEST_CASE("What several saturated, paced and remote actors limit, in one answer") {
  Findings findings = sample_findings();
  findings.verdict = {};
  findings.verdict.rule = Verdict::Rule::paced;
  findings.verdict.paced = 1;
  CHECK(verdict(findings) ==
        "No knot, and nothing is saturated. 1 actor sleeps or runs all the time while threads that do the "
        "work wait for it: how long it sleeps limits.");
  findings.verdict.rule = Verdict::Rule::saturated;
  findings.verdict.saturated = 2;
  findings.verdict.saturated_by = SinkLimit::cpu;
  findings.verdict.paced = 3;
  findings.verdict.remote = {{Peer::Role::service, "10.0.0.5", 3306}, 2, 9.5};
  CHECK(
      verdict(findings) ==
      "No knot: 2 actors are saturated. They lack CPU: ready to run, but mostly without one. 3 actors sleep "
      "or run all the time while threads that do the work wait for it: how long they sleep limits. The "
      "target waits for the remote service 10.0.0.5:3306 and 2 more, outside of this host (9.50 s): how "
      "long it takes limits.");
}

TEST_CASE("The pattern's evidence in numbers") {
  Findings findings = sample_findings();
  FoundKnot& knot = findings.knots[0];
  knot.pattern = Pattern::lock_contention;
  knot.evidence.classes = {{WaitClass::futex, 9.2}, {WaitClass::pipe, 0.8}};
  knot.evidence.releases = {10, 9.7, 0, 30, 10, 4, false, 8.6, true};
  CHECK(evidence(findings, knot, raw_names(findings)) ==
        "its waits are futex 92%, pipe 8.0%. 97% of the wait time ended in releases of several threads at "
        "once (3.00 on average). The thread that the others wait for spends 86% of that time in timed "
        "sleeps (a limit on the rate, a write stall, or a remote service).");
  knot.pattern = Pattern::lock_across_disk;
  knot.evidence.releases.kept_s = 8;
  knot.evidence.releases.kept_disk_s = 6;
  knot.evidence.releases.behind_disk_s = 9;
  knot.evidence.releases.then_disk_s = 8.1;
  CHECK(pattern_title(knot) == "lock held across a disk wait");
  CHECK(
      evidence(findings, knot, raw_names(findings))
          .starts_with(
              "For 90% of the time that its threads wait for each other, they wait for one that is at a disk "
              "meanwhile, for 75% of the time that it keeps them waiting. For 90% of this time the next "
              "thread "
              "then waits for the disk as well: they are there one after the other. Disk "
              "vda was busy"));
  knot.pattern = Pattern::lock_contention;
  CHECK(pattern_title(knot) == "lock contention (or a barrier)");
  knot.threads = 3;
  CHECK(pattern_title(knot) == "lock contention");
  knot.evidence.releases = {};
  knot.evidence.running_s = 6.42;
  knot.evidence.runnable_s = 24.1;
  knot.evidence.cpu_shortage = CpuShortage::besides;
  CHECK(
      evidence(findings, knot, raw_names(findings)) ==
      "its waits are futex 92%, pipe 8.0%. One thread is let go at a time. CPUs are short, too: its threads "
      "ran for 6.42 s and were runnable for 24.1 s; the machine's CPUs were 75% busy.");
}

TEST_CASE("What recording took is one line; -v says where, and compares it with its budget") {
  Recording recording;
  CHECK(cost_text(recording, false).empty());
  CHECK(cost_text(recording, true).empty());
  recording.cpu_busy_ns = 2000 * kMs;
  recording.cost.programs_ns = 30 * kMs;
  recording.cost.recorder_ns = 10 * kMs;
  recording.cost.most = 0.03;
  CHECK(cost_text(recording, false) ==
        "recording took 40.0 ms of CPU time, 2.0% of what all programs used (-v)");
  CHECK(cost_text(recording, true) ==
        "recording took 40.0 ms of CPU time, 2.0% of what all programs used: 30.0 ms in the kernel, 10.0 ms "
        "in offwait.");
  recording.cost.waits_with_stacks = 1500;
  recording.cost.waits_without_stacks = 8500;
  CHECK(cost_text(recording, false) ==
        "recording took 40.0 ms of CPU time, 2.0% of what all programs used; times by stack are estimates "
        "(-v)");
  CHECK_THAT(cost_text(recording, true),
             Catch::EndsWith("To keep within 3.0%, stacks were taken for 1,500 of 10,000 waits, by "
                             "chance and in proportion to their length: times by stack are estimates, "
                             "all other times are exact (--max-overhead off takes all)."));
  recording.cpu_busy_ns = 1000 * kMs;
  CHECK_THAT(cost_text(recording, true),
             Catch::EndsWith("The rest cannot be sampled away: waits and threads are always recorded."));
}
