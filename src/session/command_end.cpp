// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/command_end.h"

#include <array>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include "base/say.h"

namespace offwait {
namespace {

bool as_told(int signal, bool told) { return told && (signal == SIGTERM || signal == SIGINT); }

}  // namespace

int await_end(HeldCommand& command, const Interruption& interruption, bool quiet) {
  constexpr int kLongMs = 1000;
  constexpr int kForEver = -1;
  for (bool said = quiet;;) {
    std::array<pollfd, 2> waits = {{{command.fd(), POLLIN, 0}, {interruption.fd(), POLLIN, 0}}};
    const int ready = ::poll(waits.data(), waits.size(), said ? kForEver : kLongMs);
    if (waits[0].revents != 0) return command.wait_status();
    if (waits[1].revents != 0 && interruption.take()) command.send(SIGKILL);
    if (ready == 0) {
      say("sent SIGTERM to the command, and waits for it to end (Ctrl-C kills it)");
      said = true;
    }
  }
}

int exit_status_of(int wait_status, bool told) {
  constexpr int kSignalled = 128;
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  const int signal = WTERMSIG(wait_status);
  return as_told(signal, told) ? 0 : kSignalled + signal;
}

std::optional<std::string> death_of(int wait_status, bool told) {
  if (WIFEXITED(wait_status) || as_told(WTERMSIG(wait_status), told)) return std::nullopt;
  const int signal = WTERMSIG(wait_status);
  return fmt::format("the command died of signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace offwait
