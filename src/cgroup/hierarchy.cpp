// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/hierarchy.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/read_file.h"
#include "base/unique_fd.h"

namespace offwait {
namespace {

namespace fs = std::filesystem;

/// The kernel writes blanks and backslashes as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// `directory` without the mount before it.
std::string name_below(const std::string& directory, const std::string& mount) {
  if (directory == mount) return "/";
  return directory.starts_with(mount + "/") ? directory.substr(mount.size()) : directory;
}

}  // namespace

std::optional<std::string> cgroup_mount(std::string_view mountinfo) {
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    // ID PARENT DEVICE ROOT POINT OPTIONS [TAG]... - TYPE SOURCE OPTIONS
    const std::size_t end = line.find(" - ");
    if (end == std::string::npos || !line.substr(end + 3).starts_with("cgroup2 ")) continue;
    std::istringstream fields(line);
    std::string point;
    for (int i = 0; i < 5; ++i) fields >> point;
    return unescape(point);
  }
  return std::nullopt;
}

Result<std::string> cgroup_mount() {
  if (std::optional<std::string> mount = cgroup_mount(read_file("/proc/self/mountinfo"))) return *mount;
  return Error{
      "no cgroup v2 hierarchy is mounted here, and offwait looks for cgroups only there: mount it with "
      "'mount "
      "-t cgroup2 none /mnt'"};
}

Result<Cgroup> find_cgroup(const std::string& path) {
  OFFWAIT_TRY(const std::string mount, cgroup_mount());
  const std::string below = mount + (path.starts_with('/') ? "" : "/") + path;
  std::error_code ignored;
  const bool is_name = fs::exists(below, ignored);
  if (!is_name && !(path.starts_with('/') && fs::exists(path, ignored)))
    return Error{fmt::format("there is no cgroup '{}' below {}", path, mount)};
  const fs::path directory = fs::canonical(is_name ? below : path, ignored);
  const UniqueFd fd(::open(directory.c_str(), O_PATH | O_CLOEXEC));
  struct statfs file_system {};
  struct stat status {};
  if (!fd || ::fstatfs(fd.get(), &file_system) != 0 || ::fstat(fd.get(), &status) != 0)
    return Error{fmt::format("cannot look at the cgroup '{}': {}", path, std::strerror(errno))};
  if (file_system.f_type == CGROUP_SUPER_MAGIC)
    return Error{fmt::format(
        "'{}' is a cgroup of version 1, and offwait records those of version 2: name one below {}", path,
        mount)};
  if (file_system.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(status.st_mode))
    return Error{fmt::format("'{}' is not a cgroup: cgroups are the directories below {}", path, mount)};
  return Cgroup{status.st_ino, directory.string(), name_below(directory.string(), mount)};
}

bool exists(const Cgroup& cgroup) {
  struct stat status {};
  // Another cgroup of the same name may have replaced this one.
  return ::stat(cgroup.directory.c_str(), &status) == 0 && status.st_ino == cgroup.id;
}

std::vector<std::string> list_cgroups(const std::string& mount) {
  std::vector<std::string> names = {"/"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::error_code gone;
    const std::string directory = names[i] == "/" ? mount : mount + names[i];
    for (fs::directory_iterator entry(directory, gone), end; !gone && entry != end; entry.increment(gone)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) names.push_back(name_below(entry->path().string(), mount));
    }
  }
  return names;
}

std::vector<std::int32_t> processes_in(const Cgroup& cgroup) {
  std::vector<std::int32_t> processes;
  for (const std::string& name : list_cgroups(cgroup.directory)) {
    const std::string directory = name == "/" ? cgroup.directory : cgroup.directory + name;
    std::string ids = read_file(directory + "/cgroup.procs");
    // Threaded cgroups do not list processes.
    if (ids.empty()) ids = read_file(directory + "/cgroup.threads");
    std::istringstream numbers(ids);
    for (std::int32_t id = 0; numbers >> id;) processes.push_back(id);
  }
  return processes;
}

}  // namespace offwait
