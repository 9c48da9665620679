// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_cpus.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/escape.h"

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
        "Programs that the target works with have most of the CPUs that the target lacks, 0.61 of 2 "
        "(bench (pid 71) 0.61); it has 0.70.");
  CHECK(cpu_room_advice(findings) ==
        "run the programs that it works with on another machine, give it more CPUs, or do less work");
  // If it used less than half of what others did, it is one of them.
  findings.cpu_supply.others[0].own_s = 5.9;
  CHECK(neighbours_text(findings, names_of(findings)) ==
        "Other programs have most of the CPUs that the target lacks, 1.20 of 2 "
        "(bench (pid 71) 0.59, make (pid 72) 0.10); it has 0.70.");
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
        "Bursts: the CPUs were 50% busy on average, but not free when threads were ready.");
}

}  // namespace
}  // namespace offwait
