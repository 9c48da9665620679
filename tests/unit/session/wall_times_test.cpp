// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/wall_times.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

#include "base/utc_time.h"

namespace offwait {
namespace {

constexpr Nanos kMinute = 60 * kSecond;
constexpr Nanos kHour = 60 * kMinute;
constexpr Window kTenMinutes{5 * kSecond, 5 * kSecond + 10 * kMinute};

struct TimeZone {
  explicit TimeZone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
};

WallTime at(Nanos of_day, bool utc = false) { return {std::nullopt, of_day, utc}; }

TracePart between(const WallTime& from, const WallTime& to) {
  TracePart part;
  part.wall_from = from;
  part.wall_to = to;
  return part;
}

TEST_CASE("a time of day is that of the reader's zone, unless it is UTC") {
  const TimeZone zone("CET-1");
  const Nanos start = utc_ns("2026-11-22T10:00:00.5Z");
  for (const bool utc : {false, true}) {
    const Nanos ten = (utc ? 10 : 11) * kHour;
    const auto part =
        counted_from_begin(between(at(ten + kMinute, utc), at(ten + 2 * kMinute, utc)), start, kTenMinutes);
    REQUIRE(part.ok());
    CHECK(part->from == kMinute - kSecond / 2);
    CHECK(part->to == 2 * kMinute - kSecond / 2);
    CHECK_FALSE(part->wall_from);
  }
}

TEST_CASE("a time of day is that nearest to the recording, also at midnight") {
  const TimeZone zone("UTC0");
  const Nanos start = utc_ns("2026-11-22T23:55:00Z");
  const auto part = counted_from_begin(between(at(24 * kHour - kMinute), at(kMinute)), start, kTenMinutes);
  REQUIRE(part.ok());
  CHECK(part->from == 4 * kMinute);
  CHECK(part->to == 6 * kMinute);
  const auto early = counted_from_begin(between(at(23 * kHour), at(0)), start, kTenMinutes);
  REQUIRE(early.ok());
  CHECK(early->from == 0);
  CHECK(early->to == 5 * kMinute);
}

TEST_CASE("a date says which day, and summer time is that of the day") {
  const TimeZone zone("CET-1CEST,M3.5.0,M10.5.0/3");
  const Nanos start = utc_ns("2026-07-01T10:00:00Z");
  WallTime noon = at(12 * kHour + kMinute);
  noon.date = std::chrono::year(2026) / 7 / 1;
  TracePart part;
  part.wall_from = noon;
  const auto found = counted_from_begin(part, start, kTenMinutes);
  REQUIRE(found.ok());
  CHECK(found->from == kMinute);
  CHECK_FALSE(found->to);
  part.wall_from->date = std::chrono::year(2026) / 7 / 2;
  const auto later = counted_from_begin(part, start, kTenMinutes);
  REQUIRE_FALSE(later.ok());
  CHECK(later.error().exit_status == 2);
  CHECK(later.error().message ==
        "--window has nothing of the recording, which lasted from 2026-07-01 12:00:00 to 12:10:00 CEST");
}

TEST_CASE("where nothing is by the clock, nothing changes; where no clock is known, it is said") {
  TracePart part;
  part.from = 3;
  CHECK(counted_from_begin(part, 0, kTenMinutes)->from == 3);
  part.wall_to = at(0);
  CHECK(counted_from_begin(part, 0, kTenMinutes).error().message ==
        "--window by the wall clock: the recording does not say when it was made; count from its start, as "
        "30s..40s");
}

}  // namespace
}  // namespace offwait
