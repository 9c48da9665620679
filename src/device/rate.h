// SPDX-License-Identifier: GPL-2.0-or-later
// Rates as users write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace offwait {

/// A positive number with an optional decimal suffix k, M or G.
std::optional<double> parse_rate(std::string_view text);

/// `text` as an error may show it: what is not printable ASCII becomes `?`, and it ends early.
std::string shown(std::string_view text);

}  // namespace offwait
