// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_gains.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/wording_doubts.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

/// A gain of this or more is told as a multiple.
constexpr double kTold = 2;

/// Whether the ends of its range say more than its middle.
bool shows_bounds(const Gain& gain) {
  if (gain.certainty == Certainty::up_to) return true;
  return gain.certainty == Certainty::approximate && gain.low && gain.high &&
         *gain.high - *gain.low > std::abs(gain.gain);
}

/// Whether both bounds say something.
bool is_between(const Gain& gain) {
  const int most = whole_percent(most_of(gain));
  const int least = gain.low ? whole_percent(*gain.low) : 0;
  return least < most && (least > 0 || most < 0);
}

std::string with_mark(const std::string& text, const Gain& gain) {
  std::vector<std::string> parts = {text, certainty_mark(gain)};
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string_view bound_words(const Gain& gain) {
  return is_between(gain) ? "Where between the two the gain is cannot be told"
                          : "Up to: an upper bound; it may be much less";
}

}  // namespace

std::string rate_gain_text(double gain) {
  if (gain < kTold) return fmt::format("{:+}%", whole_percent(gain));
  constexpr double kWhole = 10;
  return 1 + gain < kWhole ? fmt::format("×{:.1f}", 1 + gain) : fmt::format("×{:.0f}", 1 + gain);
}

std::string gain_text(const Gain& gain) {
  if (gain.certainty == Certainty::rough) return "";
  if (shows_bounds(gain)) {
    const std::string most = rate_gain_text(most_of(gain));
    return is_between(gain) ? fmt::format("{} to {}", rate_gain_text(*gain.low), most) : "up to " + most;
  }
  const std::string text = rate_gain_text(gain.gain);
  if (!gain.low || !gain.high || whole_percent(*gain.low) == whole_percent(*gain.high)) return text;
  return gain.gain < kTold
             ? fmt::format("{} ({} to {})", text, whole_percent(*gain.low), whole_percent(*gain.high))
             : fmt::format("{} ({} to {})", text, rate_gain_text(*gain.low), rate_gain_text(*gain.high));
}

std::string answer_gain_text(const FoundAnswer& answer) {
  const bool is_bound = answer.what == Resource::waited || answer.what == Resource::cpus;
  return is_bound && answer.certainty == Certainty::split ? "up to " + rate_gain_text(most_of(answer))
                                                          : gain_text(answer);
}

std::string certainty_mark(const Gain& gain) {
  return gain.certainty == Certainty::up_to ? "" : fmt::format("[{}]", to_string(gain.certainty));
}

std::string marked_gain_text(const Gain& gain) { return with_mark(gain_text(gain), gain); }

std::string marked_gain_text(const FoundAnswer& answer) {
  return with_mark(answer_gain_text(answer), answer);
}

std::string certainty_sentence(const Findings& findings, const Gain& gain, std::string_view given) {
  const std::string_view reason = doubt_clause(gain.doubt);
  if (gain.certainty == Certainty::approximate && !reason.empty()) {
    return fmt::format("Approximate: {}.", reason);
  }
  if (gain.certainty == Certainty::approximate && !findings.runtimes.empty()) {
    return fmt::format("Approximate: threads run {} in turns, so their waits are not those of the work.",
                       tasks_of(findings.runtimes.front().runtime));
  }
  if (gain.certainty == Certainty::up_to) {
    if (reason.empty() && is_between(gain) && most_of(gain) - *gain.low <= kAlike) return "";
    return fmt::format("{}, because {}.", bound_words(gain),
                       reason.empty() ? "what would limit next did not show" : reason);
  }
  if (gain.certainty != Certainty::rough || reason.empty()) return "";
  if (gain.doubt == Doubt::pace_unseen) return fmt::format("Rough: {}, and no gain can be given.", reason);
  return given.empty()
             ? fmt::format("Rough: {}. No gain can be given, and the order may be wrong, too.", reason)
             : fmt::format("Rough: {}, so only {} is given.", reason, given);
}

std::string answer_certainty_sentence(const Findings& findings, const FoundAnswer& answer) {
  const bool says_limit = answer.what == Resource::waited && answer.lock->full != Full::nothing;
  if (!says_limit || answer.certainty != Certainty::up_to || answer.doubt != Doubt::none) {
    return certainty_sentence(findings, answer);
  }
  return fmt::format("{}, because {}.", bound_words(answer),
                     answer.lock->runtime == RuntimeLock::cpython_gil
                         ? "processes have to exchange what threads share"
                         : "threads may wait for parts of a split lock, too");
}

}  // namespace offwait
