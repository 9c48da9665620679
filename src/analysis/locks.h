// SPDX-License-Identifier: GPL-2.0-or-later
// For which lock threads waited, who had it, and what the holder did meanwhile.
#pragma once

#include <string>
#include <vector>

#include "analysis/code_uses.h"
#include "analysis/views.h"
#include "model/trace.h"
#include "progress/facts.h"

namespace offwait {

/// A wait counts if a thread of the target waited whose group is in CodeUses::counts, if it waited for no
/// request from outside, and if a thread ended the wait, or had the lock when it began.
/// `names` are names_of_locks() of the facts' locks.
FoundLocks locks_of(const Trace& trace, const Facts& facts, const std::vector<std::string>& names,
                    const CodeUses& uses);

}  // namespace offwait
