// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/escape.h"

#include <catch2/catch.hpp>
#include <random>

using namespace offwait;

TEST_CASE("What is printable stays as it is") {
  CHECK(escape("worker-1 [a b] \"q\" 'q' \\ <x>") == "worker-1 [a b] \"q\" 'q' \\ <x>");
  CHECK(escape("größe → 日本語 \xf0\x9f\x98\x80") == "größe → 日本語 \xf0\x9f\x98\x80");
  CHECK(escape("").empty());
}

TEST_CASE("Control characters are shown as bytes, C1 as code points") {
  CHECK(escape(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(escape("\x1b[31m\n\t\r\x7f") == "\\x1b[31m\\x0a\\x09\\x0d\\x7f");
  CHECK(escape("\xc2\x9b"
               "2J") == "\\u{009b}2J");
}

TEST_CASE("Bytes that are no valid UTF-8 are shown one by one") {
  CHECK(escape("\xff\xfe") == "\\xff\\xfe");
  CHECK(escape("\xc3(") == "\\xc3(");
  CHECK(escape("\xf0\x9f\x92") == "\\xf0\\x9f\\x92");
  CHECK(escape("\xc0\x80") == "\\xc0\\x80");                    // overlong NUL
  CHECK(escape("\xe0\x9f\xbf") == "\\xe0\\x9f\\xbf");           // overlong
  CHECK(escape("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(escape("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  CHECK(escape("\x80") == "\\x80");
}

TEST_CASE("Characters that reorder or hide text are shown as code points") {
  // NOLINTNEXTLINE(misc-misleading-bidirectional)
  CHECK(escape("\xe2\x80\xae..evil\u200B\xe2\x81\xa6\xe2\x81\xa9\uFEFF") ==
        "\\u{202e}..evil\\u{200b}\\u{2066}\\u{2069}\\u{feff}");
  CHECK(escape("\u200F\u2028\u00AD\U000E0041") == "\\u{200f}\\u{2028}\\u{00ad}\\u{e0041}");
  CHECK(escape("\xef\xbf\xbf") == "\\u{ffff}");
}

TEST_CASE("ASCII leaves nothing else") {
  CHECK(escape("größe\xff", Charset::ascii) == "gr\\u{00f6}\\u{00df}e\\xff");
  CHECK(escape("\xf0\x9f\x98\x80", Charset::ascii) == "\\u{1f600}");
}

TEST_CASE("Escaping twice changes nothing, whatever the bytes") {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same bytes every time
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    for (const Charset charset : {Charset::utf8, Charset::ascii}) {
      const std::string once = escape(bytes, charset);
      REQUIRE(escape(once, charset) == once);
    }
  }
}

TEST_CASE("Wide characters count as two columns") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("→ ⇄ ← ↺ ┆ … × µ ≥ ·") == 19);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("\xf0\x9f\x98\x80") == 2);
}

TEST_CASE("Truncation is by columns and marked") {
  CHECK(cut_to_width("abcdef", 6) == "abcdef");
  CHECK(cut_to_width("abcdef", 5) == "abcd…");
  CHECK(cut_to_width("abcdef", 5, Charset::ascii) == "ab...");
  CHECK(cut_to_width("日本語", 4) == "日…");  // two columns for each, one left
  CHECK(cut_to_width("abcdef", 1) == "…");
  CHECK(cut_to_width("abcdef", 0).empty());
  CHECK(cut_to_width("abcdef", 2, Charset::ascii) == "..");
}
