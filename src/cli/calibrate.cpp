// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/calibrate.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/nanos.h"
#include "base/say.h"
#include "base/unique_fd.h"
#include "calibrate/calibration.h"
#include "calibrate/measure.h"
#include "capture/block_devices.h"
#include "report/quantity.h"
#include "session/interruption.h"
#include "session/step_line.h"

namespace offwait {
namespace {

/// What is measured: a device, or the disk below a directory, where a file may be written.
struct Place {
  UniqueFd fd;
  std::string path;
  bool is_device = false;
  std::uint32_t dev = 0;  ///< the device, or the one that has the directory's file system
};

/// The disk at which recordings will see the requests.
struct Disk {
  std::string name;
  std::string identity;
};

/// "cannot read 'PATH': No such file or directory", as errno says.
Error failed(const char* what, const std::string& path) {
  return Error{fmt::format("{} '{}': {}", what, path, std::strerror(errno))};
}

std::uint32_t dev_of(dev_t dev) { return gnu_dev_major(dev) << 20 | gnu_dev_minor(dev); }

/// The type of the file system that has this directory, found by its mount; empty if it is not known.
std::string file_system_of(int directory) {
  struct statx status {};
  if (::statx(directory, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0 ||
      (status.stx_mask & STATX_MNT_ID) == 0) {
    return "";
  }
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::uint64_t id = 0;
    if (!(words >> id) || id != status.stx_mnt_id) continue;
    // proc(5): optional fields end with a lone hyphen, then comes the type.
    for (std::string word; words >> word;) {
      if (word == "-") return words >> word ? word : std::string();
    }
  }
  return "";
}

/// Opens the device that `found` refers to, even if the path means another file by now.
Result<Place> open_device(const UniqueFd& found, const std::string& path, std::uint32_t dev) {
  const std::string same = fmt::format("/proc/self/fd/{}", found.get());
  Place place{UniqueFd(::open(same.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)), path, true, dev};
  if (place.fd) return place;
  if (::geteuid() != 0 && (errno == EACCES || errno == EPERM)) {
    return Error{fmt::format("only root may read '{}': run offwait as root, for example with sudo", path)};
  }
  return failed("cannot read", path);
}

Result<Place> open_directory(const std::string& path) {
  Place place{UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), path, false, 0};
  struct stat status {};
  if (!place.fd || ::fstat(place.fd.get(), &status) != 0) return failed("cannot open", path);
  place.dev = dev_of(status.st_dev);
  const bool has_disk = place.dev >> 20 != 0;
  if (has_disk) return place;
  const std::string type = file_system_of(place.fd.get());
  return Error{
      fmt::format("'{}' is on a file system without a disk of its own{}: name a directory of another "
                  "one, or the block device itself",
                  path, type.empty() ? "" : fmt::format(" ({})", type))};
}

Result<Place> find_place(const std::string& path) {
  const UniqueFd found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!found || ::fstat(found.get(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Error{fmt::format("there is no '{}'", path)};
    return failed("cannot look at", path);
  }
  if (S_ISBLK(status.st_mode)) return open_device(found, path, dev_of(status.st_rdev));
  if (S_ISDIR(status.st_mode)) return open_directory(path);
  if (!S_ISREG(status.st_mode))
    return Error{fmt::format("'{}' is neither a block device nor a directory or file on a disk", path)};
  const std::size_t slash = path.rfind('/');
  return open_directory(slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)));
}

/// Recordings see requests at the disks at the bottom, below LVM, LUKS and md.
Result<Disk> disk_of(const Place& place) {
  const std::vector<std::uint32_t> disks = bottom_disks(place.dev);
  if (disks.size() > 1) {
    std::vector<std::string> devices;
    for (const std::uint32_t one : disks) devices.push_back("/dev/" + disk_name(one));
    return Error{fmt::format("'{}' is on {} disks: calibrate each by its device ({})", place.path,
                             disks.size(), fmt::join(devices, ", "))};
  }
  Disk disk;
  if (!disks.empty()) disk = {disk_name(disks.front()), disk_identity(disks.front())};
  if (disk.identity.empty()) {
    return Error{fmt::format("cannot tell which disk '{}' is on, or the disk has no size", place.path)};
  }
  return disk;
}

Result<std::uint64_t> device_size(const Place& place) {
  std::uint64_t size = 0;
  if (::ioctl(place.fd.get(), BLKGETSIZE64, &size) != 0) {
    return failed("cannot find the size of", place.path);
  }
  return size;
}

std::string bytes(std::uint64_t count) { return format_scaled(static_cast<double>(count)) + "B"; }

