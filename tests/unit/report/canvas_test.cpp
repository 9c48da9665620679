// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/canvas.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {
Canvas plain(int width = 40) { return {width, false, Charset::utf8}; }
}  // namespace

TEST_CASE("A line that is too wide is cut, with a mark") {
  Canvas canvas = plain();
  canvas.put(std::string(30, 'a')).put(std::string(10, 'b')).end();
  canvas.put(std::string(30, 'a')).put(std::string(11, 'b'), Ink::dim).end();
  canvas.put(std::string(39, 'a')).put("b", Ink::dim).put("c").end();
  CHECK(canvas.take() == std::string(30, 'a') + std::string(10, 'b') + "\n" + std::string(30, 'a') +
                             std::string(9, 'b') + "…\n" + std::string(39, 'a') + "…\n");
}

TEST_CASE("The smallest width is 40") {
  CHECK(plain(3).width() == 40);
  CHECK(plain(41).width() == 41);
}

TEST_CASE("Words flow, continue the line, and are indented afterwards") {
  Canvas canvas = plain();
  canvas.put("label  ");
  canvas.flow(words("one two three four five six seven eight nine ten eleven"), 7);
  CHECK(canvas.take() ==
        "label  one two three four five six seven\n"
        "       eight nine ten eleven\n");
}

TEST_CASE("Glued words stay together") {
  Canvas canvas = plain();
  canvas.flow({{std::string(38, 'x')}, {"ab"}, {":", Ink::plain, true}}, 2);
  CHECK(canvas.take() == std::string(38, 'x') + "\n  ab:\n");
}

TEST_CASE("The last line allowed ends with a mark when words are left") {
  Canvas canvas = plain();
  canvas.flow(words(std::string(25, 'a') + " " + std::string(25, 'b') + " " + std::string(25, 'c')), 2, 2);
  CHECK(canvas.take() == std::string(25, 'a') + "\n  " + std::string(25, 'b') + " …\n");
}

TEST_CASE("Columns: to() pads, put_right() aligns, spaces at the end are not written") {
  Canvas canvas = plain();
  canvas.to(2).put("ab").to(6).put_right("12", 4).to(12).end();
  canvas.put("abcdef").to(3).put("x   ").end();
  CHECK(canvas.take() == "  ab    12\nabcdef x\n");
}

TEST_CASE("Gaps are single and never at the begin") {
  Canvas canvas = plain();
  canvas.gap();
  canvas.put("a").end();
  canvas.gap();
  canvas.gap();
  canvas.put("b").end();
  CHECK(canvas.take() == "a\n\nb\n");
}

TEST_CASE("Color is around runs of one ink; text is escaped first") {
  Canvas canvas(40, true, Charset::utf8);
  canvas.put("a", Ink::strong).put("b\x1b", Ink::strong).put("c").end();
  CHECK(canvas.take() == "\x1b[1mab\\x1b\x1b[0mc\n");
}

TEST_CASE("ASCII: offwait's marks have names, everything else is escaped") {
  Canvas canvas(60, false, Charset::ascii);
  canvas.put("A → B ⇄ C ↺ ×2 µs ö …").end();
  CHECK(canvas.take() == "A -> B <-> C (self) x2 us \\u{00f6} ...\n");
}
