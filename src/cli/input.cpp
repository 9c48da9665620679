// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "trace/text.h"

namespace offwait::cli {

Result<Input> Input::open(const std::string& path) {
  if (path == "-") return Input(UniqueFd(), "standard input");
  UniqueFd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return Error{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return Input(std::move(opened), path);
}

Result<Trace> Input::read() const { return read_text(opened_ ? opened_.get() : STDIN_FILENO, name_); }

}  // namespace offwait::cli
