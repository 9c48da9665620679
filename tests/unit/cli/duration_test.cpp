// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/duration.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

namespace offwait {
namespace {

struct Good {
  const char* text;
  Nanos duration;
};

TEST_CASE("durations") {
  constexpr std::array kGood = {
      Good{"90", 90 * kSecond},
      Good{"90s", 90 * kSecond},
      Good{"1", kSecond},
      Good{"007", 7 * kSecond},
      Good{"0.5", kSecond / 2},
      Good{"1.5", 3 * kSecond / 2},
      Good{"1.5s", 3 * kSecond / 2},
      Good{"500ms", kSecond / 2},
      Good{"0.5ms", 500'000},
      Good{"1us", 1000},
      Good{"0.001us", 1},
      Good{"0.000000001", 1},
      Good{"1m", 60 * kSecond},
      Good{"0.5m", 30 * kSecond},
      Good{"1m30s", 90 * kSecond},
      Good{"1m30.25s", 90 * kSecond + kSecond / 4},
      Good{"1h", 3600 * kSecond},
      Good{"1h2m3s4ms5us", 3723 * kSecond + 4'005'000},
      Good{"1h5us", 3600 * kSecond + 5000},
      Good{"0h1s", kSecond},
      Good{"90m", 5400 * kSecond},
      Good{"24h", 86400 * kSecond},
      Good{"86400", 86400 * kSecond},
      Good{"23h59m60s", 86400 * kSecond},
  };
  for (const Good& good : kGood) {
    CAPTURE(good.text);
    const Result<Nanos> parsed = parse_duration(good.text);
    if (!parsed.ok()) FAIL(parsed.error().message);
    CHECK(*parsed == good.duration);
  }
}

TEST_CASE("what is no duration, and the sentence about it") {
  const std::string many_digits(400, '9');
  const std::string no_end = "0." + std::string(400, '0') + "1";
  for (const std::string& text : {std::string(),
                                  std::string("-1"),
                                  std::string("+1"),
                                  std::string("0"),
                                  std::string("0s"),
                                  std::string("0h0m0s"),
                                  std::string("1x"),
                                  std::string("1s1m"),
                                  std::string("1s1s"),
                                  std::string("25h"),
                                  std::string("24h1us"),
                                  std::string("86401"),
                                  std::string("1e3"),
                                  std::string("1e3s"),
                                  std::string("nan"),
                                  std::string("inf"),
                                  std::string("infinity"),
                                  std::string("5 s"),
                                  std::string(" 5"),
                                  std::string("5 "),
                                  std::string("5s "),
                                  std::string("1m 30s"),
                                  std::string("s"),
                                  std::string("ms"),
                                  std::string("."),
                                  std::string(".5"),
                                  std::string("1.5.5"),
                                  std::string("1,5"),
                                  std::string("1m30"),
                                  std::string("1.5m30s"),
                                  std::string("1S"),
                                  std::string("1sec"),
                                  std::string("1min"),
                                  std::string("1d"),
                                  std::string("1ns"),
                                  std::string("0x10"),
                                  std::string("1s-"),
                                  std::string("1\n"),
                                  std::string("1\0s", 3),
                                  std::string("0.0000000001"),
                                  std::string("\xff"),
                                  std::string("9223372036854775807"),
                                  many_digits,
                                  no_end}) {
    const Result<Nanos> parsed = parse_duration(text);
    CAPTURE(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().message ==
          "bad duration '" + text + "': expected something like 90, 90s, 1m30s or 500ms, at most 24h");
  }
}

TEST_CASE("a threshold is a part of the window or a duration") {
  for (const auto& [text, part] : {std::pair("20%", 0.20), std::pair("0%", 0.0), std::pair("100%", 1.0),
                                   std::pair("0.5%", 0.005), std::pair("12.5%", 0.125)}) {
    CAPTURE(text);
    const Result<Threshold> parsed = parse_threshold(text);
    if (!parsed.ok()) FAIL(parsed.error().message);
    CHECK(parsed->is_part);
    CHECK(parsed->part == Approx(part).epsilon(1e-12));
    CHECK(parsed->duration == 0);
  }
  for (const auto& [text, duration] :
       {std::pair("500ms", kSecond / 2), std::pair("2", 2 * kSecond), std::pair("1m30s", 90 * kSecond)}) {
    CAPTURE(text);
    const Result<Threshold> parsed = parse_threshold(text);
    if (!parsed.ok()) FAIL(parsed.error().message);
    CHECK_FALSE(parsed->is_part);
    CHECK(parsed->duration == duration);
  }
}

TEST_CASE("what is no threshold, and the sentence about it") {
  for (const std::string text : {"", "%", "101%", "100.1%", "-1%", "1 %", "%20", "20%%", "1e1%", "nan%",
                                 "inf%", "5x", "0", "-1", "20%s", "1s%", "25h"}) {
    const Result<Threshold> parsed = parse_threshold(text);
    CAPTURE(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().message ==
          "bad threshold '" + text + "': expected a part of the window like 20%, or a duration like 500ms");
  }
}

}  // namespace
}  // namespace offwait
