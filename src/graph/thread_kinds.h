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
/// - run the same program and begin in the same function. Where one of these is not known of a thread, it is
///   that of the threads that are called alike, if these agree. If they do not, the threads that lack it
///   are of one kind. A thread's function is that of nine tenths of its waits and
///   samples. Main threads that are alike in all else have one function, that of most of them;
/// - do the same work: if the oldest process does other work than all others, it is a kind of its own
///   (makers_of_processes());
/// - do not depend on one of them: a thread that alone does what the others wait for is a kind of its own:
///   changed together with them, it would hide that they wait for it. It ends four fifths of all waits that
///   they end for each other, or is, among four or more, at one end of nine tenths of them, and it does so
///   with half of the others or more. These waits are 20 or more, and a tenth of those that threads ended, by
///   number or by time.
std::vector<ThreadKind> thread_kinds(const Trace& trace);

}  // namespace offwait
