// SPDX-License-Identifier: GPL-2.0-or-later
// Rates: as users write them, and as they are measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/nanos.h"

namespace offwait {

/// Sampling intervals of this length or more can raise a capacity: in a shorter one a single request makes
/// any rate.
inline constexpr Nanos kShortestForRate = 100'000'000;

/// A positive number with an optional decimal suffix k, M or G.
std::optional<double> parse_rate(std::string_view text);

/// `text` as an error may show it: what is not printable ASCII becomes `?`, and it ends early.
std::string shown(std::string_view text);

}  // namespace offwait
