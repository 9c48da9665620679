// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that are called after locks, in any spelling, by libraries that nobody has heard of.
#pragma once

#include <string_view>

namespace offwait {

/// A function that is called for what it does to any lock: `wr_lock`, `tryLock`, `Mutex::Acquire`,
/// `sem_down`.
bool is_about_locks(std::string_view function);

/// A function that takes or holds a lock by its name: `LockAcquireExtended`, `lock_wait`, `take_mutex`.
bool takes_a_lock(std::string_view function);

/// A function that is called for letting a lock go: `wr_unlock`, `Mutex::Unlock`.
bool lets_a_lock_go(std::string_view function);

/// The body of a lambda, which has no name that says anything.
bool is_nameless_body(std::string_view function);

}  // namespace offwait
