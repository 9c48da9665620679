// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {

/// What can be read of it from where it stands. Reading /proc/PID fails in the middle when the process exits:
/// iterators of a std::ifstream throw then.
inline std::string read_all(int file) {
  std::string text;
  std::array<char, 16384> piece{};
  for (;;) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got > 0) {
      text.append(piece.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

/// Likewise of a file of the kernel's; nothing if it cannot be opened.
inline std::string read_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_all(file.get()) : std::string();
}

}  // namespace offwait
