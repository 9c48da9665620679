// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/output.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/private_file.h"

namespace offwait::cli {

Result<Output> Output::open(const std::string& path) {
  if (path == "-") {
    if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) return Error{"cannot write to standard output: it is closed"};
    return Output(stdout, "to standard output");
  }
  OFFWAIT_TRY(UniqueFd opened, open_private(path));
  // A pipe or a device cannot be emptied.
  std::FILE* const file =
      ::ftruncate(opened.get(), 0) == 0 || errno == EINVAL ? ::fdopen(opened.get(), "w") : nullptr;
  if (file == nullptr) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  static_cast<void>(opened.release());
  return Output(file, path);
}

bool Output::is_terminal() const { return ::isatty(::fileno(file())) == 1; }

bool Output::is_regular() const {
  struct stat status {};
  return ::fstat(::fileno(file()), &status) == 0 && S_ISREG(status.st_mode);
}

Status Output::write(std::string_view bytes) {
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size() ||
      std::fflush(file_.get()) != 0) {
    return Error{fmt::format("cannot write {}: {}", where_, std::strerror(errno))};
  }
  return success();
}

}  // namespace offwait::cli
