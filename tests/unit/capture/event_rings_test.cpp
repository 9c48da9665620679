// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/event_rings.h"

#include <catch2/catch.hpp>

using namespace offwait;

TEST_CASE("one ring buffer for each eight CPUs, rounded up to a power of two") {
  CHECK(rings_for(1) == 1);
  CHECK(rings_for(8) == 1);
  CHECK(rings_for(9) == 2);
  CHECK(rings_for(16) == 2);
  CHECK(rings_for(17) == 4);
  CHECK(rings_for(96) == 16);
  CHECK(rings_for(256) == 32);
}
