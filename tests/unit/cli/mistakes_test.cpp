// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/mistakes.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace offwait::cli {
namespace {

using Words = std::vector<std::string>;

const KnownCommands kCommands = {
    {"", {{{"-p", "--pid"}, "PID"}, {{"-v", "--verbose"}, ""}, {{"-a", "--all"}, ""}}},
    {"report", {{{"--json"}, "FILE"}}},
};

Words strays(const Words& words) {
  Words strays;
  for (const Stray& stray : read_words(kCommands, words).strays)
    strays.push_back((stray.is_option ? "option " : "word ") + stray.word + (stray.is_last ? " last" : ""));
  return strays;
}

TEST_CASE("words are options, their values, a command, or strays") {
  CHECK(strays({}).empty());
  CHECK(strays({"-p", "1", "-va", "--pid=2", "-p3"}).empty());
  CHECK(read_words(kCommands, {"-vp1", "--all"}).options == Words{"-v", "-p", "--all"});
  CHECK(strays({"-p", "1", "2"}) == Words{"word 2 last"});
  CHECK(strays({"x", "-vqa", "--frob=1"}) == Words{"word x", "option -q", "option --frob last"});
  CHECK(strays({"-pid", "1"}) == Words{"option -pid", "word 1 last"});
  CHECK(strays({"-"}) == Words{"word - last"});
  CHECK(strays({"-5"}) == Words{"word -5 last"});
  CHECK(strays({"a", "--", "b"}) == Words{"word a"});
}

TEST_CASE("the first command selects whose options follow") {
  CHECK(read_words(kCommands, {"-v"}).command->name.empty());
  CHECK(read_words(kCommands, {"-p", "report"}).command->name.empty());
  const Reading reading = read_words(kCommands, {"report", "--json", "-", "-v", "report"});
  CHECK(reading.command->name == "report");
  REQUIRE(reading.strays.size() == 2);
  CHECK(reading.strays[0].word == "-v");
  CHECK(reading.strays[1].word == "report");
}

TEST_CASE("an option that takes a value does not take another option") {
  CHECK(read_words(kCommands, {"-p"}).lacks_value == "-p needs a value: PID");
  CHECK(read_words(kCommands, {"-p", "-v", "1"}).lacks_value == "-p needs a value: PID");
  CHECK(read_words(kCommands, {"--pid", "--"}).lacks_value == "--pid needs a value: PID");
  CHECK_FALSE(read_words(kCommands, {"-p", "-x"}).lacks_value.has_value());
  CHECK_FALSE(read_words(kCommands, {"-p="}).lacks_value.has_value());
}

TEST_CASE("the nearest word") {
  const Words candidates = {"--json", "--java", "--min-weight", "--duration", "-d", "dump"};
  CHECK(nearest("--jsn", candidates) == "--json");
  CHECK(nearest("--jsno", candidates) == "--json");
  CHECK(nearest("-json", candidates) == "--json");
  CHECK(nearest("--jva", candidates) == "--java");
  CHECK(nearest("--min-weigth", candidates) == "--min-weight");
  CHECK(nearest("--min", candidates) == "--min-weight");
  CHECK(nearest("dupm", candidates) == "dump");
  CHECK_FALSE(nearest("--verbose", candidates).has_value());
  CHECK_FALSE(nearest("-x", candidates).has_value());
  CHECK_FALSE(nearest("", candidates).has_value());
  CHECK_FALSE(nearest("--", candidates).has_value());
  CHECK_FALSE(nearest("--json", {}).has_value());
}

}  // namespace
}  // namespace offwait::cli
