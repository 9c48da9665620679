// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/program_path.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace offwait {
namespace {

/// The errno with which an exec of the file would fail, as far as can be told; 0 for none.
int why_not_executable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

}  // namespace

Error cannot_run(const std::string& name, int error) {
  const bool found = error != ENOENT && error != ENOTDIR;
  const bool in_path = name.find('/') == std::string::npos;
  return {fmt::format("cannot run '{}': {}", name,
                      found || !in_path ? std::strerror(error) : "there is none in PATH"),
          found ? kCommandNotExecutable : kCommandNotFound};
}

Result<std::string> program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (const int error = why_not_executable(name)) return cannot_run(name, error);
    return name;
  }
  const char* const variable = std::getenv("PATH");
  const std::string_view directories = variable != nullptr ? variable : "/bin:/usr/bin";
  bool forbidden = false;
  for (std::size_t begin = 0; !name.empty() && begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const std::string directory(directories.substr(begin, end - begin));
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    const int error = why_not_executable(path);
    if (error == 0) return path;
    forbidden = forbidden || error == EACCES;
    begin = end + 1;
  }
  return cannot_run(name, forbidden ? EACCES : ENOENT);
}

}  // namespace offwait
