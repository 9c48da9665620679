// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/held_command.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/own_state.h"
#include "process/program_path.h"

namespace offwait {
namespace {

/// Returns false if the other end is closed.
template <class Value>
bool receive(int socket, Value& value) {
  ssize_t got = 0;
  while ((got = ::recv(socket, &value, sizeof(value), 0)) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(sizeof(value));
}

template <class Value>
void send_to(int socket, const Value& value) {
  ::send(socket, &value, sizeof(value), MSG_NOSIGNAL);
}

[[noreturn]] void be_command(int channel, const std::string& path, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  char go = 0;
  send_to(channel, go);
  if (receive(channel, go)) {
    restore_inherited_state();
    // execvp() and not execv(): as in a shell, a script without `#!` can be run.
    ::execvp(path.c_str(), arguments.data());
    send_to(channel, errno);
  }
  ::_exit(kCommandNotFound);
}

}  // namespace

Result<HeldCommand> HeldCommand::start(const std::vector<std::string>& words) {
  OFFWAIT_TRY(std::string path, program_path(words.front()));
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Error{std::string("cannot make a socket pair: ") + std::strerror(errno)};
  HeldCommand command(words.front(), std::move(path));
  command.channel_ = UniqueFd(ends[0]);
  const UniqueFd childs(ends[1]);
  command.child_ = ::fork();
  if (command.child_ < 0) return Error{std::string("cannot fork: ") + std::strerror(errno)};
  if (command.child_ == 0) {
    // If the child held the parent's end, it would not notice the parent's death.
    command.channel_ = UniqueFd();
    be_command(childs.get(), command.path_, words);
  }
  ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD is ignored, the kernel does not keep the exit status
  command.process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, command.child_, 0)));
  if (!command.process_) return Error{std::string("cannot watch a child: ") + std::strerror(errno)};
  char ready = 0;
  // A child that was killed already is noticed later, like any target that exits.
  static_cast<void>(receive(command.channel_.get(), ready));
  return command;
}

HeldCommand::~HeldCommand() {
  // A command that is still held ends when the channel is closed.
  if (process_ && !channel_) send(SIGTERM);
}

Status HeldCommand::release() {
  const char go = 0;
  send_to(channel_.get(), go);
  int error = 0;
  const bool failed = receive(channel_.get(), error);
  channel_ = UniqueFd();
  if (failed) return cannot_run(name_, error);
  return success();
}

void HeldCommand::send(int signal) const {
  ::syscall(SYS_pidfd_send_signal, process_.get(), signal, nullptr, 0);
}

int HeldCommand::wait_status() {
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = UniqueFd();
  return status;
}

}  // namespace offwait
