// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/forked_writer.h"

#include <array>
#include <catch2/catch.hpp>
#include <csignal>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace offwait {
namespace {

/// Waits until the process has ended, as those do that poll.
void await(const ForkedWriter& writer) {
  if (!writer.runs()) return;
  pollfd ended{writer.fd(), POLLIN, 0};
  REQUIRE(::poll(&ended, 1, -1) == 1);
}

/// SIGCHLD is ignored meanwhile, as it is under some supervisors.
class IgnoredChildren {
 public:
  IgnoredChildren() : before_(std::signal(SIGCHLD, SIG_IGN)) {}
  IgnoredChildren(const IgnoredChildren&) = delete;
  IgnoredChildren& operator=(const IgnoredChildren&) = delete;
  ~IgnoredChildren() { std::signal(SIGCHLD, before_); }

 private:
  void (*before_)(int);
};

}  // namespace

TEST_CASE("a process writes while this one goes on") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ForkedWriter writer;
  CHECK(writer.fd() == -1);
  REQUIRE(writer.start([&ends] { return ::write(ends[1], "x", 1) == 1; }).ok());
  CHECK(writer.runs());
  await(writer);
  writer.look();
  CHECK_FALSE(writer.runs());
  CHECK(writer.fd() == -1);
  char got = 0;
  CHECK(::read(ends[0], &got, 1) == 1);
  CHECK(got == 'x');
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a writer is done only when its process has ended") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ForkedWriter writer;
  REQUIRE(writer
              .start([&ends] {
                char go = 0;
                return ::read(ends[0], &go, 1) == 1;
              })
              .ok());
  writer.look();
  CHECK(writer.runs());
  REQUIRE(::write(ends[1], "x", 1) == 1);
  writer.finish();
  CHECK_FALSE(writer.runs());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("the end of a writer is seen where SIGCHLD is ignored") {
  const IgnoredChildren ignored;
  ForkedWriter writer;
  REQUIRE(writer.start([] { return true; }).ok());
  await(writer);
  writer.look();
  CHECK_FALSE(writer.runs());
}

TEST_CASE("a writer that cannot be watched is waited for") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none_left{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none_left) == 0);
  ForkedWriter writer;
  const bool started = writer.start([] { return true; }).ok();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(started);
  CHECK_FALSE(writer.runs());
  CHECK(writer.fd() == -1);
}

TEST_CASE("a writer that cannot write, or is killed, has ended") {
  ForkedWriter failed;
  REQUIRE(failed.start([] { return false; }).ok());
  failed.finish();
  CHECK_FALSE(failed.runs());
  ForkedWriter killed;
  REQUIRE(killed.start([] { return ::raise(SIGKILL) == 0; }).ok());
  killed.finish();
  CHECK_FALSE(killed.runs());
  CHECK(killed.start([] { return true; }).ok());
  killed.finish();
}

}  // namespace offwait
