// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/priority.h"

#include <catch2/catch.hpp>

using namespace offwait;

TEST_CASE("CPUs are crowded where more threads are ready than nice -20 outweighs") {
  CHECK_FALSE(cpus_are_crowded("0.20 0.18 0.12 176/8123 30645\n", 2));
  CHECK(cpus_are_crowded("0.20 0.18 0.12 177/8123 30645\n", 2));
  CHECK_FALSE(cpus_are_crowded("8000.00 8000.00 8000.00 1/8123 30645\n", 1));
}

TEST_CASE("what cannot be read is not crowded") {
  for (const char* text : {"", "\n", "0.20 0.18 0.12", "/", " /", "x/2", "0.1 99999999999999999999/1"})
    CHECK_FALSE(cpus_are_crowded(text, 1));
}
