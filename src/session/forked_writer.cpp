// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/forked_writer.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/say.h"

namespace offwait {

Status ForkedWriter::start(const std::function<bool()>& write) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return Error{fmt::format("cannot start a process that writes: {}", std::strerror(errno))};
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(::getppid() == parent && write() ? 0 : 1);
  }
  child_ = child;
  process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  // That fails if the process has ended already, where SIGCHLD is ignored, and if no descriptor is left: its
  // end could not be seen later.
  if (process_.get() < 0) finish();
  return success();
}

void ForkedWriter::look() { wait(WNOHANG); }

void ForkedWriter::finish() { wait(0); }

/// Where SIGCHLD is ignored the kernel keeps no status, and no child.
void ForkedWriter::wait(int options) {
  if (!runs()) return;
  int status = 0;
  pid_t got = 0;
  do got = ::waitpid(child_, &status, options);
  while (got < 0 && errno == EINTR);
  if (got != 0) ended(status);
}

void ForkedWriter::ended(int status) {
  if (WIFSIGNALED(status))
    say(fmt::format("a file was not written: signal {} ended the process that wrote it", WTERMSIG(status)));
  child_ = -1;
  process_ = UniqueFd();
}

}  // namespace offwait
