// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/analyse.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "unit/analysis/scene.h"
#include "unit/report/stacks.h"

using namespace offwait;
using test::kMs;
using test::Scene;

TEST_CASE("Figure 3: A→B = t2−t0, B→C = 2(t1−t0)") {
  Scene scene;
  const ActorId a = scene.thread("A", 1);
  const ActorId b = scene.thread("B", 2);
  const ActorId c = scene.thread("C", 3);
  scene.wait(a, b, 100, 900);
  scene.wait(b, c, 100, 500);
  const Findings findings = scene.findings();
  REQUIRE(findings.edges.size() == 2);
  CHECK(findings.edges[0].from == a);
  CHECK(findings.edges[0].weight_s == 0.8);
  CHECK(findings.edges[0].waker_running_s == 0.4);
  CHECK(findings.edges[0].waker_blocked_s == 0.4);
  CHECK(findings.edges[1].from == b);
  CHECK(findings.edges[1].weight_s == 0.8);
  CHECK(findings.edges[1].wait_s == 0.4);
  // C runs all the time.
  CHECK(findings.verdict.kind() == Verdict::Kind::sink);
  REQUIRE(findings.sinks.size() == 1);
  CHECK(findings.sinks[0].actor == c);
  CHECK(findings.sinks[0].saturated);
  CHECK(findings.sinks[0].running_s == 1.0);
  REQUIRE(findings.excluded_waits.size() == 2);
  CHECK(findings.excluded_waits[0].reason == ExcludedWait::Reason::leads_in);
  CHECK(findings.edges[findings.excluded_waits[0].edge].from == a);
  CHECK(findings.excluded_waits[0].sink == 0U);
  CHECK_FALSE(findings.excluded_waits[0].knot);
}

TEST_CASE("Two threads that take turns are a knot; who waits for them is not") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId b = scene.thread("b", 2);
  const ActorId client = scene.thread("client", 3);
  for (Nanos t = 0; t < 1000; t += 20) {
    scene.wait(a, b, t, t + 10);
    scene.wait(b, a, t + 10, t + 20);
  }
  scene.wait(client, a, 15, 815);
  const Findings findings = scene.findings();
  CHECK(findings.verdict.kind() == Verdict::Kind::knot);
  REQUIRE(findings.knots.size() == 1);
  CHECK(findings.knots[0].actors == std::vector<FoundActorId>{a, b});
  CHECK_FALSE(findings.knots[0].background);
  CHECK(findings.knots[0].cpu_s == 1.0);
  REQUIRE(findings.excluded_waits.size() == 1);
  CHECK(findings.edges[findings.excluded_waits[0].edge].from == client);
  CHECK(findings.excluded_waits[0].reason == ExcludedWait::Reason::leads_in);
  CHECK(findings.excluded_waits[0].knot == 0U);
  CHECK_FALSE(findings.excluded_waits[0].waited_for);
}

TEST_CASE("A knot that hardly runs is background, and the answer when there is nothing else") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId b = scene.thread("b", 2);
  const ActorId timer = scene.device(ActorKind::timer, "");
  for (Nanos t = 0; t < 1000; t += 20) {
    scene.wait(a, timer, t, t + 4, WaitClass::sleep);
    scene.wait(b, a, t, t + 10);
    scene.wait(a, b, t + 10, t + 20);
    scene.wait(b, timer, t + 10, t + 14, WaitClass::sleep);
  }
  const Findings findings = scene.findings();
  CHECK(findings.verdict.kind() == Verdict::Kind::background);
  REQUIRE(findings.knots.size() == 1);
  CHECK(findings.knots[0].background);
  REQUIRE(findings.excluded_waits.size() == 2);
  CHECK(findings.excluded_waits[0].reason == ExcludedWait::Reason::to_pseudo);
}

