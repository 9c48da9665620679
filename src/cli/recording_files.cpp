// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/recording_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/utc_time.h"
#include "process/threads.h"

namespace offwait::cli {
namespace {

constexpr std::string_view kEnd = ".offwait";

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

std::string name_of(std::int32_t tid) {
  const std::string comm = read_comm(tid);
  return comm.empty() ? std::to_string(tid) : comm;
}

std::string last_part(std::string_view path) {
  path.remove_suffix(path.size() - std::min(path.find_last_not_of('/') + 1, path.size()));
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string name_of(const TargetOptions& target) {
  if (target.all) return "system";
  if (!target.command_line.empty()) return last_part(target.command_line.front());
  if (!target.cgroup.empty()) return last_part(target.cgroup);
  if (!target.unit.empty()) return target.unit;
  if (!target.container.empty()) return target.container;
  if (target.tid != 0) return name_of(target.tid);
  return target.pids.empty() ? target.names.front() : name_of(target.pids.front());
}

}  // namespace

std::string file_name_for(const TargetOptions& target, Nanos now) {
  constexpr std::size_t kLongest = 40;
  constexpr std::string_view kPlain = "._-@+";
  std::string name = name_of(target).substr(0, kLongest);
  std::replace_if(
      name.begin(), name.end(),
      [kPlain](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && kPlain.find(c) == std::string_view::npos;
      },
      '_');
  return fmt::format("offwait-{}-{}{}", name, utc_stamp(now), kEnd);
}

Result<NewestRecording> newest_recording(const std::string& directory) {
  const std::unique_ptr<DIR, CloseDirectory> listed(::opendir(directory.c_str()));
  if (!listed) return Error{fmt::format("cannot read {}: {}", directory, std::strerror(errno))};
  std::pair<std::pair<std::int64_t, std::int64_t>, std::string> newest;
  NewestRecording found;
  while (const dirent* entry = ::readdir(listed.get())) {
    struct stat status {};
    const std::string name = entry->d_name;
    if (!name.ends_with(kEnd) ||
        ::fstatat(::dirfd(listed.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    ++found.recordings;
    newest = std::max(newest, {{status.st_mtim.tv_sec, status.st_mtim.tv_nsec}, name});
  }
  if (found.recordings == 0)
    return Error{fmt::format("{} is a directory without recordings: their names end in {}", directory, kEnd)};
  found.path = directory + (directory.ends_with('/') ? "" : "/") + newest.second;
  return found;
}

}  // namespace offwait::cli
