// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences about what people do about what an answer names.
#pragma once

#include <string>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// What people try where a part limits that is like the one of the answer.
std::string advice(const Findings& findings, const FoundAnswer& answer, const ActorNames& names);

}  // namespace offwait
