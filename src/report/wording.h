// SPDX-License-Identifier: GPL-2.0-or-later
// Every sentence of the report, from raw values. The strings may hold hostile bytes: the renderer escapes
// them and cuts them to width.
#pragma once

#include <string>
#include <string_view>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

// ---- wording_verdict.cpp

/// "their cgroup was frozen": what kept threads from running, of the two that did.
std::string why_stopped(const Totals& totals);
/// What the wait graph says: one to three sentences.
std::string graph_sentence(const Findings& findings, const ActorNames& names);
/// Deadlocks, then what the wait graph says: one to four sentences.
std::string verdict_sentence(const Findings& findings, const ActorNames& names);
/// "Deadlock: A (tid 11) waits for the mutex of B (tid 12), which …": empty without one.
std::string deadlock_sentences(const Findings& findings, const ActorNames& names);
/// "; the machine's CPUs were 97% busy", empty if that is not known.
std::string machine_clause(const Findings& findings);

// ---- wording_pattern.cpp

/// "lock contention". With two threads or fewer it is "lock contention (or a barrier)": a barrier of two
/// threads lets one go at a time, as a lock does.
std::string_view pattern_title(const FoundKnot& knot);
/// The numbers that a knot's pattern was concluded from; one to three sentences.
std::string evidence(const Findings& findings, const FoundKnot& knot, const ActorNames& names);
/// How often a paced sink slept, and for how long; empty if it never did.
std::string evidence(const FoundSink& sink);
/// What people usually do about it: a sentence or two, without numbers, that holds for the pattern as such.
std::string_view advice(Pattern pattern);
/// Empty unless the sink has a pattern.
std::string_view advice(const FoundSink& sink);

// ---- wording_excluded_waits.cpp

/// Why a long wait is no part of the answer.
std::string excluded_wait_sentence(const Findings& findings, const ExcludedWait& excluded,
                                   const ActorNames& names);

}  // namespace offwait
