// SPDX-License-Identifier: GPL-2.0-or-later
// JSON of whose progress counts, and of what would gain it.
#pragma once

#include <cstddef>

#include "analysis/found_answers.h"
#include "report/json_values.h"

namespace offwait {

/// `id`: its index in Findings::progress.
Json progress_json(const FoundProgress& progress, std::size_t id);
Json answer_json(const FoundAnswer& answer);
Json what_if_json(const FoundWhatIf& what_if);

}  // namespace offwait
