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

/// What is written to standard error while it exists.
class Terminal {
 public:
  Terminal() : before_(::dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    reading_ = UniqueFd(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { ::dup2(before_.get(), STDERR_FILENO); }

  /// Waits until this has been written.
  void await(const std::string& text) {
    while (written_.find(text) == std::string::npos && read()) {
    }
  }
  /// All that was written, to the end.
  std::string end() {
    ::dup2(before_.get(), STDERR_FILENO);
    while (read()) {
    }
    return written_;
  }

 private:
  bool read() {
    std::array<char, 4096> text{};
    const ssize_t got = ::read(reading_.get(), text.data(), text.size());
    if (got > 0) written_.append(text.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  UniqueFd before_;
  UniqueFd reading_;
  std::string written_;
};

constexpr milliseconds kShort{1};

}  // namespace

TEST_CASE("work that takes long says what it does, and the line is erased") {
  Terminal terminal;
  {
    StepLine line(true, kShort);
    line.say("reading a.offwait");
    terminal.await("reading");
  }
  const std::string text = terminal.end();
  CHECK(text.starts_with("\r\x1b[Kreading a.offwait (0."));
  CHECK(text.ends_with(" s)\r\x1b[K"));
}

TEST_CASE("a line says what goes on now, and for how long that has gone on") {
  Terminal terminal;
  {
    StepLine line(true, kShort);
    line.say([](Nanos age) { return age < kSecond / 5 ? "reading" : "reading still"; });
    terminal.await("reading still");
    line.say([](Nanos age) { return age < 0 ? "never" : "replaying"; });
    terminal.await("replaying");
  }
  const std::string text = terminal.end();
  const std::size_t next = text.find("\r\x1b[Kreplaying");
  REQUIRE(next != std::string::npos);
  CHECK(text.find("reading", next) == std::string::npos);
  CHECK(text.find("never") == std::string::npos);
}

TEST_CASE("no line is drawn of short work, of work without a name, or without a terminal") {
  const auto written = [](bool shown, milliseconds silence, const char* what) {
    Terminal terminal;
    {
      StepLine line(shown, silence);
      if (what != nullptr) line.say(what);
      std::this_thread::sleep_for(milliseconds(20));
    }
    return terminal.end();
  };
  CHECK(written(true, std::chrono::hours(1), "reading").empty());
  CHECK(written(false, kShort, "reading").empty());
  CHECK(written(true, kShort, nullptr).empty());
}

}  // namespace offwait
