// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/command_end.h"

#include <catch2/catch.hpp>
#include <csignal>

namespace offwait {
namespace {

// A status of waitpid(2) has an exit status in the second byte, or a signal in the first.
constexpr int exited(int status) { return status << 8; }

TEST_CASE("offwait ends with the command's status") {
  CHECK(exit_status_of(exited(0), false) == 0);
  CHECK(exit_status_of(exited(3), true) == 3);
  CHECK(exit_status_of(SIGSEGV, true) == 139);
  CHECK(exit_status_of(SIGTERM, false) == 143);
  CHECK(exit_status_of(SIGTERM, true) == 0);
  CHECK(exit_status_of(SIGINT, true) == 0);
}

TEST_CASE("a signal that ended the command is reported, unless offwait sent it") {
  CHECK_FALSE(death_of(exited(1), false));
  CHECK_FALSE(death_of(SIGTERM, true));
  CHECK(death_of(SIGTERM, false) == "the command died of signal 15 (Terminated)");
  CHECK(death_of(SIGKILL, true) == "the command died of signal 9 (Killed)");
}

}  // namespace
}  // namespace offwait
