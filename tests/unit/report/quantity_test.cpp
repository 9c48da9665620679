// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/quantity.h"

#include <catch2/catch.hpp>

using namespace offwait;

TEST_CASE("Seconds have three digits and the unit that fits") {
  CHECK(format_seconds(0) == "0 s");
  CHECK(format_seconds(-1) == "0 s");
  CHECK(format_seconds(1e-9) == "1 ns");
  CHECK(format_seconds(999e-9) == "999 ns");
  CHECK(format_seconds(12.34e-6) == "12.3 µs");
  CHECK(format_seconds(0.012345) == "12.3 ms");
  CHECK(format_seconds(0.9996) == "1.00 s");
  CHECK(format_seconds(8) == "8.00 s");
  CHECK(format_seconds(9.996) == "10.0 s");
  CHECK(format_seconds(99.96) == "100 s");
  CHECK(format_seconds(123.4) == "123 s");
  CHECK(format_seconds(86400) == "86400 s");
}

TEST_CASE("Percent are whole from ten on") {
  CHECK(format_percent(0, 10) == "0%");
  CHECK(format_percent(0.004, 10) == "0%");
  CHECK(format_percent(0.42, 10) == "4.2%");
  CHECK(format_percent(0.9949, 10) == "9.9%");
  CHECK(format_percent(0.996, 10) == "10%");
  CHECK(format_percent(14.6, 10) == "146%");
  CHECK(format_percent(1, 0) == "-");
}

TEST_CASE("Counts, ratios and scaled numbers") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(1234567) == "1,234,567");
  CHECK(format_count(UINT64_MAX) == "18,446,744,073,709,551,615");
  CHECK(format_ratio(0.456) == "0.46");
  CHECK(format_ratio(12.34) == "12.3");
  CHECK(format_scaled(7) == "7 ");
  CHECK(format_scaled(50000) == "50 k");
  CHECK(format_scaled(1.5e9) == "1.50 G");
  CHECK(format_plural(1, "wait") == "1 wait");
  CHECK(format_plural(1200, "wait") == "1,200 waits");
}
