// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/own_state.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <optional>

#include <sys/resource.h>

namespace offwait {
namespace {

constexpr std::array<int, 3> kSignals = {SIGUSR1, SIGXFSZ, SIGINT};

struct Inherited {
  std::array<struct sigaction, kSignals.size()> signals{};
  std::optional<rlimit> files;
};

std::optional<Inherited> inherited;

}  // namespace

void set_own_state() {
  Inherited before;
  struct sigaction set {};
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    set.sa_handler = kSignals[i] == SIGINT ? SIG_DFL : SIG_IGN;
    ::sigaction(kSignals[i], &set, &before.signals[i]);
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    before.files = files;
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  inherited = before;
}

void restore_inherited_state() {
  if (!inherited) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &inherited->signals[i], nullptr);
  if (inherited->files) ::setrlimit(RLIMIT_NOFILE, &*inherited->files);
}

}  // namespace offwait
