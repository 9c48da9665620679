// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/flight_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utc_time.h"

namespace offwait {
namespace {

constexpr std::string_view kPrefix = "flight-";
constexpr std::string_view kEnd = ".offwait";
constexpr std::string_view kPart = ".part";
constexpr mode_t kOwnerOnly = 0700;
constexpr std::string_view kTimeForm = "00000000T000000.000Z";  // 0: a digit

Error error_of(const std::string& what, const std::string& path) {
  return Error{fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// The names of this user's files in the directory that are a flight recorder's, in order.
std::vector<std::string> own_files(int directory, const std::string& suffix) {
  UniqueFd again(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseDirectory> listed(again ? ::fdopendir(again.get()) : nullptr);
  if (!listed) return {};
  static_cast<void>(again.release());
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listed.get())) {
    struct stat status {};
    const std::string name = entry->d_name;
    if (is_flight_file(name, suffix) &&
        ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == ::geteuid())
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

bool is_flight_file(const std::string& name, const std::string& suffix) {
  std::string_view left = name;
  if (!left.starts_with(kPrefix) || !left.ends_with(std::string(kEnd) + suffix)) return false;
  left.remove_prefix(kPrefix.size());
  left.remove_suffix(kEnd.size() + suffix.size());
  const auto is_same = [](char form, char c) {
    return form == '0' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : form == c;
  };
  if (left.size() < kTimeForm.size() + 2 || left[kTimeForm.size()] != '-' ||
      !std::equal(kTimeForm.begin(), kTimeForm.end(), left.begin(), is_same))
    return false;
  left.remove_prefix(kTimeForm.size() + 1);
  return std::all_of(left.begin(), left.end(), is_alphanumeric);
}

Result<FlightFiles> FlightFiles::open(const std::string& directory, std::size_t keep) {
  FlightFiles files;
  files.path_ = directory;
  files.keep_ = keep;
  if (::mkdir(directory.c_str(), kOwnerOnly) != 0 && errno != EEXIST) return error_of("make", directory);
  files.directory_ = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!files.directory_) return error_of("write into", directory);
  if (::flock(files.directory_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return error_of("lock", directory);
    return Error{
        fmt::format("another flight recorder writes into {}: give each a directory of its own", directory)};
  }
  for (const std::string& name : own_files(files.directory_.get(), std::string(kPart)))
    ::unlinkat(files.directory_.get(), name.c_str(), 0);
  OFFWAIT_TRY(const Part part, files.begin("test"));
  files.discard(part);
  return files;
}

Result<FlightFiles::Part> FlightFiles::begin(const std::string& reason) const {
  std::string word;
  std::copy_if(reason.begin(), reason.end(), std::back_inserter(word), is_alphanumeric);
  Part part;
  part.name = fmt::format("{}{}-{}{}", kPrefix, utc_stamp(wall_clock_now()), word, kEnd);
  part.path = path_ + "/" + part.name;
  part.file = UniqueFd(::openat(directory_.get(), (part.name + std::string(kPart)).c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!part.file) return error_of("write into", path_);
  return part;
}

Status FlightFiles::finish(const Part& part) const {
  const int directory = directory_.get();
  if (::renameat(directory, (part.name + std::string(kPart)).c_str(), directory, part.name.c_str()) != 0)
    return error_of("rename the file to", part.path);
  ::fsync(directory);
  std::vector<std::string> names = own_files(directory, "");
  std::erase(names, part.name);  // a clock that was set back makes it look old
  for (std::size_t i = 0; names.size() - i >= keep_; ++i) ::unlinkat(directory, names[i].c_str(), 0);
  return success();
}

void FlightFiles::discard(const Part& part) const {
  ::unlinkat(directory_.get(), (part.name + std::string(kPart)).c_str(), 0);
}

}  // namespace offwait
