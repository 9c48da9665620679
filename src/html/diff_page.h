// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/result.h"
#include "diff/compare.h"

namespace offwait::html {

/// A comparison to look at, as page.h has a report: what is in the JSON of the comparison, with what lies
/// within the spread of the recordings in grey. Equal comparisons give equal bytes. Fails only if there is no
/// memory.
Result<std::string> to_html(const Comparison& comparison);

}  // namespace offwait::html
