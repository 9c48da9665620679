// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/utc_time.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "base/monotonic.h"

namespace offwait {
namespace {

std::string text_of(Nanos time, const char* form) {
  const std::time_t seconds = time / kSecond;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> day{};
  std::strftime(day.data(), day.size(), form, &parts);
  constexpr Nanos kMillisecond = kSecond / 1000;
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(time % kSecond / kMillisecond));
  return std::string(day.data()) + fraction.data();
}

}  // namespace

Nanos wall_clock_now() { return read_clock(CLOCK_REALTIME); }

std::string utc_text(Nanos time) { return text_of(time, "%Y-%m-%dT%H:%M:%S"); }

std::string utc_stamp(Nanos time) { return text_of(time, "%Y%m%dT%H%M%S"); }

Nanos utc_ns(const std::string& rfc3339) {
  std::tm time{};
  int used = 0;
  const int read = std::sscanf(rfc3339.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n",  // NOLINT(cert-err34-c)
                               &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour, &time.tm_min,
                               &time.tm_sec, &used);
  constexpr int kFields = 6;
  if (read != kFields || time.tm_year < 1970 || time.tm_year > 2200) return 0;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  Nanos fraction = 0;
  const std::size_t point = static_cast<std::size_t>(used);
  if (point < rfc3339.size() && rfc3339[point] == '.') {
    Nanos unit = kSecond / 10;
    for (std::size_t i = point + 1; i < rfc3339.size() && rfc3339[i] >= '0' && rfc3339[i] <= '9';
         ++i, unit /= 10)
      fraction += (rfc3339[i] - '0') * unit;
  }
  return static_cast<Nanos>(::timegm(&time)) * kSecond + fraction;
}

}  // namespace offwait
