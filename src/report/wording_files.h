// SPDX-License-Identifier: GPL-2.0-or-later
// What files are called, and sentences about waits and requests for them.
#pragma once

#include <string>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// `/var/lib/mysql/ib_logfile0`, `/tmp/x (deleted)`, `journal of vda`, `inode 12 on 254:0`; a hostile name.
std::string file_text(const FoundFileName& file);
/// The same without the directories of a path, written and cut as names are.
std::string file_brief(const FoundFileName& file, const ActorNames& names);

/// ` for ib_logfile0 (61%) and t1.ibd (20%)`: what an answer's waits for a disk are for; empty if that is not
/// known of much of it.
std::string waited_files_text(const AnswerEvidence& evidence, const ActorNames& names);

/// `requests: ib_logfile0 61% (12 MB), t1.ibd 20% (90 MB, 80% writeback), flushes, discards 9%, 4 more 10%`;
/// empty if no file is known.
std::string disk_files_text(const FoundDisk& disk, const ActorNames& names, std::size_t most);

/// What the table of files counts, and its columns.
std::string files_meaning(const Findings& findings);
/// `fdatasync 93%, pwrite 7%`: empty if no thread waited.
std::string calls_text(const FoundFile& file);
/// `mariadbd×8 95%, page_cleaner 5%`: who waited.
std::string waiters_text(const FoundFile& file, const ActorNames& names, std::size_t most);
/// What is in no row; empty if there is nothing.
std::string unknown_files_text(const FoundFiles& files);

}  // namespace offwait