TEST_CASE(
    "Threads that hold the mutexes which each other waits for are deadlocked; who waits for one of them is "
    "not") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId b = scene.thread("b", 2);
  const ActorId c = scene.thread("c", 3);
  const ActorId d = scene.thread("d", 4);
  const ActorId e = scene.thread("e", 5);
  const auto held_by = [&scene](ActorId waiter, ActorId holder) {
    scene.wait(waiter, kNoActor, 0, -1);
    scene.trace.waits.back().holder = holder;
  };
  held_by(a, b);
  held_by(b, a);
  held_by(c, a);
  held_by(d, d);
  held_by(e, c);
  const Findings findings = scene.findings();
  REQUIRE(findings.open_waits.size() == 5);
  std::map<int, std::pair<int, bool>> found;
  for (const FoundOpenWait& open : findings.open_waits) {
    REQUIRE(open.holder);
    found[open.tid] = {open.holder->tid, open.deadlock};
  }
  CHECK(found == std::map<int, std::pair<int, bool>>{
                     {1, {2, true}}, {2, {1, true}}, {3, {1, false}}, {4, {4, true}}, {5, {3, false}}});
  std::vector<std::vector<int>> circles;
  for (const Deadlock& deadlock : findings.deadlocks) {
    circles.emplace_back();
    for (const FoundThread& thread : deadlock.threads) {
      circles.back().push_back(thread.tid);
    }
  }
  CHECK(circles == std::vector<std::vector<int>>{{1, 2}, {4}});
  CHECK(findings.deadlocks[0].threads[0].name == "a");
  CHECK(findings.verdict.rule == Verdict::Rule::idle);
}

TEST_CASE("A target that sleeps is idle, and is told what it waits for") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId timer = scene.device(ActorKind::timer, "");
  const ActorId b = scene.thread("b", 2);
  scene.wait(a, timer, 0, 900, WaitClass::sleep);
  scene.wait(b, kNoActor, 0, -1, WaitClass::poll);
  const Findings findings = scene.findings();
  CHECK(findings.verdict.kind() == Verdict::Kind::idle);
  CHECK(findings.verdict.rule == Verdict::Rule::idle);
  CHECK(findings.totals.target.running_s == Approx(0.1));
  CHECK(findings.totals.waits_for ==
        std::map<BlockedBy, double>{{BlockedBy::nobody, 1.0}, {BlockedBy::timer, 0.9}});
  REQUIRE(findings.open_waits.size() == 1);
  CHECK(findings.open_waits[0].tid == 2);
  CHECK(findings.open_waits[0].wait_s == 1.0);
  CHECK(findings.open_waits[0].throughout);
  CHECK(findings.open_waits[0].wait_class == WaitClass::poll);
}

TEST_CASE("A target that is ready to run for longer than it runs lacks CPU, it is not idle") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId timer = scene.device(ActorKind::timer, "");
  scene.wait(a, timer, 0, 600, WaitClass::sleep);
  scene.trace.preemptions.push_back({a, 600 * kMs, 800 * kMs});
  const auto verdict = [&scene] { return scene.findings().verdict; };
  CHECK(verdict().kind() == Verdict::Kind::idle);
  scene.trace.preemptions[0].run += 1 * kMs;
  CHECK(verdict().kind() == Verdict::Kind::cpu);
  CHECK(verdict().rule == Verdict::Rule::lacks_cpu);
  CHECK(verdict().lacks_cpu);
  CHECK(scene.findings().totals.target.runnable_s == Approx(0.201));
  CHECK(scene.findings().totals.target.running_s == Approx(0.199));
  scene.trace.recording.cpus = 2;
  scene.trace.recording.cpu_busy_ns = 1600 * kMs;
  scene.trace.recording.cpu_idle_ns = 400 * kMs;
  CHECK(verdict().machine_full);
  scene.trace.recording.cpu_idle_ns = 401 * kMs;
  CHECK_FALSE(verdict().machine_full);
  // As little as that is not worth a verdict.
  scene.trace.waits[0].wake = scene.trace.waits[0].run = 610 * kMs;
  scene.trace.preemptions[0] = {a, 610 * kMs, 809 * kMs};
  CHECK(verdict().kind() == Verdict::Kind::idle);
}

TEST_CASE("An open wait that began in the window is not throughout, unless the thread was born with it") {
  Scene scene;
  const ActorId late = scene.thread("late", 1);
  const ActorId born = scene.thread("born", 2);
  const ActorId died = scene.thread("died", 3);
  scene.trace.actors[born].start = 600 * kMs;
  scene.trace.actors[died].exit = 700 * kMs;
  scene.wait(late, kNoActor, 500, -1);
  scene.wait(born, kNoActor, 600, -1);
  const Findings findings = scene.findings();
  REQUIRE(findings.open_waits.size() == 2);
  CHECK(findings.open_waits[0].wait_s == 0.5);
  CHECK_FALSE(findings.open_waits[0].throughout);
  CHECK(findings.open_waits[1].wait_s == 0.4);
  CHECK(findings.open_waits[1].throughout);
}

