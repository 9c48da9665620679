// SPDX-License-Identifier: GPL-2.0-or-later
// What is said of a lock that an answer is about.
#pragma once

#include <string>
#include <vector>

#include "analysis/found_answers.h"
#include "report/names.h"

namespace offwait {

/// `A×8, B and 3 more`
std::string thread_list(const std::vector<FoundProgress::Threads>& threads, const ActorNames& names);

/// What people do about a lock that is held for this, or that a runtime has for this.
std::string lock_advice(const FoundLock& lock);

/// `, which sleep (98%) meanwhile`: what its holders did; empty if that is not known.
std::string held_for_text(const FoundLock& lock);

/// `Without its waits the CPUs would be full.`: what keeps a split lock from gaining more; empty if nothing
/// is known to, and for other answers.
std::string full_text(const FoundAnswer& answer, const ActorNames& names);

/// `lock of rows (InnoDB)`, `lock work_mutex`: a name that says what it is stays.
std::string lock_title(const std::string& name);
/// What is said of a knot that explains an answer about a lock: `its threads waited 37.2 s for lock of rows
/// (InnoDB), all together.`
std::string contention_text(const FoundLock& lock);

}  // namespace offwait
