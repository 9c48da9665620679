// SPDX-License-Identifier: GPL-2.0-or-later
// The views in the JSON report: all rows.
#pragma once

#include "analysis/views.h"
#include "report/json_values.h"

namespace offwait {

Json functions_json(const FoundFunctions& functions);
Json threads_json(const FoundThreads& threads);
Json locks_json(const FoundLocks& locks);
Json file_name_json(const FoundFileName& file);
Json files_json(const FoundFiles& files);

}  // namespace offwait
