// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {

/// The rest of an open file, as far as it can be read. Reading a file of /proc/PID fails in the middle when
/// the process exits; iterators of a std::ifstream would then throw.
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

/// The contents of a file of /proc or /sys, as far as they can be read; empty if it cannot be opened.
inline std::string read_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_all(file.get()) : std::string();
}

}  // namespace offwait
