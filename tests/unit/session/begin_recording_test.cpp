// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/begin_recording.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

TEST_CASE("the next multiple is not earlier than asked for, and less than an interval later") {
  constexpr Nanos kNoon = 1'795'435'200 * kSecond;  // 2026-11-23 12:00:00 UTC
  CHECK(next_multiple(kNoon, 10 * kSecond) == kNoon);
  CHECK(next_multiple(kNoon + 1, 10 * kSecond) == kNoon + 10 * kSecond);
  CHECK(next_multiple(kNoon + 9 * kSecond, 10 * kSecond) == kNoon + 10 * kSecond);
  CHECK(next_multiple(kNoon + 1, 3600 * kSecond) == kNoon + 3600 * kSecond);
}

}  // namespace
}  // namespace offwait
