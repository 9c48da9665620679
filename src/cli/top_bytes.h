// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/top_findings.h"

namespace offwait::cli {

/// The findings as bytes for another process of this program; that process does not trust them, because what
/// made them has read what the target wrote.
std::string to_bytes(const TopFindings& findings);

/// Fails if these are no findings, or refer to actors that they do not have.
Result<TopFindings> top_findings_of(std::string_view bytes);

}  // namespace offwait::cli