TEST_CASE("A window without a wait says so") {
  Scene scene;
  scene.thread("a", 1);
  scene.trace.actors[0].exit = 300 * kMs;
  const Findings findings = scene.findings();
  CHECK(findings.verdict.kind() == Verdict::Kind::none);
  CHECK(findings.verdict.rule == Verdict::Rule::no_waits);
  CHECK(findings.totals.target.running_s == Approx(0.3));
}

TEST_CASE("Losses: which actors they touch, apart from what was unknown anyway") {
  Scene scene;
  const ActorId a = scene.thread("a", 1);
  const ActorId late = scene.thread("late", 2);
  scene.trace.actors[late].seen = 400 * kMs;
  scene.trace.gaps.push_back({a, 100 * kMs, 300 * kMs});
  scene.trace.loss["ringbuf_full"] = 7;
  const Findings findings = scene.findings();
  CHECK(total_lost(findings) == 7);
  CHECK(findings.actors[a].lost_s == 0.2);
  CHECK(findings.actors[a].time.unknown_s == 0.2);
  CHECK(findings.actors[late].lost_s == 0);
  CHECK(findings.actors[late].time.unknown_s == 0.4);
}

TEST_CASE("Similar threads become a group with their tids, named by what their names share") {
  Scene scene;
  for (int i = 0; i < 3; ++i) {
    scene.thread("io-" + std::to_string(7 + i), 20 + i);
  }
  for (Nanos t = 0; t < 900; t += 3) {
    for (ActorId i = 0; i < 3; ++i) {
      scene.wait((i + 1) % 3, i, t + i, t + i + 1);
    }
  }
  const Findings merged = scene.findings();
  REQUIRE(merged.actors.size() == 1);
  CHECK(merged.actors[0].kind == ActorKind::group);
  CHECK(merged.actors[0].name == "io-*");
  CHECK(merged.actors[0].tids == std::vector<std::int32_t>{20, 21, 22});
  CHECK(merged.actors[0].ns_tids.empty());
  CHECK(merged.actors[0].time.lifetime_s == 3.0);
  REQUIRE(merged.edges.size() == 1);
  CHECK(merged.edges[0].from == merged.edges[0].to);
  CHECK(merged.edges[0].waits == 900);
  CHECK(merged.edges[0].wait_s == Approx(0.3));
  AnalysisOptions unmerged;
  unmerged.merge = false;
  const Findings findings = scene.findings(unmerged);
  CHECK(findings.actors.size() == 3);
  CHECK(findings.edges.size() == 3);
  CHECK_FALSE(findings.options.merge);
}

TEST_CASE("Idle edges come from disks and are marked; disks say what they could do") {
  Scene scene;
  const ActorId b = scene.thread("B", 1);
  const ActorId disk = scene.device(ActorKind::disk, "vda");
  scene.trace.capacities.push_back({disk, 1e6, 100, CapacitySource::given});
  for (Nanos t = 0; t < 1000; t += 20) {
    scene.wait(b, disk, t + 10, t + 20, WaitClass::disk);
    scene.trace.disk_ios.push_back({b, disk, (t + 10) * kMs, (t + 20) * kMs, 4096});
  }
  const Findings findings = scene.findings();
  REQUIRE(findings.edges.size() == 2);
  for (const FoundEdge& edge : findings.edges) {
    CHECK(edge.idle == (edge.from == disk));
  }
  REQUIRE(findings.disks.size() == 1);
  CHECK(findings.disks[0].ios == 50);
  CHECK(findings.disks[0].busy_s == Approx(0.5));
  CHECK(findings.disks[0].capacity_source == CapacitySource::given);
  REQUIRE(findings.knots.size() == 1);
  CHECK(findings.knots[0].pattern == Pattern::blocking_io);
  CHECK(findings.disks[0].idle_s == Approx(0.5));
  CHECK(findings.knots[0].threads == 1);
  CHECK(findings.knots[0].evidence.running_s == Approx(0.5));
  CHECK(findings.knots[0].evidence.blocked_s == Approx(0.5));
  CHECK(findings.knots[0].evidence.cpu_shortage == CpuShortage::none);
  CHECK(findings.excluded_waits.empty());
}

