// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/utc_time.h"

#include <cstdio>
#include <ctime>

namespace offwait {

Nanos utc_ns(const std::string& rfc3339) {
  std::tm time{};
  const int read =
      std::sscanf(rfc3339.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d",  // NOLINT(cert-err34-c)
                  &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec);
  constexpr int kFields = 6;
  if (read != kFields || time.tm_year < 1970 || time.tm_year > 2200) return 0;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return static_cast<Nanos>(::timegm(&time)) * kSecond;
}

}  // namespace offwait
