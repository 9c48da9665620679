// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

#include "base/nanos.h"
#include "base/result.h"

namespace offwait {

/// `90` (seconds), `0.5`, `90s`, `1m30s`, `1h`, `500ms`: one or more numbers with the units h, m, s, ms, us,
/// largest unit first, each unit at most once; a fraction only in the last. More than 0 and at most 24 h.
Result<Nanos> parse_duration(std::string_view text);

/// `20%`: a part of the window between 0 and 1. Anything else is a duration.
struct Threshold {
  bool is_part = false;
  double part = 0;
  Nanos duration = 0;
};
Result<Threshold> parse_threshold(std::string_view text);

}  // namespace offwait
