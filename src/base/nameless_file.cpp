// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/nameless_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace offwait {

std::string overflow_directory() {
  const char* const directory = std::getenv("TMPDIR");
  return directory != nullptr && *directory == '/' ? directory : "/var/tmp";
}

Result<UniqueFd> nameless_file(const std::string& directory) {
  std::string path = directory + "/offwait-XXXXXX";
  UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file) return Error{"cannot make a file in " + directory + ": " + std::strerror(errno)};
  ::unlink(path.c_str());
  return file;
}

}  // namespace offwait
