// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads are of one kind: they run the same program, are called alike, and begin in the same function,
// or do the same around one lock.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace offwait {

using ThreadKind = std::uint32_t;
inline constexpr ThreadKind kNoThreadKind = UINT32_MAX;

/// The kind of each actor, by ActorId; kNoThreadKind for what is no thread. Kinds are numbered in order of
/// their first thread. Threads of one kind
/// - are called alike (model/called.h), or wait in the same places and for one lock (same_work.h), whatever
///   they are called; and their processes are called alike. A process whose main thread was not recorded is
///   like no other;
/// - are all kernel threads or none, and likewise outside of the target, and the recorder's;
/// - run the same program and begin in the same function, as far as that is known: a thread of which it is
///   not known is like those called alike, if these have one program, or one function, and else like the
///   others of which it is not known. The function is that of nine tenths of a thread's waits and
///   samples; main threads that are alike so far have one function, that of most of them;
/// - do the same as far as one of them, the oldest process, does other work than all others: it is a kind of
///   its own (makers_of_processes());
/// - do not depend on one of them: a thread that alone does what the others wait for is a kind of its own:
///   changed together with them, it would hide that they wait for it. It ends four fifths of all waits that
///   they end for each other, or is, among four or more, at one end of nine tenths of them, and it does so
///   with half of the others or more. These waits are 20 or more, and a tenth of those that threads ended, by
///   number or by time.
std::vector<ThreadKind> thread_kinds(const Trace& trace);

}  // namespace offwait
