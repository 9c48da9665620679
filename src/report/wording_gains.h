// SPDX-License-Identifier: GPL-2.0-or-later
// Gains in words: how much, how far that can be relied on, and why.
#pragma once

#include <string>
#include <string_view>

#include "analysis/findings.h"

namespace offwait {

/// `+97%`; what is three times as fast or more is `×3.5`.
std::string rate_gain_text(double gain);
/// `+82% (77 to 88)`. A bound is `up to +88%` or, if it gains something surely, `+53% to +88%`; so is a gain
/// whose range is wider than the gain itself. Empty where there is no number.
std::string gain_text(const Gain& gain);
/// The same of an answer. What a lock or more CPUs gain is a bound, also where it depends on whose progress
/// counts.
std::string answer_gain_text(const FoundAnswer& answer);
/// `[sure]`; empty for a bound, which gain_text() says.
std::string certainty_mark(const Gain& gain);
/// Both: `+82% (77 to 88) [sure]`, `up to +88%`, `[rough]`.
std::string marked_gain_text(const Gain& gain);
std::string marked_gain_text(const FoundAnswer& answer);
/// Why a number is missing, or may be less; empty for a sure answer, for a bound whose ends are alike
/// (kAlike), and for a split one, which answers_heading() explains. `given` is what is said in place of the
/// number; empty if nothing is.
std::string certainty_sentence(const Findings& findings, const Gain& gain, std::string_view given = "");
/// The same for an answer. Some answers say themselves what would limit next.
std::string answer_certainty_sentence(const Findings& findings, const FoundAnswer& answer);

}  // namespace offwait
