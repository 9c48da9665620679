// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/event_rings.h"

#include <catch2/catch.hpp>

using namespace offwait;

TEST_CASE("the CPUs' ring buffers have 16 MB together, but at least 1 MB each") {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  CHECK(ring_bytes_for(1) == 16 * kMegabyte);
  CHECK(ring_bytes_for(2) == 8 * kMegabyte);
  CHECK(ring_bytes_for(6) == 2 * kMegabyte);
  CHECK(ring_bytes_for(16) == kMegabyte);
  CHECK(ring_bytes_for(256) == kMegabyte);
}
