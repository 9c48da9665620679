// SPDX-License-Identifier: GPL-2.0-or-later
// What the text report's first screen shows, in the JSON report: for programs that show the same.
#pragma once

#include "analysis/screen.h"
#include "report/json_values.h"

namespace offwait {

Json screen_json(const Screen& screen);

}  // namespace offwait