Status has_room(const Place& place, std::uint64_t file_bytes) {
  struct statvfs status {};
  if (::fstatvfs(place.fd.get(), &status) != 0) return failed("cannot look at", place.path);
  const std::uint64_t available = std::uint64_t{status.f_bavail} * status.f_frsize;
  if (available / 2 >= file_bytes) return success();
  return Error{
      fmt::format("not enough room on '{}': {} are free, and a file of {} shall leave as much free (--size "
                  "makes it smaller)",
                  place.path, bytes(available), bytes(file_bytes))};
}

/// Creates a file and removes its name, so that it is gone when it is closed.
Result<UniqueFd> nameless_file(const Place& place) {
  std::random_device random;
  const std::string name = fmt::format(".offwait-calibrate-{}-{}", random(), random());
  UniqueFd file(::openat(place.fd.get(), name.c_str(),
                         O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_DIRECT | O_CLOEXEC, 0600));
  const int error = errno;
  // Where O_DIRECT is refused, a file may have been created all the same.
  if ((file || error == EINVAL) && ::unlinkat(place.fd.get(), name.c_str(), 0) != 0 && file) {
    return Error{fmt::format("cannot remove {} in '{}': {}", name, place.path, std::strerror(errno))};
  }
  if (file) return file;
  return Error{fmt::format(
      "cannot write in '{}': {}", place.path,
      error == EINVAL ? "its file system cannot bypass the page cache (O_DIRECT)" : std::strerror(error))};
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

std::string line(const char* what, const Throughput& throughput) {
  return fmt::format("  {}  {}B/s, {} IO/s\n", what, format_scaled(throughput.bytes_per_s),
                     format_count(static_cast<std::uint64_t>(std::llround(throughput.ios_per_s))));
}

void tell(const cli::CalibrateOptions& options, const std::string& text) {
  if (!options.quiet) say(text);
}

Error interrupted_or(const Error& error) {
  return error.message == "interrupted" ? Error{"interrupted: nothing was stored"} : error;
}

Status measure_device(const cli::CalibrateOptions& options, const Place& place, Calibration& calibration) {
  OFFWAIT_TRY(const auto size, device_size(place));
  tell(options, fmt::format("calibrating disk {}: reads {} for {}, and writes nothing", calibration.disk,
                            place.path, format_seconds(to_seconds(2 * options.each))));
  const Interruption interruption;
  const Measured measured{place.fd.get(), size, fmt::format("'{}'", place.path)};
  StepLine progress(is_seen_on_terminal(options.quiet));
  progress.say("measuring reads");
  OFFWAIT_TRY(calibration.read, measure(measured, Direction::read, options.each, interruption.fd()));
  return success();
}

Status measure_path(const cli::CalibrateOptions& options, const Place& place, Calibration& calibration) {
  OFFWAIT_TRY_STATUS(has_room(place, options.file_bytes));
  const Interruption interruption;
  OFFWAIT_TRY(const auto file, nameless_file(place));
  tell(options,
       fmt::format("calibrating disk {}: writes a file of {} in {}, reads it and removes it; takes up to {}",
                   calibration.disk, bytes(options.file_bytes), place.path,
                   format_seconds(to_seconds(6 * options.each))));
  Measured measured{file.get(), options.file_bytes, fmt::format("a file in '{}'", place.path)};
  StepLine progress(is_seen_on_terminal(options.quiet));
  progress.say("writing the file");
  // The whole file is written first, because reads would find holes. A slow disk gets a smaller file.
  OFFWAIT_TRY(measured.size, fill(measured, 2 * options.each, interruption.fd()));
  progress.say("measuring writes");
  OFFWAIT_TRY(calibration.write, measure(measured, Direction::write, options.each, interruption.fd()));
  progress.say("measuring reads");
  OFFWAIT_TRY(calibration.read, measure(measured, Direction::read, options.each, interruption.fd()));
  return success();
}

}  // namespace

Result<std::string> calibrate(const cli::CalibrateOptions& options) {
  OFFWAIT_TRY(const auto place, find_place(options.place));
  OFFWAIT_TRY(const auto disk, disk_of(place));
  if (Status prepared = prepare_store(); !prepared) {
    return Error{prepared.error().message + "; run offwait as root, for example with sudo"};
  }
  Calibration calibration;
  calibration.disk = escape(disk.name, Charset::ascii);
  calibration.identity = disk.identity;
  calibration.measured_on = today();
  const Status measured = place.is_device ? measure_device(options, place, calibration)
                                          : measure_path(options, place, calibration);
  if (!measured) return interrupted_or(measured.error());
  OFFWAIT_TRY_STATUS(store_calibration(calibration));
  return fmt::format("disk {}\n{}{}  stored in {}; recordings on this disk use it from now on\n",
                     calibration.disk, line("read ", calibration.read),
                     calibration.write ? line("write", *calibration.write) : "", kStateDirectory);
}

}  // namespace offwait