TEST_CASE("The threshold is a part of the window or a duration") {
  Scene scene;
  scene.thread("a", 1);
  AnalysisOptions options;
  options.min_weight = 0.3;
  options.noise = 0.02;
  CHECK(scene.findings(options).options.min_weight_s == 0.3);
  CHECK(scene.findings(options).options.noise_s == 0.02);
  options.min_weight_ns = 5 * kMs;
  CHECK(scene.findings(options).options.min_weight_s == 0.005);
  options.min_weight_ns = std::nullopt;
  options.min_weight = std::numeric_limits<double>::infinity();
  CHECK(scene.findings(options).options.min_weight_s == to_seconds(kNever));
}

TEST_CASE("What cannot be analysed is an error") {
  Scene empty;
  empty.trace.window = {5, 5};
  CHECK_FALSE(analyse(empty.trace, {}).ok());
  Scene each_other;
  const ActorId a = each_other.thread("a", 1);
  const ActorId b = each_other.thread("b", 2);
  each_other.wait(a, b, 100, 300);
  each_other.wait(b, a, 200, 400);
  const Result<Findings> impossible = analyse(each_other.trace, {});
  REQUIRE_FALSE(impossible.ok());
  CHECK(impossible.error().message.starts_with("thread 2 cannot have waited from 200000000 "));
}

TEST_CASE("a stage that sleeps all the time limits, and no idle pool is taken for the one that waits") {
  Scene scene;
  const ActorId work = scene.thread("work", 11);
  const ActorId remote = scene.thread("remote", 12);
  const ActorId pool = scene.thread("pool", 13);
  const ActorId cron = scene.thread("cron", 14);
  const ActorId timer = scene.device(ActorKind::timer, "");
  for (int t = 0; t < 1000; t += 10) {
    scene.wait(remote, timer, t, t + 9, WaitClass::sleep);
    scene.wait(work, remote, t + 2, t + 9);
  }
  scene.wait(cron, timer, 0, 995, WaitClass::sleep);
  scene.wait(pool, cron, 0, 995);
  const Findings findings = scene.findings();
  CHECK(findings.knots.empty());
  REQUIRE(findings.sinks.size() == 3);
  CHECK(findings.actors[findings.sinks[0].actor].name == "remote");
  CHECK(findings.sinks[0].paced);
  CHECK_FALSE(findings.sinks[0].saturated);
  CHECK(findings.sinks[0].asleep_s == Approx(0.9));
  CHECK(findings.sinks[0].pattern == Pattern::timer_driven);
  CHECK(findings.sinks[0].sleeps.count == 100);
  CHECK(findings.sinks[0].sleeps.sum_s == Approx(0.9));
  CHECK_FALSE(findings.sinks[1].pattern);
  CHECK_FALSE(findings.sinks[1].limits());
  CHECK_FALSE(findings.sinks[2].limits());
  CHECK(findings.verdict.kind() == Verdict::Kind::sink);
  CHECK(findings.verdict.rule == Verdict::Rule::paced);
  CHECK(findings.verdict.paced == 1);
  CHECK(findings.verdict.saturated == 0);
  CHECK_FALSE(findings.verdict.remote);

  // A poll with a time limit is no sleep: nobody knows what it polls for.
  Scene polls;
  polls.thread("work", 11);
  polls.thread("loop", 12);
  polls.device(ActorKind::timer, "");
  for (int t = 0; t < 1000; t += 10) {
    polls.wait(1, 2, t, t + 9, WaitClass::poll);
    polls.wait(0, 1, t + 2, t + 9);
  }
  for (const FoundSink& sink : polls.findings().sinks) {
    CHECK_FALSE(sink.limits());
  }
}

