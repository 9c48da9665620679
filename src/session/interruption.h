// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {

/// Turns SIGINT and SIGTERM into something to poll for, until it is destroyed. Threads started in the
/// meantime do not receive them either.
class Interruption {
 public:
  Interruption() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &signals, &before_);
    fd_ = UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() {
    take();  // or it would end the process as soon as it is unblocked
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  int fd() const { return fd_.get(); }

  /// Whether a signal has come since the last call.
  bool take() const {
    bool any = false;
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof(info)) > 0) any = true;
    return any;
  }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

}  // namespace offwait
