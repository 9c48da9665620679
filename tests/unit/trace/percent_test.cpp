// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/percent.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

namespace offwait {
namespace {

std::string encoded(std::string_view bytes) {
  std::string out;
  append_percent_encoded(out, bytes);
  return out;
}

std::string problem_of(std::string_view text) {
  std::string out;
  return percent_decode(text, out).value_or("none");
}

TEST_CASE("percent encoding escapes what is not printable ASCII and what separates") {
  CHECK(encoded("f+0x1(lib.so:\"'\\)~!") == "f+0x1(lib.so:\"'\\)~!");
  CHECK(encoded(" %;#=") == "%20%25%3B%23%3D");
  CHECK(encoded(std::string_view("\0\n\x1b\x7f\xc3\xff", 6)) == "%00%0A%1B%7F%C3%FF");
  CHECK(encoded("").empty());
}

TEST_CASE("percent decoding is the inverse for every byte") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  std::string decoded = "old content";
  CHECK_FALSE(percent_decode(encoded(all), decoded).has_value());
  CHECK(decoded == all);
}

TEST_CASE("percent decoding takes printable bytes raw and digits of either case") {
  std::string decoded;
  CHECK_FALSE(percent_decode("a;b=c#%7e%7E", decoded).has_value());
  CHECK(decoded == "a;b=c#~~");
}

TEST_CASE("percent decoding says what is wrong") {
  CHECK(problem_of("a\x1b") == "byte 0x1B must be written as %1B");
  CHECK(problem_of("\xe2") == "byte 0xE2 must be written as %E2");
  CHECK(problem_of(std::string_view("\0", 1)) == "byte 0x00 must be written as %00");
  CHECK(problem_of("a%4") == "bad escape '%4' (expected % and two hexadecimal digits)");
  CHECK(problem_of("%") == "bad escape '%' (expected % and two hexadecimal digits)");
  CHECK(problem_of("%g0b") == "bad escape '%g0' (expected % and two hexadecimal digits)");
}

TEST_CASE("quoted text is printable and short") {
  CHECK(quoted("a b") == "'a b'");
  CHECK(quoted("\x1b[2J\xff") == "'\\x1B[2J\\xFF'");
  CHECK(quoted(std::string(40, 'x')) == "'" + std::string(40, 'x') + "'");
  CHECK(quoted(std::string(41, 'x')) == "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace offwait
