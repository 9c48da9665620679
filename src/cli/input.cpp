// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "cli/recording_files.h"

namespace offwait::cli {

namespace {

Result<UniqueFd> open_to_read(const std::string& path) {
  UniqueFd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return Error{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return opened;
}

bool is_directory(const UniqueFd& opened) {
  struct stat status {};
  return ::fstat(opened.get(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Result<Input> Input::open(const std::string& path) {
  if (path == "-") return Input(UniqueFd(), "standard input");
  OFFWAIT_TRY(UniqueFd opened, open_to_read(path));
  if (!is_directory(opened)) return Input(std::move(opened), path);
  OFFWAIT_TRY(const NewestRecording newest, newest_recording(path));
  OFFWAIT_TRY(opened, open_to_read(newest.path));
  Input input(std::move(opened), newest.path);
  input.note_ = newest.recordings == 1 ? fmt::format("{} is the recording in {}", newest.path, path)
                                       : fmt::format("{} is the newest of {} recordings in {}", newest.path,
                                                     newest.recordings, path);
  return input;
}

int Input::descriptor() const { return opened_ ? opened_.get() : STDIN_FILENO; }

Status Input::check_output(const std::string& path) const {
  struct stat read {};
  struct stat written {};
  if (path == "-" || ::fstat(descriptor(), &read) != 0 || ::stat(path.c_str(), &written) != 0)
    return success();
  const bool same = read.st_dev == written.st_dev && read.st_ino == written.st_ino;
  if (!same || !S_ISREG(read.st_mode)) return success();
  return Error{fmt::format("{} is the recording itself: write to another file", path), kUsage};
}

std::optional<double> Input::part_read() const {
  struct stat status {};
  const off_t at = ::lseek(descriptor(), 0, SEEK_CUR);
  if (at < 0 || ::fstat(descriptor(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
    return std::nullopt;
  return static_cast<double>(at) / static_cast<double>(status.st_size);
}

Result<ReadTrace> Input::read(const TracePart& part, std::uint64_t max_memory) const {
  OFFWAIT_TRY(ReadTrace read, read_recording(descriptor(), name_, part, max_memory));
  if (note_) read.notes.insert(read.notes.begin(), *note_);
  return read;
}

}  // namespace offwait::cli
