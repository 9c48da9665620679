// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/attaching_line.h"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {
namespace {

/// What is written to standard error while an AttachingLine lives for so long.
std::string written_in(std::chrono::milliseconds time, bool shown) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd before(::dup(STDERR_FILENO));
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  {
    AttachingLine line(shown, "pid 7 (x)");
    line.take(AttachStep::find_threads);
    std::this_thread::sleep_for(time);
  }
  ::dup2(before.get(), STDERR_FILENO);
  std::array<char, 4096> text{};
  const ssize_t got = ::read(reading.get(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(got)};
}

TEST_CASE("attaching that takes longer than half a second says what it does") {
  const std::string text = written_in(std::chrono::milliseconds(700), true);
  CHECK(text.starts_with("\r\x1b[Kpid 7 (x): attaching for 0."));
  CHECK(text.find(" s, looks for threads and their code (Ctrl-C ends offwait)") != std::string::npos);
  CHECK(text.ends_with("\r\x1b[K"));
}

TEST_CASE("attaching is silent if it is short or nobody looks") {
  CHECK(written_in(std::chrono::milliseconds(1), true).empty());
  CHECK(written_in(std::chrono::milliseconds(700), false).empty());
}

}  // namespace
}  // namespace offwait
