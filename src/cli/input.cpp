// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace offwait::cli {

Result<Input> Input::open(const std::string& path) {
  if (path == "-") return Input(UniqueFd(), "standard input");
  UniqueFd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return Error{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return Input(std::move(opened), path);
}

int Input::descriptor() const { return opened_ ? opened_.get() : STDIN_FILENO; }

Status Input::check_output(const std::string& path) const {
  struct stat read {};
  struct stat written {};
  if (path == "-" || ::fstat(descriptor(), &read) != 0 || ::stat(path.c_str(), &written) != 0)
    return success();
  const bool same = read.st_dev == written.st_dev && read.st_ino == written.st_ino;
  if (!same || !S_ISREG(read.st_mode)) return success();
  return Error{fmt::format("{} is the recording itself: write to another file", path), 2};
}

Result<ReadTrace> Input::read(const TracePart& part) const {
  return read_recording(descriptor(), name_, part);
}

}  // namespace offwait::cli
