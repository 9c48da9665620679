// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// A command as a child process that is held just before its exec, until it is released. It inherits what it
/// would inherit from a shell, standard streams and blocked signals included, so it has to be started before
/// this process blocks signals or raises its priority.
class HeldCommand {
 public:
  /// `words`: the program, found in PATH, and its arguments; at least one. Fails as program_path() does.
  static Result<HeldCommand> start(const std::vector<std::string>& words);

  HeldCommand(HeldCommand&&) noexcept = default;
  HeldCommand& operator=(HeldCommand&&) = delete;
  /// A command that is still held never runs. A command that has not ended is sent SIGTERM.
  ~HeldCommand();

  const std::string& path() const { return path_; }
  std::int32_t tgid() const { return child_; }
  /// A pidfd: readable when it has ended.
  int fd() const { return process_.get(); }

  /// Lets the command run. Returns once it has called exec, or has been killed before. Fails as cannot_run()
  /// says.
  Status release();

  /// Does nothing if the command has ended.
  void send(int signal) const;

  /// Waits for the end of the command and returns its status as waitpid(2) gives it. Call once.
  int wait_status();

 private:
  HeldCommand(std::string name, std::string path) : name_(std::move(name)), path_(std::move(path)) {}

  std::string name_;
  std::string path_;
  std::int32_t child_ = 0;
  UniqueFd process_;
  UniqueFd channel_;  ///< a byte releases the command; it answers with an errno, or closes its end by exec
};

}  // namespace offwait
