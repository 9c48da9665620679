// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "analysis/findings.h"

namespace offwait {

/// The report as JSON, indented, with a newline at the end: schema "offwait-report/1"
/// (offwait-report-1.schema.json; fields are only ever added). Always valid UTF-8: strings are escaped as in
/// the text report. Equal reports give equal bytes.
std::string to_json(const Findings& findings);

}  // namespace offwait
