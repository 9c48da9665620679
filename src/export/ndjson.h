// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as lines of JSON, for databases and scripts.
#pragma once

#include "analysis/findings.h"
#include "export/formats.h"
#include "model/trace.h"

namespace offwait {

/// One object a line, by src/export/offwait-export-1.schema.json: the recording, the graph's actors and edges
/// as the analysis made them, the stacks of waits, and all waits as they were recorded. Times are in ns since
/// the window's start. `findings` are those of `trace`, which must satisfy validate().
Status write_ndjson(const Trace& trace, const Findings& findings, const ByteSink& sink);

}  // namespace offwait
