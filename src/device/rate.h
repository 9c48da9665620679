// SPDX-License-Identifier: GPL-2.0-or-later
// Rates as users write them, and the shortest time in which one can be measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/nanos.h"

namespace offwait {

/// The shortest interval that can raise a capacity: in a shorter one a single request makes any rate.
inline constexpr Nanos kShortestForRate = 100'000'000;

/// A positive number with an optional decimal suffix k, M or G.
std::optional<double> parse_rate(std::string_view text);

/// `text` for an error message: other bytes than printable ASCII become `?`, and a long text is cut.
std::string shown(std::string_view text);

}  // namespace offwait
