// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_cpus.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/escape.h"
#include "report/wording_sections.h"
#include "unit/report/first_screen.h"
#include "unit/report/sample.h"

namespace offwait {
namespace {

using Cause = CpuSupply::Cause;

ActorNames names_of(const Findings& findings) {
  return ActorNames(findings, [](std::string_view name) { return escape(name); });
}

std::string text_of(const Findings& findings) { return cpu_supply_text(findings, names_of(findings)); }

/// Ten seconds on two CPUs.
Findings findings_with(Cause cause) {
  Findings findings;
  findings.window_s = 10;
  findings.recording.cpus = 2;
  findings.recording.cpu_busy_ns = 19'800'000'000;
  findings.recording.cpu_idle_ns = 200'000'000;
  findings.totals.target.runnable_s = 256;
  findings.cpu_supply.cause = cause;
  findings.cpu_supply.target_cpus = 1.82;
  return findings;
}

TEST_CASE("nothing is said of threads that lack no CPU, or of what is not known") {
  CHECK(text_of(findings_with(Cause::none)).empty());
  CHECK(text_of(findings_with(Cause::unknown)).empty());
}

TEST_CASE("busy CPUs: who used them is named with the CPUs that each used") {
  Findings findings = findings_with(Cause::own);
  CHECK(text_of(findings) ==
        "CPUs 99% busy: the target used 1.82 of 2. Its threads were ready to run for 256 s without one.");
  findings.cpu_supply.other_cpus = 0.16;
  findings.cpu_supply.others = {{71, "rustc", 1.1, 0},
                                {72, "make", 0.1, 0.2},
                                {73, "x\x1b[2J", 0.1, 0},
                                {74, "d", 0.1, 0},
                                {75, "e", 0.09, 0}};
  findings.cpu_supply.stolen_cpus = 0.02;
  findings.cpu_supply.steal = 0.01;
  CHECK(
      text_of(findings) ==
      "CPUs 99% busy: the target used 1.82 of 2, others 0.16 (rustc (pid 71) 0.11, ended children of make "
      "(pid 72) 0.03, x\\x1b[2J (pid 73) 0.01), the hypervisor 0.02. Its threads were ready to run for 256 s "
      "without one.");
  findings.cpu_supply.others.resize(1);
  findings.cpu_supply.others[0].own_s = 0.09;  // under a hundredth of a CPU
  findings.cpu_supply.steal = 0.009;
  findings.cpu_supply.cause = Cause::others;
  findings.recording.cpus = 0;
  CHECK(text_of(findings) ==
        "CPUs 99% busy: the target used 1.82, others 0.16. Its threads were ready to run for 256 s without "
        "one.");
}

TEST_CASE("where the target's clients have most of the CPUs, other programs are not blamed") {
  Findings findings = findings_with(Cause::others);
  FoundActor thread;
  thread.time.lifetime_s = 10;
  thread.time.runnable_s = 5;
  findings.actors = {thread};
  findings.cpu_supply.target_cpus = 0.7;
  findings.cpu_supply.other_cpus = 1.2;
  findings.cpu_supply.others = {{71, "bench", 6.1, 0, true}, {72, "make", 1, 0}};
  CHECK(neighbours_text(findings, names_of(findings)) ==
        "Other programs have CPUs that the target lacks: of 2, it has 0.70, programs that it works with 0.61 "
        "(bench (pid 71) 0.61), others 0.59 (make (pid 72) 0.10).");
  CHECK(cpu_room_advice(findings) ==
        "run the programs that it works with on another machine, give it more CPUs, or do less work");
  CHECK(machine_text(findings).ends_with("% busy, mostly by others"));
  findings.cpu_supply.target_cpus = 1.3;
  CHECK(machine_text(findings).ends_with("% busy"));
  findings.cpu_supply.target_cpus = 0.7;
  // If it used less than half of what others did, it is not what to move.
  findings.cpu_supply.others[0].own_s = 5.9;
  CHECK(neighbours_text(findings, names_of(findings)) ==
        "Other programs have CPUs that the target lacks: of 2, it has 0.70, programs that it works with 0.59 "
        "(bench (pid 71) 0.59), others 0.61 (make (pid 72) 0.10).");
  CHECK(cpu_room_advice(findings) == "fewer other programs on these CPUs, more CPUs, or less work on them");
}

TEST_CASE("a quota is named with its cgroup, and with how often and how long it throttled") {
  Findings findings = findings_with(Cause::quota);
  findings.cpu_supply.quota = FoundQuota{"/a\nb", 0.5, 100, 92, 4.1};
  CHECK(text_of(findings) ==
        "CPU quota of cgroup /a\\x0ab: 0.50 CPUs. It was used up in 92 of 100 periods, and throttled its "
        "threads for 4.10 s of 10.0 s, all CPUs together.");
}

TEST_CASE("pinned threads: the CPUs that they may use, and how busy these and the others were") {
  Findings findings = findings_with(Cause::pinning);
  findings.cpu_supply.pinning = FoundPinning{{{0, 0}, {2, 3}}, 3, 8, 1, 5, 0.98, 0.12};
  CHECK(text_of(findings) ==
        "Pinned: 1 thread may use 3 of 8 CPUs (0,2-3), 98% busy. The other CPUs were 12% busy.");
}

TEST_CASE("steal: the hypervisor's part of the CPUs' time") {
  Findings findings = findings_with(Cause::steal);
  findings.cpu_supply.target_cpus = 0.7;
  findings.cpu_supply.stolen_cpus = 1.2;
  findings.cpu_supply.steal = 0.6;
  CHECK(
      text_of(findings) ==
      "Steal: the hypervisor took 60% of the CPUs' time; the target used 0.70 of 2, the hypervisor 1.20. Its "
      "threads were ready to run for 256 s without one.");
}

TEST_CASE("bursts: the CPUs had time left on average") {
  Findings findings = findings_with(Cause::bursts);
  findings.recording.cpu_idle_ns = 20'000'000'000;
  CHECK(text_of(findings) ==
        "Bursts: the CPUs were 50% busy on average, but not free when threads were ready: the target used "
        "1.82 of 2.");
}

TEST_CASE("More CPU time is one answer, whatever keeps the target from it") {
  Findings findings = answered_findings();
  findings.recording.cpus = 2;
  FoundAnswer cpus;
  cpus.what = Resource::cpus;
  cpus.gain = 0.82;
  cpus.certainty = Certainty::up_to;
  cpus.evidence.time_s = 4;
  cpus.evidence.actor = 0;
  cpus.evidence.cpus = 1;
  findings.answers = {cpus};
  const std::string others = first_screen(findings);
  INFO(others);
  CHECK(others.find("1  twice the CPU time: up to +82%\n   The recorded threads get 1.0 of 2 CPUs; others "
                    "use the rest. Recorded threads were ready to run\n   for 4.00 s without a CPU,") !=
        std::string::npos);
  findings.cpu_supply.cause = CpuSupply::Cause::quota;
  findings.cpu_supply.quota = FoundQuota{};
  findings.cpu_supply.quota->cgroup = "/app";
  findings.cpu_supply.quota->cpus = 0.4;
  const std::string quota = first_screen(findings);
  INFO(quota);
  CHECK(quota.find("The quota of cgroup /app gives it 0.40 CPUs.") != std::string::npos);
  CHECK(quota.find("try   raise the quota (0.50 of 2 CPUs were idle) in cpu.max or cpu.cfs_quota_us, or do "
                   "less work\n") != std::string::npos);
  findings.cpu_supply.cause = CpuSupply::Cause::pinning;
  findings.cpu_supply.pinning.emplace();
  findings.cpu_supply.pinning->allowed_cpus = 1;
  findings.cpu_supply.pinning->online_cpus = 2;
  const std::string pinned = first_screen(findings);
  INFO(pinned);
  CHECK(pinned.find("The target is pinned to 1 of 2 CPUs.") != std::string::npos);
  CHECK(pinned.find("try   let it use more CPUs (0.50 of 2 CPUs were idle), or do less work\n") !=
        std::string::npos);
  findings.recording.cpu_busy_ns = findings.recording.cpu_idle_ns = 0;
  CHECK(first_screen(findings).find("try   let it use more CPUs, or do less work\n") != std::string::npos);
  // Behind another answer it has no evidence, and says that itself.
  FoundAnswer work = cpus;
  work.what = Resource::cpu;
  findings.answers = {work, cpus};
  findings.answers[1].evidence.pinned_to = 1;
  CHECK(sentences(findings).find("2  all CPUs for the target, which is pinned to 1: up to +82%\n") !=
        std::string::npos);
  findings.answers[1].evidence.pinned_to = 0;
  findings.answers[1].evidence.quota = 0.4;
  CHECK(sentences(findings).find("2  the quota of 0.40 CPUs lifted: up to +82%") != std::string::npos);
  findings.answers[1].evidence.quota = 0;
  CHECK(sentences(findings).find("2  twice the CPU time: up to +82% · the target is pinned to 1 of 2 CPUs") !=
        std::string::npos);
}

}  // namespace
}  // namespace offwait
