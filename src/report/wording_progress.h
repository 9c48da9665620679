// SPDX-License-Identifier: GPL-2.0-or-later
// Words about whose progress counts. What is returned is hostile as the names in it are: it is escaped and
// cut to width where it goes out.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// `1,762 responses/s to 20 clients on :6379`; where no responses were counted, `responses to
/// redis-benchmark, 1,762 waits/s for them`; `worker*: named by --progress`.
std::string progress_text(const FoundProgress& progress, double window_s, const ActorNames& names);

/// The same without the rate: `to 20 clients on :6379`, `of worker×8 and writer`.
std::string progress_of_text(const FoundProgress& progress, const ActorNames& names);

/// `worker×8, writer and 2 more`: the threads that make it.
std::string progress_name(const FoundProgress& progress, const ActorNames& names);
/// The same of Findings::progress[index]; `worker/1234, worker/1235` where another one has the same name.
std::string progress_told_apart(const Findings& findings, std::size_t index, const ActorNames& names);

}  // namespace offwait
