// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/diff.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "report/wording_diff.h"
#include "unit/diff/server.h"
#include "unit/report/text_checks.h"

using namespace offwait;
using namespace offwait::test;

namespace {

Comparison sample() {
  Server before;
  before.seconds = 1;
  before.disk_ms = 3;
  before.locked_ms = 1;
  Server after = before;
  after.disk_ms = 0.3;
  return compared(before, after, 1, 2);
}

const std::string kHostile = "a b;c\x1b[2J\xff\n → ± " + std::string(90, 'x');

void poison(ComparedEnd& end) { end.name = kHostile; }

void poison(Comparison& comparison) {
  for (ComparedSide* side : {&comparison.before, &comparison.after}) {
    side->programs = {kHostile};
    for (ComparedSide::Recording& one : side->recordings) {
      one.file = kHostile;
      one.findings.recording = {kHostile, kHostile, kHostile, 2, kHostile};
      for (FoundActor& actor : one.findings.actors) actor.name = kHostile;
    }
  }
  comparison.named_in_some = {kHostile};
  comparison.unit = {ComparedUnit::Kind::call, ComparedUnit::Reason::none, {kHostile}};
  for (ComparedEdge& edge : comparison.edges) {
    poison(edge.from);
    poison(edge.to);
    for (Frame& frame : edge.stack.frames) frame.function = kHostile;
  }
  for (ComparedLock& lock : comparison.locks) {
    lock.key.variable = kHostile;
    lock.key.function = kHostile;
    lock.waiters = {kHostile, kHostile, kHostile, kHostile};
  }
  for (ComparedFunction& function : comparison.functions) {
    function.function.function = kHostile;
    function.function.module = kHostile;
    function.callers = {function.function, function.function};
  }
  for (ComparedKnot& knot : comparison.knots)
    std::for_each(knot.members.begin(), knot.members.end(), [](ComparedEnd& end) { poison(end); });
}

/// A comparison per answer, with twice as many answers after.
Comparison of_twice_the_answers() {
  Comparison comparison;
  comparison.unit = {ComparedUnit::Kind::answer, ComparedUnit::Reason::none, {}};
  comparison.amounts = 2;
  comparison.throughput.emplace();
  comparison.throughput->before = 100;
  comparison.throughput->after = 200;
  comparison.throughput->change = ComparedAmount::Change::grew;
  return comparison;
}

}  // namespace

TEST_CASE("no line of a comparison is wider than the terminal") {
  Comparison comparison = sample();
  for (const bool hostile : {false, true}) {
    if (hostile) poison(comparison);
    for (const int width : {60, 72, 80, 100, 160}) {
      for (const int verbosity : {0, 1}) {
        TextStyle style;
        style.width = width;
        style.verbosity = verbosity;
        CHECK(widest(to_text(comparison, style)) <= width);
      }
    }
  }
}

