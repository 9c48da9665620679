// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/step_line.h"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {
namespace {

using std::chrono::milliseconds;

/// What is written to standard error while `work` has a StepLine that is silent for so long.
template <class Work>
std::string written_in(bool shown, Work work, milliseconds silence = milliseconds(100)) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd before(::dup(STDERR_FILENO));
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  {
    StepLine line(shown, silence);
    work(line);
  }
  ::dup2(before.get(), STDERR_FILENO);
  std::array<char, 4096> text{};
  const ssize_t got = ::read(reading.get(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(got)};
}

void wait_for(milliseconds time) { std::this_thread::sleep_for(time); }

}  // namespace

TEST_CASE("work that takes long says what it does, and the line is erased") {
  const std::string text = written_in(true, [](StepLine& line) {
    line.say("reading a.offwait");
    wait_for(milliseconds(250));
  });
  CHECK(text.starts_with("\r\x1b[Kreading a.offwait (0."));
  CHECK(text.ends_with(" s)\r\x1b[K"));
}

TEST_CASE("a line says what goes on now, and for how long that has gone on") {
  const std::string text = written_in(true, [](StepLine& line) {
    line.say("reading");
    wait_for(milliseconds(250));
    line.say([](Nanos age) { return age < kSecond / 5 ? "replaying" : "still replaying"; });
    wait_for(milliseconds(250));
  });
  const std::size_t next = text.find("\r\x1b[Kreplaying");
  CHECK(text.find("\r\x1b[Kreading") < next);
  CHECK(next != std::string::npos);
  CHECK(text.find("reading", next) == std::string::npos);
}

TEST_CASE("work is silent if it is short, has nothing to say, or nobody looks") {
  const auto says = [](milliseconds time) {
    return [time](StepLine& line) {
      line.say("reading");
      wait_for(time);
    };
  };
  CHECK(written_in(true, says(milliseconds(1)), std::chrono::hours(1)).empty());
  CHECK(written_in(false, says(milliseconds(250))).empty());
  CHECK(written_in(true, [](StepLine&) { wait_for(milliseconds(250)); }).empty());
}

}  // namespace offwait