TEST_CASE(
    "Short-lived threads that sleep: shares and means are of all their waits, however many live at a time") {
  Scene scene;
  const ActorId timer = scene.device(ActorKind::timer, "");
  const ActorId shell = scene.thread("sh", 10, 10);
  for (Nanos t = 0; t < 1000; t += 100) {
    const int tid = static_cast<int>(11 + t / 100);
    const ActorId child = scene.thread("sleep", tid, tid);
    scene.trace.actors[child].parent = shell;
    scene.trace.actors[child].start = (t + 10) * kMs;
    scene.trace.actors[child].exit = (t + 90) * kMs;
    scene.wait(child, timer, t + 15, t + 85, WaitClass::sleep);
    scene.wait(shell, child, t + 15, t + 89, WaitClass::child);
  }
  const Findings findings = scene.findings();
  const auto edge = [&](const std::string& from, ActorKind to) {
    const auto found =
        std::find_if(findings.edges.begin(), findings.edges.end(), [&](const FoundEdge& candidate) {
          return findings.actors[candidate.from].name == from && findings.actors[candidate.to].kind == to;
        });
    REQUIRE(found != findings.edges.end());
    return *found;
  };
  CHECK(edge("sleep", ActorKind::timer).waits == 10);
  CHECK(edge("sleep", ActorKind::timer).each_s == Approx(0.070));
  CHECK(edge("sh", ActorKind::group).each_s == Approx(0.074));
  CHECK(edge("sleep", ActorKind::thread).waits == 10);
  CHECK(edge("sleep", ActorKind::thread).each_s == Approx(0.019));  // 10, then 20 nine times while none lives
  REQUIRE(findings.knots.size() == 1);
  // They are blocked for 0.70 s of 1.44 s: not most of it.
  CHECK(findings.knots[0].pattern == Pattern::mixed);
}

TEST_CASE("An edge says when its waits were, if that was in few phases and long enough") {
  Scene scene;
  const ActorId writer = scene.thread("writer", 1);
  const ActorId flusher = scene.thread("flusher", 2);
  const ActorId timer = scene.device(ActorKind::timer, "");
  for (Nanos t = 0; t < 1000; t += 100) {
    scene.wait(flusher, timer, t, t + 10, WaitClass::sleep);
  }
  scene.wait(writer, flusher, 320, 370);
  const Findings findings = scene.findings();
  for (const FoundEdge& edge : findings.edges) {
    if (edge.to != flusher) {
      CHECK_FALSE(edge.phases);
      continue;
    }
    REQUIRE(edge.phases);
    CHECK(edge.phases->share == 1.0);
    CHECK(edge.phases->length_s == 0.05);
    REQUIRE(edge.phases->ranges.size() == 1);
    CHECK(edge.phases->ranges[0].from_s == 0.32);
    CHECK(edge.phases->ranges[0].to_s == 0.37);
  }
  scene.trace.waits.back().wake -= 1 * kMs;
  scene.trace.waits.back().run -= 1 * kMs;
  for (const FoundEdge& edge : scene.findings().edges) {
    CHECK_FALSE(edge.phases);
  }
}

TEST_CASE("Edges and sinks say what code ran; stacks that differ in offsets and lines are one") {
  Scene scene;
  const ActorId a = scene.thread("A", 1);
  const ActorId b = scene.thread("B", 2);
  scene.wait(a, b, 100, 900);
  scene.trace.recording.sample_hz = 10;
  scene.trace.frames =
      frames({"hot+0x1 (p) at p.c:1", "hot+0x2 (p) at p.c:2", "cool+0x1 (p)", "main+0x5 (p)"});
  scene.trace.stacks = {{{0, 3}}, {{1, 3}}, {{2, 3}}};
  for (Nanos i = 0; i < 10; ++i) {
    scene.trace.cpu_samples.push_back({b, i < 3 ? 0U : i < 8 ? 1U : 2U, i * 100 * kMs});
  }
  const Findings findings = scene.findings();
  REQUIRE(findings.edges.size() == 1);
  const FoundSamples& samples = findings.edges[0].waker_samples;
  CHECK(samples.samples == 8);
  CHECK(samples.stacks_known == 2);
  REQUIRE(samples.stacks.size() == 2);
  CHECK(samples.stacks[0].share == Approx(7.0 / 8));
  CHECK(samples.stacks[0].samples == 7);
  CHECK(samples.stacks[0].stack == stack_of({"hot+0x2 (p) at p.c:2", "main+0x5 (p)"}));
  CHECK(samples.stacks[1].samples == 1);
  REQUIRE(findings.sinks.size() == 1);
  CHECK(findings.sinks[0].actor == b);
  CHECK(findings.sinks[0].samples.samples == 10);
  CHECK(findings.sinks[0].samples.stacks[0].share == Approx(0.8));
  CHECK(findings.sinks[0].samples.stacks[0].samples == 8);
}

