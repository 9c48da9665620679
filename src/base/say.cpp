// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/say.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"

namespace offwait {
namespace {

/// Keeps a pipe that nobody reads any more from ending this process.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec now{};
      ::sigtimedwait(&pipe_, nullptr, &now);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

/// Else the line would be in the way of those that the user types into.
bool has_terminal() {
  const pid_t foreground = ::tcgetpgrp(STDERR_FILENO);
  return foreground < 0 || foreground == ::getpgrp();
}

constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

void say(std::string_view sentence) { write_to_stderr("offwait: " + escape(sentence) + "\n"); }

void write_to_stderr(std::string_view text) {
  const WithoutSigpipe guard;
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool show_on_line(std::string_view text) {
  if (!has_terminal()) return false;
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // A line that goes on in the next one could not be cleared.
  write_to_stderr(std::string(kClearLine) +
                  (is_known ? cut_to_width(text, size.ws_col - 1) : std::string(text)));
  return true;
}

void clear_line() { write_to_stderr(kClearLine); }

}  // namespace offwait
