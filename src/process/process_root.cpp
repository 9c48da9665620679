// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/process_root.h"

#include <sstream>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/read_file.h"
#include "process/far_files.h"
#include "process/threads.h"

namespace offwait {

std::optional<ProcessRoot> open_root(std::int32_t tgid) {
  if (is_root_far(tgid)) return std::nullopt;
  const std::string process = "/proc/" + std::to_string(thread_with_memory(tgid));
  ProcessRoot root;
  root.directory = UniqueFd(open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  root.mounts = UniqueFd(open((process + "/ns/mnt").c_str(), O_RDONLY | O_CLOEXEC));
  struct stat directory {};
  struct stat mounts {};
  if (!root.directory || !root.mounts || fstat(root.directory.get(), &directory) != 0 ||
      fstat(root.mounts.get(), &mounts) != 0) {
    return std::nullopt;
  }
  root.identity = {mounts.st_ino, directory.st_dev, directory.st_ino};
  return root;
}

std::optional<OpenedFile> open_regular_below(int root, const std::string& path, Symlinks symlinks) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  if (symlinks == Symlinks::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  const UniqueFd handle(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how))));
  if (!handle) return std::nullopt;
  auto opened = open_regular_file("/proc/self/fd/" + std::to_string(handle.get()));
  if (opened) opened->path = path;
  return opened;
}

ProcessStatus parse_status(const std::string& text) {
  ProcessStatus status;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string key;
    fields >> key;
    std::uint32_t real = 0;
    if (key == "Uid:") fields >> real >> status.uid;
    if (key == "Gid:") fields >> real >> status.gid;
    if (key == "SigCgt:") fields >> std::hex >> status.caught_signals;
    if (key == "NSpid:") {
      for (std::int32_t tgid = 0; fields >> tgid;) status.own_tgid = tgid;
    }
  }
  return status;
}

std::optional<ProcessStatus> process_status(std::int32_t tgid) {
  const std::string text = read_file("/proc/" + std::to_string(tgid) + "/status");
  return text.empty() ? std::nullopt : std::optional(parse_status(text));
}

}  // namespace offwait
