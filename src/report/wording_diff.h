// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences of a comparison. The strings may hold hostile bytes: the renderer escapes them and cuts them to
// width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diff/compare.h"
#include "report/names.h"

namespace offwait {

/// `per answer`, `per second`, `per call of f`, `per run`
std::string per_unit(const ComparedUnit& unit);

/// `redis-server`, `disk vda`, `service 10.0.0.5:3306`, `[no name]`
std::string end_text(const ComparedEnd& end);
/// `redis-server → disk vda`
std::string edge_text(const ComparedEdge& edge);
/// `LOCK_open+0x8 (mariadbd)`, `mmap_lock of mariadbd`, `lock of LRUCacheShard::Lookup`
std::string lock_text(const LockKey& key);
/// `on CPUs`, `for disks`, `for locks`, `for a CPU`, `other waits`
std::string_view time_text(TimeKind kind);
/// `A ⇄ B`, or `A, B, C and 4 more`
std::string knot_text(const ComparedKnot& knot);

/// `+5.12 ms`, `-99.0 µs`, of a time
std::string change_text(const ComparedAmount& amount);
/// `-99%`, `×12`, `came`, `went`
std::string part_text(const ComparedAmount& amount);

/// The target, when, and what progress one side makes.
std::string side_text(const ComparedSide& side, const ComparedUnit& unit);
/// What each recording of a side says first; those that say the same are one.
std::vector<std::string> verdict_texts(const ComparedSide& side, const WrittenName& written);

/// `1,762 responses/s before, 21,400 after: ×12.1 (+19,638 ± 900)`; empty if the unit is a second.
std::string throughput_text(const Comparison& comparison);
/// The change that is largest, or that there is none.
std::string headline(const Comparison& comparison);
/// When a change counts.
std::string rule_text(const Comparison& comparison);
/// What makes the sides hard to compare: other programs, kernels or machines, lost records, amounts that are
/// counted per second although one side counts progress. A sentence each.
std::vector<std::string> caveats(const Comparison& comparison);

/// `waited 0.51 ms → 0.49 ms, 1.00 → 1.02 waits; disk`; a number of waits that changed has its change and
/// its spread: `77,171 → 1,671 waits (-98%, ±8,030)`.
std::string edge_details(const ComparedEdge& edge);
std::string lock_details(const ComparedLock& lock);
/// What of the change is in which kind of time: `lock -1.20 ms, cpu +0.10 ms`
std::string function_details(const ComparedFunction& function);
/// `limits in 3 of 3 recordings before and in none of 3 after`
std::string knot_details(const Comparison& comparison, const ComparedKnot& knot);

}  // namespace offwait
