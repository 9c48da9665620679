// SPDX-License-Identifier: GPL-2.0-or-later
// Patterns of a shell for names of threads and processes.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

/// Whether the whole name matches the pattern, as fnmatch(3) says.
bool name_matches(const std::string& pattern, const std::string& name);

/// `there are 'a', 'b' and 3 more`: what the user may have meant. At most eight names are listed.
std::string names_there_are(const std::set<std::string>& names);

/// Fails if a pattern matches none of the names. The error begins with `what`, as in "--threads: no thread of
/// the target", and lists the names that there are.
Status check_patterns(const std::vector<std::string>& patterns, const std::set<std::string>& names,
                      std::string_view what);

}  // namespace offwait
