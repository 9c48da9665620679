// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/unique_fd.h"
#include "process/own_state.h"

namespace offwait {
namespace {

constexpr int kCannotRun = 127;

/// This process may be urgent; a command that it runs is not.
void be_ordinary() {
  const sched_param parameter{};
  ::sched_setscheduler(0, SCHED_OTHER, &parameter);
  if (::getpriority(PRIO_PROCESS, 0) < 0) ::setpriority(PRIO_PROCESS, 0, 0);
}

[[noreturn]] void be_command(const ExternalCommand& command, int output) {
  ::setpgid(0, 0);
  be_ordinary();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  restore_inherited_state();
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  if (command.user &&
      (::setgroups(0, nullptr) != 0 || ::setgid(command.user->gid) != 0 ||
       ::setuid(command.user->uid) != 0) &&
      (::geteuid() != command.user->uid))
    ::_exit(kCannotRun);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  ::_exit(kCannotRun);
}

/// Waits until `fd` can be read (a pidfd can be read once its process has ended). Returns false if `deadline`
/// comes first.
bool wait_readable(int fd, Nanos deadline) {
  constexpr Nanos kMillisecond = 1'000'000;
  for (;;) {
    const Nanos left = deadline - monotonic_now();
    if (left <= 0) return false;
    pollfd waits = {fd, POLLIN, 0};
    if (::poll(&waits, 1, static_cast<int>(left / kMillisecond + 1)) > 0) return true;
  }
}

/// Reads to the end of the output. Returns false if it is longer than `most` bytes or `deadline` comes first.
bool read_all(int fd, std::size_t most, Nanos deadline, std::string& output) {
  while (output.size() <= most) {
    if (!wait_readable(fd, deadline)) return false;
    std::array<char, 4096> piece{};
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    output.append(piece.data(), static_cast<std::size_t>(got));
  }
  return false;
}

}  // namespace

Result<std::string> run_command(const ExternalCommand& command) {
  const std::string& name = command.words.front();
  const Nanos deadline = monotonic_now() + std::chrono::nanoseconds(command.time).count();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{"cannot make a pipe to " + name};
  const UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) be_command(command, to_parent.get());
  if (child < 0) return Error{"cannot start " + name};
  ::setpgid(child, child);  // parent and child both set the group: either may be the first to run
  to_parent = UniqueFd();
  std::string output;
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  // The command may close its output and go on running.
  const bool whole = process && read_all(from_child.get(), command.output, deadline, output) &&
                     wait_readable(process.get(), deadline);
  if (!whole) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!whole) return Error{name + " took too long, or wrote too much"};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotRun) return Error{name + " cannot be run"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return Error{name + " failed"};
  return output;
}

}  // namespace offwait
