// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/say.h"

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {
namespace {

/// Standard error is another file until this is destroyed.
class StandardError {
 public:
  explicit StandardError(int other) : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    ::dup2(other, STDERR_FILENO);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  ~StandardError() { ::dup2(before_.get(), STDERR_FILENO); }

 private:
  UniqueFd before_;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

TEST_CASE("a message is a line whose bytes do nothing to a terminal") {
  const Pipe pipe;
  {
    const StandardError redirected(pipe.write.get());
    say("the name is \x1b[31m");
  }
  std::array<char, 100> text{};
  const ssize_t size = ::read(pipe.read.get(), text.data(), text.size());
  CHECK(std::string(text.data(), static_cast<std::size_t>(size)) == "offwait: the name is \\x1b[31m\n");
}

TEST_CASE("a message that nobody can read is dropped") {
  Pipe pipe;
  pipe.read = UniqueFd();
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const int other : {pipe.write.get(), full.get()}) {
    const StandardError redirected(other);
    say("nobody reads this");  // neither an exception nor SIGPIPE
  }
  sigset_t pending;
  ::sigpending(&pending);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
}

}  // namespace
}  // namespace offwait
