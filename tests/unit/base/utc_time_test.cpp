// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/utc_time.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

constexpr Nanos kNewYear = 1'767'225'600 * kSecond;  // of 2026

TEST_CASE("a text is read as a time as far as it is one") {
  CHECK(utc_ns("1970-01-01T00:00:01Z") == kSecond);
  CHECK(utc_ns("2026-01-01T00:00:00Z") == kNewYear);
  CHECK(utc_ns("2026-01-01T00:00:00.25Z") == kNewYear + kSecond / 4);
  CHECK(utc_ns("2026-01-01T00:00:00.1234567891Z") == kNewYear + 123'456'789);
  for (const char* const none :
       {"", "yesterday", "2026-01-01", "9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z"})
    CHECK(utc_ns(none) == 0);
}

TEST_CASE("a time has a text to the millisecond") {
  const Nanos time = kNewYear + 3661 * kSecond + 7'999'999;
  CHECK(utc_text(time) == "2026-01-01T01:01:01.007Z");
  CHECK(utc_stamp(time) == "20260101T010101.007Z");
  CHECK(utc_ns(utc_text(time)) == kNewYear + 3661 * kSecond + 7'000'000);
}

}  // namespace
}  // namespace offwait