TEST_CASE("Where chance chose the waits with stacks, the weight of a stack has a standard error") {
  Scene scene;
  const ActorId a = scene.thread("A", 1);
  const ActorId b = scene.thread("B", 2);
  const ActorId c = scene.thread("C", 3);
  scene.trace.frames = frames({"lock+0x1 (p)", "read+0x1 (p)"});
  scene.trace.stacks = {{{0}}, {{1}}};
  const auto wait = [&](ActorId thread, ActorId waker, StackId stack, Nanos from_ms, Nanos to_ms,
                        float stands_for) {
    scene.wait(thread, waker, from_ms, to_ms);
    scene.trace.sites.push_back({thread, waker, WaitClass::futex, stack, kNoStack});
    scene.trace.waits.back().site = static_cast<SiteId>(scene.trace.sites.size() - 1);
    scene.trace.waits.back().stands_for = stands_for;
  };
  wait(a, b, 0, 0, 300, 2);
  wait(a, b, 1, 300, 400, 3);
  wait(c, b, 0, 0, 400, 2);
  const Findings findings = scene.findings();
  REQUIRE(findings.edges.size() == 2);
  for (const FoundEdge& edge : findings.edges) {
    if (edge.from == c) {
      REQUIRE(edge.stacks.size() == 1);
      CHECK(edge.stacks[0].weight_error_s == 0);
      continue;
    }
    // Of 0.4 s, three quarters and one: each one's own waits count by the other's part.
    const double error = std::sqrt(0.25 * 0.25 * (2 * 0.3 * 0.3) + 0.75 * 0.75 * (6 * 0.1 * 0.1));
    REQUIRE(edge.stacks.size() == 2);
    CHECK(edge.stacks[0].weight_error_s == Approx(error));
    CHECK(edge.stacks[1].weight_error_s == Approx(error));
  }
}

TEST_CASE("The target's wait time by how far its user stacks reach") {
  Scene scene;
  const ActorId a = scene.thread("A", 1);
  const ActorId b = scene.thread("B", 2);
  scene.trace.actors[b].outside = true;
  const ActorId timer = scene.device(ActorKind::timer, "");
  scene.trace.frames = frames(
      {"schedule+0x1 ([kernel])", "ext4_sync+0x1 ([ext4])", "main+0x1 (p)", "__vdso_gettime+0x1 ([vdso])"});
  scene.trace.stacks = {
      {{0, 2}}, {{2}}, {{3}}, {{0, 1}}, {{0, 2}, StackCut::no_frame_pointer}, {{2}, StackCut::deep}};
  const auto wait = [&](ActorId thread, StackId stack, Nanos from_ms, Nanos to_ms) {
    scene.wait(thread, timer, from_ms, to_ms, WaitClass::sleep);
    scene.trace.sites.push_back({thread, timer, WaitClass::sleep, stack, kNoStack});
    scene.trace.waits.back().site = static_cast<SiteId>(scene.trace.sites.size() - 1);
  };
  wait(a, 0, 0, 100);
  wait(a, 1, 100, 300);
  wait(a, 2, 300, 310);
  wait(a, 3, 310, 330);
  wait(a, 4, 330, 380);
  wait(a, 5, 380, 381);
  wait(a, kNoStack, 400, 405);
  wait(b, 5, 0, 900);
  const StackEnds ends = scene.findings().stack_ends;
  CHECK(ends.complete_s == Approx(0.31));
  CHECK(ends.missing_s == Approx(0.025));
  REQUIRE(ends.cut_s.size() == 2);
  CHECK(ends.cut_s.at(StackCut::no_frame_pointer) == Approx(0.05));
  CHECK(ends.cut_s.at(StackCut::deep) == Approx(0.001));
}

TEST_CASE("an analysis tells its steps one after the other") {
  Scene scene;
  const ActorId a = scene.thread("A", 1);
  scene.wait(a, scene.thread("B", 2), 100, 900);
  std::vector<AnalysisStep> steps;
  AnalysisOptions options;
  options.begins = [&steps](AnalysisStep step) { steps.push_back(step); };
  scene.findings(options);
  CHECK(steps ==
        std::vector{AnalysisStep::waits, AnalysisStep::replay, AnalysisStep::sweep, AnalysisStep::graph});
  steps.clear();
  options.answers = false;
  scene.findings(options);
  CHECK(steps == std::vector{AnalysisStep::waits, AnalysisStep::sweep, AnalysisStep::graph});
}
