// SPDX-License-Identifier: GPL-2.0-or-later
// What took the CPUs from threads that were ready to run.
#include "analysis/cpu_supply.h"

#include <catch2/catch.hpp>

#include "unit/analysis/scene.h"

namespace offwait {
namespace {

using Cause = CpuSupply::Cause;
using test::kMs;
using test::Scene;

/// Two threads on two CPUs in a window of 1 s: each runs for 400 ms, is ready for 400 ms and sleeps for 200
/// ms.
Scene ready_threads() {
  Scene scene;
  const ActorId timer = scene.device(ActorKind::timer, "");
  for (int tid = 1; tid <= 2; ++tid) {
    const ActorId thread = scene.thread("worker", tid);
    scene.wait(thread, timer, 0, 200, WaitClass::sleep);
    scene.trace.preemptions.push_back({thread, 200 * kMs, 600 * kMs});
  }
  scene.trace.recording.cpus = 2;
  scene.trace.recording.cpu_busy_ns = 1000 * kMs;
  scene.trace.recording.cpu_idle_ns = 1000 * kMs;
  scene.trace.cpu_times = {{0, 500 * kMs, 500 * kMs}, {1, 500 * kMs, 500 * kMs}};
  return scene;
}

CpuSupply supply_of(const Scene& scene) { return scene.findings().cpu_supply; }

TEST_CASE("CPUs that are not busy on average leave short bursts") {
  const CpuSupply supply = supply_of(ready_threads());
  CHECK(supply.cause == Cause::bursts);
  CHECK(supply.target_cpus == Approx(0.8));
  CHECK(supply.other_cpus == Approx(0.2));
  CHECK(supply.steal == 0);
  CHECK_FALSE(supply.quota);
  CHECK_FALSE(supply.pinning);
}

TEST_CASE("CPUs are busy at least while recorded threads run, whatever the kernel counted") {
  Scene scene = ready_threads();
  scene.trace.actors[2].outside = true;
  scene.trace.recording.cpu_busy_ns = 300 * kMs;
  scene.trace.recording.cpu_idle_ns = 1700 * kMs;
  const Findings findings = scene.findings();
  CHECK(machine_busy(findings) == Approx(0.4));
  CHECK(findings.recording.cpu_busy_ns + findings.recording.cpu_idle_ns == 2000 * kMs);
  CHECK(findings.cpu_supply.other_cpus == Approx(0.4));
  scene.trace.recording.cpu_busy_ns = 0;
  scene.trace.recording.cpu_idle_ns = 0;
  CHECK_FALSE(machine_busy(scene.findings()));
}

TEST_CASE("busy CPUs are busy with the target or with others, whichever used more") {
  Scene scene = ready_threads();
  Recording& recording = scene.trace.recording;
  recording.cpu_busy_ns = 1599 * kMs;
  recording.cpu_idle_ns = 401 * kMs;
  CHECK(supply_of(scene).cause == Cause::bursts);
  recording.cpu_busy_ns = 1600 * kMs;
  recording.cpu_idle_ns = 400 * kMs;
  CHECK(supply_of(scene).cause == Cause::own);
  recording.cpu_busy_ns = 1601 * kMs;
  scene.trace.other_processes = {{71, "rustc", 700 * kMs, 100 * kMs}};
  const CpuSupply supply = supply_of(scene);
  CHECK(supply.cause == Cause::others);
  CHECK(supply.other_cpus == Approx(0.801));
  REQUIRE(supply.others.size() == 1);
  CHECK(supply.others[0].tgid == 71);
  CHECK(supply.others[0].name == "rustc");
  CHECK(supply.others[0].own_s == Approx(0.7));
  CHECK(supply.others[0].children_s == Approx(0.1));
  CHECK_FALSE(supply.others[0].with_target);
  // A thread of it that the target waits for is recorded, outside of the target.
  const ActorId helper = scene.thread("rustc", 71);
  scene.trace.actors[helper].tgid = 71;
  scene.trace.actors[helper].outside = true;
  CHECK_FALSE(supply_of(scene).others[0].with_target);
  scene.wait(helper, scene.thread("worker", 3), 700, 900, WaitClass::pipe);
  CHECK(supply_of(scene).others[0].with_target);
}

TEST_CASE("steal is the cause if it is more than others used, and much beside what the target used") {
  Scene scene = ready_threads();
  Recording& recording = scene.trace.recording;
  recording.cpu_busy_ns = 1800 * kMs;
  recording.cpu_idle_ns = 200 * kMs;
  recording.cpu_steal_ns = 500 * kMs;
  CHECK(supply_of(scene).cause == Cause::own);  // others used 500 ms, too
  recording.cpu_steal_ns = 501 * kMs;
  const CpuSupply supply = supply_of(scene);
  CHECK(supply.cause == Cause::steal);
  CHECK(supply.stolen_cpus == Approx(0.501));
  CHECK(supply.steal == Approx(0.2505));
  recording.cpu_busy_ns = 1620 * kMs;
  recording.cpu_idle_ns = 0;
  recording.cpu_steal_ns = 299 * kMs;  // others used less, but it is under a quarter of the target's 1.2 s
  scene.trace.preemptions[0].run = scene.trace.preemptions[1].run = 400 * kMs;
  CHECK(supply_of(scene).target_cpus == Approx(1.2));
  CHECK(supply_of(scene).cause == Cause::own);
  recording.cpu_steal_ns = 301 * kMs;
  CHECK(supply_of(scene).cause == Cause::steal);
}

TEST_CASE("a quota that throttles is the cause, however busy the CPUs are") {
  Scene scene = ready_threads();
  scene.trace.cpu_quotas = {{"/a", 100 * kMs, 100 * kMs, 10, 0, 0},
                            {"/a/b", 50 * kMs, 100 * kMs, 10, 9, 700 * kMs}};
  const CpuSupply supply = supply_of(scene);
  CHECK(supply.cause == Cause::quota);
  REQUIRE(supply.quota);
  CHECK(supply.quota->cgroup == "/a/b");
  CHECK(supply.quota->cpus == Approx(0.5));
  CHECK(supply.quota->periods == 10);
  CHECK(supply.quota->throttled_periods == 9);
  CHECK(supply.quota->throttled_s == Approx(0.7));
  scene.trace.cpu_quotas[1].throttled_ns = 79 * kMs;  // under a tenth of the 800 ms
  CHECK(supply_of(scene).cause == Cause::bursts);
  CHECK(supply_of(scene).quota);
  scene.trace.cpu_quotas[1].throttled_periods = 0;
  CHECK_FALSE(supply_of(scene).quota);
}

TEST_CASE("threads that may use one of two CPUs are pinned if this one is busy and the other one is not") {
  Scene scene = ready_threads();
  for (Actor& actor : scene.trace.actors) actor.allowed_cpus = {{1, 1}};
  scene.trace.cpu_times = {{0, 100 * kMs, 900 * kMs}, {1, 900 * kMs, 100 * kMs}};
  const CpuSupply supply = supply_of(scene);
  CHECK(supply.cause == Cause::pinning);
  REQUIRE(supply.pinning);
  CHECK(supply.pinning->allowed == CpuList{{1, 1}});
  CHECK(supply.pinning->allowed_cpus == 1);
  CHECK(supply.pinning->online_cpus == 2);
  CHECK(supply.pinning->threads == 2);
  CHECK(supply.pinning->runnable_s == Approx(0.8));
  CHECK(supply.pinning->allowed_busy == Approx(0.9));
  CHECK(supply.pinning->others_busy == Approx(0.1));
  scene.trace.cpu_times[1] = {1, 799 * kMs, 201 * kMs};
  CHECK(supply_of(scene).cause == Cause::bursts);
  scene.trace.cpu_times = {{0, 900 * kMs, 100 * kMs}, {1, 900 * kMs, 100 * kMs}};
  CHECK(supply_of(scene).cause == Cause::bursts);
  // A list that names every CPU, and more, is no pinning; neither is that of a thread outside of the target.
  scene.trace.cpu_times = {{0, 100 * kMs, 900 * kMs}, {1, 900 * kMs, 100 * kMs}};
  scene.trace.actors[1].allowed_cpus = scene.trace.actors[2].allowed_cpus = {{0, 7}};
  CHECK_FALSE(supply_of(scene).pinning);
}

TEST_CASE("pinned threads explain nothing if it is the others that are ready to run") {
  Scene scene = ready_threads();
  scene.trace.actors[1].allowed_cpus = {{1, 1}};
  scene.trace.preemptions[0].run = 599 * kMs;
  scene.trace.cpu_times = {{0, 100 * kMs, 900 * kMs}, {1, 900 * kMs, 100 * kMs}};
  CHECK(supply_of(scene).cause == Cause::bursts);
  CHECK(supply_of(scene).pinning);
  scene.trace.preemptions[0].run = 601 * kMs;
  CHECK(supply_of(scene).cause == Cause::pinning);
}

TEST_CASE("threads that are hardly ready to run lack nothing; without the CPUs' times nothing is known") {
  Scene scene = ready_threads();
  scene.trace.recording.cpu_busy_ns = scene.trace.recording.cpu_idle_ns = 0;
  scene.trace.cpu_times.clear();
  CHECK(supply_of(scene).cause == Cause::unknown);
  CHECK(supply_of(scene).target_cpus == 0);
  // 50 ms of ready time beside 600 ms of running time
  scene.trace.preemptions[0].run = scene.trace.preemptions[1].run = 225 * kMs;
  CHECK(supply_of(scene).cause == Cause::none);
  // A quota explains that, unless it is less than 1 % of the window.
  scene.trace.cpu_quotas = {{"/a", 50 * kMs, 100 * kMs, 10, 9, 50 * kMs}};
  CHECK(supply_of(scene).cause == Cause::quota);
  scene.trace.preemptions[0].run = scene.trace.preemptions[1].run = 204 * kMs;
  CHECK(supply_of(scene).cause == Cause::none);
}

}  // namespace
}  // namespace offwait
