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

/// /dev/stdout and a shell's >(…) are links that the kernel, the system or this user has made. Anybody may
/// lay links into /dev/shm.
bool is_own_link_in_dev(const std::string& path) {
  struct stat link {};
  return path.starts_with("/dev/") && ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) &&
         (link.st_uid == 0 || link.st_uid == ::geteuid());
}

}  // namespace

Result<UniqueFd> open_private(const std::string& path) {
  const int follow = is_own_link_in_dev(path) ? 0 : O_NOFOLLOW;
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | follow, kOwnerOnly));
  if (!file && errno == ELOOP)
    return Error{"cannot write " + path + ": it is a symbolic link; name the file that it leads to"};
  if (!file) return Error{"cannot write " + path + ": " + std::strerror(errno)};
  struct stat status {};
  if (follow == 0 || ::fstat(file.get(), &status) != 0) return file;
  const bool is_file = S_ISREG(status.st_mode);
  if (!is_file && !S_ISFIFO(status.st_mode)) return file;
  if (status.st_uid != ::geteuid())
    return Error{"cannot write " + path +
                 ": it belongs to another user, who could read it; name another file"};
  if (is_file && (status.st_mode & ~(S_IFMT | kOwnerOnly)) != 0 && ::fchmod(file.get(), kOwnerOnly) != 0)
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
