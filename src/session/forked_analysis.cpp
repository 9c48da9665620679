// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/forked_analysis.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"

namespace offwait {
namespace {

/// A process that sends more has gone wrong.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The screen belongs to the process that goes on, and so do the keys that send signals.
void leave_terminal() {
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGWINCH}) ::signal(signal, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
}

/// One that does not come to an end is ended by the kernel.
void limit_time() {
  constexpr rlim_t kMostSeconds = 120;
  const rlimit limit{kMostSeconds, kMostSeconds};
  ::setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace

Status ForkedAnalysis::start(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{fmt::format("cannot start an analysis: {}", std::strerror(errno))};
  UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return Error{fmt::format("cannot start an analysis: {}", std::strerror(errno))};
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    leave_terminal();
    limit_time();
    try {
      ::_exit(write_all(write_end.get(), work()) ? 0 : 1);
    } catch (...) {
      ::_exit(1);
    }
  }
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  child_ = child;
  pipe_ = std::move(read_end);
  bytes_.clear();
  started_ = monotonic_now();
  return success();
}

std::optional<ForkedAnalysis::Done> ForkedAnalysis::look() {
  if (!runs()) return std::nullopt;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return std::nullopt;
    if (got <= 0) return end();
    bytes_.append(buffer.data(), static_cast<std::size_t>(got));
    if (bytes_.size() > kMostBytes) {
      stop();
      return Done{};
    }
  }
}

/// It has closed its end, and takes no more time to exit.
ForkedAnalysis::Done ForkedAnalysis::end() {
  Done done{std::exchange(bytes_, {}), 0, monotonic_now() - started_};
  int status = 0;
  rusage used{};
  pid_t got = 0;
  do got = ::wait4(child_, &status, 0, &used);
  while (got < 0 && errno == EINTR);
  if (got == child_) done.cpu_time = cpu_time_of(used);
  if (got == child_ && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) done.bytes.clear();
  child_ = -1;
  pipe_ = UniqueFd();
  return done;
}

void ForkedAnalysis::stop() {
  if (!runs()) return;
  ::kill(child_, SIGKILL);
  end();
}

}  // namespace offwait