TEST_CASE("hostile names are escaped in texts and JSON") {
  Comparison comparison = sample();
  poison(comparison);
  TextStyle style;
  style.verbosity = 1;
  const auto is_harmless = [](const std::string& text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return c == '\x1b' || c == '\x7f'; }) &&
           text.find("\xff") == std::string::npos;
  };
  CHECK(is_harmless(to_text(comparison, style)));
  CHECK(is_harmless(to_json(comparison)));
  style.charset = Charset::ascii;
  const std::string ascii = to_text(comparison, style);
  CHECK(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST_CASE("what changed is shown, and the rest is counted; -v shows it") {
  TextStyle style;
  CHECK(to_text(sample(), style).find("The largest saving, by weight: srv-* → disk vda shrank, from ") !=
        std::string::npos);
  const Comparison comparison = compared({}, {}, 1, 2);
  const std::string brief = to_text(comparison, style);
  CHECK(brief.find("No change: all differences are within the spread.") != std::string::npos);
  CHECK(brief.find("1 lock within the spread (-v)") != std::string::npos);
  CHECK(brief.find("each: ") == std::string::npos);
  style.verbosity = 1;
  const std::string all = to_text(comparison, style);
  CHECK(all.find("within the spread (-v)") == std::string::npos);
  CHECK(all.find("each: ") != std::string::npos);
}

TEST_CASE("waits that are fewer, and take as long") {
  Server before;
  before.seconds = 2;
  before.locked_ms = 0;
  Server after = before;
  before.more = waits_at_lock(2000, 0.2);
  after.more = waits_at_lock(100, 4);
  const std::string text = headline(compared(before, after, 1, 3));
  CHECK(text.starts_with("The largest change: srv-* → srv-* has fewer waits, "));
  CHECK(text.find(" per answer, which took as long within the spread. With it, the lock of store has fewer "
                  "waits, ") != std::string::npos);
  ComparedLock lock;
  lock.waits.before = 77'171;
  lock.waits.after = 1'671.4;
  lock.waiters = {"db"};
  CHECK(lock_details(lock) == "77,171 → 1,671 waits by db");
  lock.waits.spread = 8'030;
  lock.waits.change = ComparedAmount::Change::shrank;
  CHECK(lock_details(lock) == "77,171 → 1,671 waits (-98%, ±8,030) by db");
}

TEST_CASE("a headline names what explains the progress, of whatever kind it is") {
  Comparison comparison = of_twice_the_answers();
  ComparedFunction function;
  function.function.function = "epoll_wait";
  function.time.after = 0.002;
  function.time.change = ComparedAmount::Change::came;
  comparison.functions = {function};
  ComparedTime time;
  time.kind = TimeKind::cpu;
  time.time.before = 0.003;
  time.time.after = 0.002;
  time.time.change = ComparedAmount::Change::shrank;
  comparison.times = {time};
  CHECK(headline(comparison) ==
        "No wait changed beyond the spread. The largest saving: time on CPUs shrank, from 3.00 ms to 2.00 ms "
        "per answer.");
  comparison.throughput->after = 50;
  comparison.throughput->change = ComparedAmount::Change::shrank;
  CHECK(headline(comparison) ==
        "No wait changed beyond the spread. The largest cost: epoll_wait is new: 2.00 ms per answer.");
  comparison.throughput.reset();
  CHECK(headline(comparison) ==
        "No wait changed beyond the spread. The largest change: epoll_wait is new: 2.00 ms per answer.");
}

TEST_CASE("what an edge weighs is called a weight, and what is gone is told by what it was") {
  Comparison comparison = of_twice_the_answers();
  ComparedEdge edge;
  edge.from.name = "redis";
  edge.to = {EndKey::Kind::disk, "vda"};
  edge.weight.before = 31.1e-6;
  edge.weight.change = ComparedAmount::Change::went;
  comparison.edges = {edge};
  CHECK(headline(comparison).find(", by weight: redis → disk vda is gone: it was 31.1 µs per answer.") !=
        std::string::npos);
}

TEST_CASE(
    "a headline names the kind of waiting of which several functions have less, and the one with most") {
  Comparison comparison = of_twice_the_answers();
  ComparedTime time;
  time.kind = TimeKind::runnable;
  time.time.before = 0.005;
  time.time.after = 0.002;
  time.time.change = ComparedAmount::Change::shrank;
  comparison.times = {time};
  ComparedFunction function;
  function.function.function = "poll";
  function.time.before = 0.003;
  function.time.after = 0.001;
  function.time.change = ComparedAmount::Change::shrank;
  comparison.functions = {function};
  CHECK(
      headline(comparison) ==
      "The largest saving: time waiting for a CPU shrank, from 5.00 ms to 2.00 ms per answer. With it, poll "
      "shrank, from 3.00 ms to 1.00 ms per answer.");
  comparison.functions.front().time.before = 0.0015;
  CHECK(headline(comparison) ==
        "The largest saving: time waiting for a CPU shrank, from 5.00 ms to 2.00 ms per answer.");
  comparison.functions.front().time.before = 0.009;
  CHECK(headline(comparison) == "The largest saving: poll shrank, from 9.00 ms to 1.00 ms per answer.");
}

TEST_CASE("amounts in words") {
  ComparedAmount amount;
  amount.before = 0.005;
  amount.after = 0.001;
  amount.change = ComparedAmount::Change::shrank;
  CHECK(change_text(amount) == "-4.00 ms");
  CHECK(part_text(amount) == "-80%");
  amount.after = 0.1;
  CHECK(part_text(amount) == "×20.0");
  CHECK(change_text(amount) == "+95.0 ms");
  amount.change = ComparedAmount::Change::came;
  CHECK(part_text(amount) == "came");
  CHECK(part_text({}).empty());
  CHECK(per_unit({ComparedUnit::Kind::call, ComparedUnit::Reason::none, {"commit"}}) == "per call of commit");
  CHECK(lock_text({.variable = "LOCK_open", .module = "db", .offset = 8}) == "LOCK_open+0x8 (db)");
  CHECK(lock_text({.function = "Cache::get"}) == "lock of Cache::get");
  CHECK(lock_text({.variable = "mmap_lock", .process = "db"}) == "mmap_lock of db");
}

TEST_CASE("folded stacks of both sides are for as many units") {
  const std::vector<FoldedRecording> before = {{{{"a;b", 4'000'000}, {"a;c", 400}}, 100},
                                               {{{"a;b", 2'000'000}}, 100}};
  const std::vector<FoldedRecording> after = {{{{"a;b", 4'000'000}, {"a;d", 1'000'000}}, 400}};
  CHECK(folded_difference(before, after, 1000) == "a;b 3000 1000\na;d 0 250\n");
}
