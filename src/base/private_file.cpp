// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/private_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace offwait {
namespace {

constexpr mode_t kOwnerOnly = 0600;

bool is_regular(int file, struct stat& status) {
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Result<UniqueFd> open_private(const std::string& path) {
  const int follow = path.starts_with("/dev/") ? 0 : O_NOFOLLOW;
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | follow, kOwnerOnly));
  if (!file && errno == ELOOP)
    return Error{"cannot write " + path + ": it is a symbolic link; name the file that it leads to"};
  if (!file) return Error{"cannot write " + path + ": " + std::strerror(errno)};
  struct stat status {};
  if (follow == 0 || !is_regular(file.get(), status)) return file;
  if (status.st_uid != ::geteuid())
    return Error{"cannot write " + path +
                 ": it belongs to another user, who could read it; name another file"};
  if ((status.st_mode & ~(S_IFMT | kOwnerOnly)) != 0 && ::fchmod(file.get(), kOwnerOnly) != 0)
    return Error{"cannot keep others from reading " + path + ": " + std::strerror(errno)};
  return file;
}

Status take_file(int file, const std::string& name) {
  struct stat status {};
  if (!is_regular(file, status) || ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return success();
  return Error{"another offwait records into " + name + ": name another file"};
}

bool is_in_directory(int file) {
  struct stat status {};
  return is_regular(file, status) && status.st_nlink > 0;
}

Status check_unchanged(int file, const std::string& name, std::uint64_t size, bool was_in_directory) {
  struct stat status {};
  if (!is_regular(file, status)) return success();
  if (was_in_directory && status.st_nlink == 0)
    return Error{"cannot go on writing " + name + ": another program has removed the file"};
  if (static_cast<std::uint64_t>(status.st_size) < size)
    return Error{"cannot go on writing " + name + ": another program has emptied or cut the file"};
  return success();
}

}  // namespace offwait
