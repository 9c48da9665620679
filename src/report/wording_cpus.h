// SPDX-License-Identifier: GPL-2.0-or-later
// Words about the CPUs: who used them, and what kept the target from using them.
#pragma once

#include <string>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// Why threads of the target were ready to run and had no CPU, with the numbers: one to two sentences. Empty
/// if they hardly were, or if the recording does not say.
/// `CPUs 99% busy: the target used 1.82 of 2, others 0.15 (rustc (pid 71) 0.11). Its threads were ready to
/// run for 256 s without one.`
/// `CPU quota of cgroup /a: 0.50 CPUs. It was used up in 92 of 100 periods, and throttled its threads for
/// 4.10 s of 10.0 s, all CPUs together.`
std::string cpu_supply_text(const Findings& findings, const ActorNames& names);

/// `Other programs have most of the CPUs that the target lacks, 1.20 of 2 (rustc (pid 71) 0.11); it has
/// 0.70.`; empty unless others_have_the_cpus(). Those that the target works with, such as its
/// clients on this host, are called that if they have most.
std::string neighbours_text(const Findings& findings, const ActorNames& names);

/// ` (0.56 of 2 CPUs were idle)`: how much more the machine has to give; empty where that is not known,
/// or hardly anything.
std::string idle_cpus_clause(const Findings& findings);

/// `the target is pinned to 1 of 2 CPUs`, `the quota of cgroup /a gives it 0.40 CPUs`; empty if neither keeps
/// it from CPUs.
std::string cpu_limit_clause(const Findings& findings, const ActorNames& names);

/// How much CPU time the target gets now, where an answer is more of it; `usable` is UsableCpus::usable().
/// `The recorded threads get 1.0 of 2 CPUs; others use the rest`, `The quota of cgroup /a gives it 0.40 CPUs`
std::string cpu_room_text(const Findings& findings, double usable, const ActorNames& names);
/// What people do for that.
std::string cpu_room_advice(const Findings& findings);

}  // namespace offwait
