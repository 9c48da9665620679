// SPDX-License-Identifier: GPL-2.0-or-later
// Renderers of a comparison of recordings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diff/compare.h"
#include "report/folded.h"
#include "report/text.h"

namespace offwait {

/// What both sides say first, then what changed by how much: one screen unless asked for more.
std::string to_text(const Comparison& comparison, const TextStyle& style);

/// "offwait-diff/1", by report/offwait-diff-1.schema.json: all rows that were looked at.
std::string to_json(const Comparison& comparison);

/// The lines of a recording, and how many units it has of what both sides count (ComparedUnit).
struct FoldedRecording {
  FoldedLines lines;
  double units = 0;
};

/// `stack before after`, as difffolded.pl writes it and flamegraph.pl reads it: means over the recordings of
/// a side, in µs (of samples: their number). Those before are as recorded; those after are for as many units
/// as the recordings before have on average. `divide` is 1000 for sums in ns.
std::string folded_difference(const std::vector<FoldedRecording>& before,
                              const std::vector<FoldedRecording>& after, std::int64_t divide);

}  // namespace offwait
