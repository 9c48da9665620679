// SPDX-License-Identifier: GPL-2.0-or-later
#include "sandbox/confined_batch.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "sandbox/message.h"

using namespace offwait;

namespace {

/// The answers one after another, with `x` for each item without one.
std::string text_of(const ConfinedAnswers& answers) {
  std::string text;
  for (const auto& answer : answers.answers) text += answer ? *answer : "x";
  return text;
}

ConfinedBatch batch_of(std::size_t items, const std::function<void(std::size_t)>& before) {
  ConfinedBatch batch;
  batch.items = items;
  batch.confinement.cpu_time = std::chrono::seconds(1);
  batch.answer = [before](std::size_t index) {
    before(index);
    return std::to_string(index);
  };
  return batch;
}

}  // namespace

TEST_CASE("an item that crashes costs its own answer") {
  const auto answers = answer_confined(batch_of(8, [](std::size_t index) {
    if (index == 0 || index == 3 || index == 7) std::abort();
  }));
  CHECK(text_of(answers) == "x12x456x");
  CHECK(answers.lost == 3);
  CHECK(!answers.given_up);
}

TEST_CASE("after four lost items the rest is not tried") {
  const auto answers = answer_confined(batch_of(8, [](std::size_t index) {
    if (index % 2 == 1 || index == 4) std::abort();
  }));
  CHECK(text_of(answers) == "0x2xxxxx");
  CHECK(answers.lost == 4);
  CHECK(answers.given_up);
  CHECK(!answer_confined(batch_of(0, {})).given_up);
}

TEST_CASE("an item during which its process ran out of time is tried in a fresh process") {
  int done = 0;
  const auto answers = answer_confined(batch_of(3, [&done](std::size_t) {
    // Each process has a copy of `done`.
    if (++done == 3) {
      for (;;) asm volatile("");
    }
  }));
  CHECK(text_of(answers) == "012");
  CHECK(answers.lost == 0);
}

TEST_CASE("slow items use up only as many processes as they may") {
  int done = 0;
  ConfinedBatch batch = batch_of(9, [&done](std::size_t) {
    if (++done == 3) throw std::bad_alloc();
  });
  batch.most_exhausted = 3;
  const auto answers = answer_confined(batch);
  CHECK(text_of(answers) == "012345xxx");
  CHECK(answers.lost == 0);
  CHECK(answers.given_up);
}

TEST_CASE("if preparing fails, no item is tried") {
  ConfinedBatch batch = batch_of(3, [](std::size_t) {});
  batch.prepare = [] { std::abort(); };
  const auto answers = answer_confined(batch);
  CHECK(text_of(answers) == "xxx");
  CHECK(answers.given_up);
}

TEST_CASE("a message has its values in their order, and nothing behind its end") {
  MessageWriter writer;
  writer.number(7);
  writer.text("text");
  writer.text("");
  const std::string bytes = std::move(writer).take();
  MessageReader reader(bytes);
  CHECK(reader.number() == 7);
  CHECK(reader.text() == "text");
  CHECK(reader.text().empty());
  CHECK(reader.at_end());
  CHECK(!reader.failed());
  CHECK(reader.number() == 0);
  CHECK(reader.failed());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    MessageReader cut(std::string_view(bytes).substr(0, size));
    (void)cut.number();
    (void)cut.text();
    (void)cut.text();
    CHECK(cut.failed());
  }
  MessageWriter liar;
  liar.number(UINT64_MAX);
  MessageReader lied(liar.bytes());
  CHECK(lied.text().empty());
  CHECK(lied.failed());
}
