// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <csignal>
#include <initializer_list>

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {

/// Turns signals into something to poll for, until it ends. Threads started in the meantime do not receive
/// them either.
class Interruption {
 public:
  explicit Interruption(std::initializer_list<int> numbers = {SIGINT, SIGTERM, SIGHUP}) {
    sigset_t signals;
    sigset_t before;
    sigemptyset(&signals);
    sigemptyset(&blocked_);
    ::sigprocmask(SIG_SETMASK, nullptr, &before);
    for (const int number : numbers) {
      if (goes_on_at(number)) continue;
      sigaddset(&signals, number);
      if (sigismember(&before, number) == 0) sigaddset(&blocked_, number);
    }
    ::sigprocmask(SIG_BLOCK, &blocked_, nullptr);
    fd_ = UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() { end(); }
  int fd() const { return fd_.get(); }

  /// From now on signals do what they did before. Returns whether one has come since the last call of take().
  bool end() {
    if (!fd_) return false;
    const bool any = take();  // or it would end the process as soon as it is unblocked
    fd_ = UniqueFd();
    ::sigprocmask(SIG_UNBLOCK, &blocked_, nullptr);
    return any;
  }

  /// Whether a signal has come since the last call.
  bool take() const {
    bool any = false;
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof(info)) > 0) any = true;
    return any;
  }

 private:
  /// Under nohup(1) a hang-up is ignored, and stays so.
  static bool goes_on_at(int number) {
    struct sigaction action {};
    return number == SIGHUP && ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }

  sigset_t blocked_{};  ///< by this one
  UniqueFd fd_;
};

}  // namespace offwait
