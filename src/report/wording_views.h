// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences of the views.
#pragma once

#include <string>
#include <vector>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// Whose time the table of functions divides, and into what.
std::string functions_meaning(const FoundFunctions& functions);
/// What its columns are.
std::string columns_meaning(const Findings& findings);
/// `Set aside: …`: time that the table leaves out; empty if there is none.
std::string time_apart_text(const Findings& findings);
/// `db.cc:120`
std::string place_text(const FoundFunction& row);
/// `93% from Cache::lookup ← get`: where most of the time in the function itself was called from.
std::string callers_text(const FoundFunction& row, const std::vector<std::string>& callers);
/// `+25%`, `≤+25%`, `rough`; for a column.
std::string gain_cell(const Gain& gain);
/// `its cpu /2: +12% (9 to 14), its io /2: …`: the gains of parts, where there are two or more.
std::string parts_text(const FoundFunction& row);

/// `/var/lib/db/log`, `/tmp/x (deleted)`, `the journal of 259:1`; not escaped.
std::string file_text(const Object& file);

/// What criticality is, and what the columns of the table of threads are.
std::string threads_meaning(const FoundThreads& threads);

/// What the table of locks is about, and what its columns are.
std::string locks_meaning(const FoundLocks& locks);
/// Why it is taken for a lock, where its kind does not tell; empty if that tells, or it is no lock.
std::string lock_evidence_text(const FoundLockRow& lock);
/// `held by mariadbd×8, which ran (40%), waited for disk vda (55%) meanwhile`; empty if nobody is known.
std::string holder_text(const FoundLockRow& lock, const ActorNames& names);

}  // namespace offwait
