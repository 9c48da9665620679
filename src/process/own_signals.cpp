// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/own_signals.h"

#include <array>
#include <csignal>
#include <cstddef>

namespace offwait {
namespace {

constexpr std::array<int, 2> kStray = {SIGUSR1, SIGXFSZ};
std::array<struct sigaction, kStray.size()> before{};  // zeros: the default

}  // namespace

void outlive_stray_signals() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kStray.size(); ++i) ::sigaction(kStray[i], &ignored, &before[i]);
}

void restore_stray_signals() {
  for (std::size_t i = 0; i < kStray.size(); ++i) ::sigaction(kStray[i], &before[i], nullptr);
}

}  // namespace offwait
