// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/wall_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include "base/exit_status.h"

namespace offwait {
namespace {

std::tm calendar(Nanos time, bool utc) {
  const std::time_t seconds = time / kSecond;
  std::tm parts{};
  if (utc)
    ::gmtime_r(&seconds, &parts);
  else
    ::localtime_r(&seconds, &parts);
  return parts;
}

/// The time of day on the date that is `days` days after this one. A time that a change to summer time leaves
/// out is moved.
Nanos on_day(const WallTime& time, std::tm date, int days) {
  constexpr Nanos kMinute = 60 * kSecond;
  date.tm_mday += days;
  date.tm_hour = static_cast<int>(time.of_day / (60 * kMinute));
  date.tm_min = static_cast<int>(time.of_day / kMinute % 60);
  date.tm_sec = static_cast<int>(time.of_day / kSecond % 60);
  date.tm_isdst = -1;
  return Nanos{time.utc ? ::timegm(&date) : ::mktime(&date)} * kSecond + time.of_day % kSecond;
}

/// Ns since 1970.
Nanos resolved(const WallTime& time, Nanos middle) {
  if (time.date) {
    std::tm date{};
    date.tm_year = int{time.date->year()} - 1900;
    date.tm_mon = static_cast<int>(unsigned{time.date->month()}) - 1;
    date.tm_mday = static_cast<int>(unsigned{time.date->day()});
    return on_day(time, date, 0);
  }
  const std::tm today = calendar(middle, time.utc);
  const std::array days = {on_day(time, today, -1), on_day(time, today, 0), on_day(time, today, 1)};
  return *std::min_element(days.begin(), days.end(), [middle](Nanos a, Nanos b) {
    return std::abs(a - middle) < std::abs(b - middle);
  });
}

std::string text_of(Nanos time, bool utc, const char* form) {
  const std::tm parts = calendar(time, utc);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), form, &parts);
  return text.data();
}

}  // namespace

Result<TracePart> counted_from_begin(const TracePart& part, Nanos start, const Window& whole) {
  if (!part.wall_from && !part.wall_to) return part;
  if (start == 0)
    return Error{
        "--window by the wall clock: the recording does not say when it was made; count from its start, as "
        "30s..40s",
        kUsage};
  const Nanos middle = start + whole.length() / 2;
  TracePart counted;
  counted.from = part.from;
  counted.to = part.to;
  if (part.wall_from) counted.from = std::max<Nanos>(0, resolved(*part.wall_from, middle) - start);
  if (part.wall_to) counted.to = resolved(*part.wall_to, middle) - start;
  if (counted.from < whole.length() && (!counted.to || *counted.to > counted.from)) return counted;
  const bool utc = part.wall_from ? part.wall_from->utc : part.wall_to->utc;
  const Nanos end = start + whole.length();
  return Error{fmt::format("--window has nothing of the recording, which lasted from {} to {}",
                           text_of(start, utc, "%Y-%m-%d %H:%M:%S"), text_of(end, utc, "%H:%M:%S %Z")),
               kUsage};
}

}  // namespace offwait
