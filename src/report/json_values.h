// SPDX-License-Identifier: GPL-2.0-or-later
// Values of the JSON report. Strings are escaped, and numbers rounded to what they say.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/found_answers.h"
#include "base/escape.h"
#include "model/backtrace.h"

namespace offwait {

using Json = nlohmann::ordered_json;

inline Json text(std::string_view bytes) { return escape(bytes); }

// Nanosecond sums divided by 1e9 print up to 17 digits ("0.30000000000000004"); the digits below a
// nanosecond are noise.
inline Json seconds(double s) { return std::isfinite(s) ? std::round(s * 1e9) / 1e9 : 0.0; }

// Six digits behind the point say more than enough of a rate or a share.
inline Json rounded(double number) { return std::isfinite(number) ? std::round(number * 1e6) / 1e6 : 0.0; }

inline Json frames(const Backtrace& stack) {
  Json out = Json::array();
  for (const std::string& line : to_lines(stack)) {
    out.push_back(text(line));
  }
  return out;
}

template <class Items, class ToJson>
Json array_of(const Items& items, ToJson to_json_item) {
  Json out = Json::array();
  for (const auto& item : items) {
    out.push_back(to_json_item(item));
  }
  return out;
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

inline Json rounded_or_null(const std::optional<double>& value) {
  return value ? Json(rounded(*value)) : Json(nullptr);
}

inline Json gain_json(const Gain& gain) {
  return {{"gain", rounded(gain.gain)},
          {"low", rounded_or_null(gain.low)},
          {"high", rounded_or_null(gain.high)},
          {"certainty", to_string(gain.certainty)}};
}
inline Json gain_json(const std::optional<Gain>& gain) { return gain ? gain_json(*gain) : Json(nullptr); }

}  // namespace offwait
