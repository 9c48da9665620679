// SPDX-License-Identifier: GPL-2.0-or-later
// Times of the wall clock as texts. Numbers are ns since 1970.
#pragma once

#include <string>

#include "base/nanos.h"

namespace offwait {

Nanos wall_clock_now();

/// `2026-11-23T04:43:12.345Z`: RFC 3339, to the millisecond.
std::string utc_text(Nanos time);

/// `20261123T044312.345Z`: the same as a part of a file's name.
std::string utc_stamp(Nanos time);

/// The time of a text like utc_text()'s, with or without a fraction of the second; 0 for any other
/// text.
Nanos utc_ns(const std::string& rfc3339);

}  // namespace offwait
