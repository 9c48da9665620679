// SPDX-License-Identifier: GPL-2.0-or-later
// Why a gain is rough, approximate or a bound, in words.
#pragma once

#include <string_view>

#include "analysis/found_answers.h"

namespace offwait {

/// A clause that follows a colon or "because"; empty for none.
std::string_view doubt_clause(Doubt doubt);

}  // namespace offwait
