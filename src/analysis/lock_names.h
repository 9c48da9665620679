// SPDX-License-Identifier: GPL-2.0-or-later
// What a lock is called, and what it is, by the functions in which threads wait for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/runtime_parts.h"
#include "analysis/views.h"
#include "model/object.h"
#include "model/trace.h"
#include "progress/locks.h"
#include "progress/thread_groups.h"
#include "replay/what_if.h"

namespace offwait {

/// What the functions of a stack say that it waits for (waits_for() in code/roles.h); nothing if none does.
std::optional<LockKind> lock_kind(const Trace& trace, const Stack& stack);

/// Whether a function in it is called a lock, in any spelling: `LockAcquireExtended`, `lock_wait`,
/// `take_mutex`.
bool takes_a_lock(const Trace& trace, const Stack& stack);

/// The variable that the lock lies in, or what it guards; empty if it has no name of its own.
std::string own_name(const Object& lock);

/// The function that takes it: the innermost one that is no part of a way to wait and is not called a lock or
/// a mutex itself, or its first caller in the same file that has a name. For a lock of the kernel that is a
/// function of the kernel. Empty if the stack has no such function; a monitor's is `synchronized Java
/// code`.
std::string taken_in(const Trace& trace, const Stack& stack, const Object& lock);

/// By LockId: own_name() or `lock of` the function that takes it, `lock #2 of` the one that was waited for
/// second longest of those that are taken there; CPython's GIL is the `lock of all Python code (GIL)`. A
/// report calls a lock by this name wherever it speaks of it.
struct LockNames {
  std::vector<std::string> names;
  std::vector<RuntimeLock> runtimes;  ///< what it stands for
};
LockNames names_of_locks(const Trace& trace, const ContendedLocks& locks);

/// The same, of the locks that the answers of this trace speak of; empty if no question names a lock.
std::vector<std::string> names_of_locks(const Trace& trace, const ThreadGroups& groups,
                                        const std::vector<WhatIf>& what_ifs);

/// Its own_name() or, for one that is waited for in this stack, `lock of` the function that takes it.
std::string name_of_lock(const Trace& trace, ObjectId lock, StackId wait_stack);

}  // namespace offwait
