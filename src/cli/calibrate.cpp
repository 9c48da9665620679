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
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/nanos.h"
#include "base/unique_fd.h"
#include "calibrate/calibration.h"
#include "calibrate/measure.h"
#include "capture/block_devices.h"
#include "report/escape.h"
#include "report/quantity.h"
#include "session/interruption.h"

namespace offwait {
namespace {

/// A device, or the directory where a file may be written.
struct Place {
  UniqueFd fd;
  std::string path;
  bool is_device = false;
  std::uint32_t dev = 0;  ///< the device, or the one with the directory's file system
};

/// The disk that recordings will see.
struct Disk {
  std::string name;
  std::string identity;
};

std::string quoted(const std::string& path) { return "'" + path + "'"; }

Error failed(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

std::uint32_t dev_of(dev_t dev) { return gnu_dev_major(dev) << 20 | gnu_dev_minor(dev); }

/// Of the file system with this directory, by its mount; empty if not known.
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

/// Opens it again, as what it was found to be.
Result<Place> find_place(const std::string& path) {
  const UniqueFd found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!found || ::fstat(found.get(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Error{"there is no " + quoted(path)};
    return failed("cannot look at " + quoted(path));
  }
  const std::string same = "/proc/self/fd/" + std::to_string(found.get());
  if (S_ISBLK(status.st_mode)) {
    Place place{UniqueFd(::open(same.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)), path, true,
                dev_of(status.st_rdev)};
    if (place.fd) return place;
    if (::geteuid() != 0 && (errno == EACCES || errno == EPERM)) {
      return Error{"only root may read " + quoted(path) + ": run offwait as root, for example with sudo"};
    }
    return failed("cannot read " + quoted(path));
  }
  if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
    return Error{quoted(path) + " is neither a block device nor a directory or file on a disk"};
  }
  std::string directory = path;
  if (S_ISREG(status.st_mode)) {
    const std::size_t slash = path.rfind('/');
    directory = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  }
  Place place{UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), directory, false, 0};
  if (!place.fd || ::fstat(place.fd.get(), &status) != 0) return failed("cannot open " + quoted(directory));
  place.dev = dev_of(status.st_dev);
  if (place.dev >> 20 == 0) {
    const std::string type = file_system_of(place.fd.get());
    return Error{quoted(directory) + " is on a file system without a disk of its own" +
                 (type.empty() ? "" : " (" + type + ")") +
                 ": name a directory of another one, or the block device itself"};
  }
  return place;
}

/// Requests are seen at the disks at the bottom.
Result<Disk> disk_of(const Place& place) {
  const std::vector<std::uint32_t> disks = bottom_disks(place.dev);
  if (disks.size() > 1) {
    std::string names;
    for (const std::uint32_t one : disks) names += (names.empty() ? "/dev/" : ", /dev/") + disk_name(one);
    return Error{quoted(place.path) + " is on " + std::to_string(disks.size()) +
                 " disks: calibrate each by its device (" + names + ")"};
  }
  Disk disk;
  if (!disks.empty()) disk = {disk_name(disks.front()), disk_identity(disks.front())};
  if (disk.identity.empty()) {
    return Error{"cannot tell which disk " + quoted(place.path) + " is on, or the disk has no size"};
  }
  return disk;
}

Result<std::uint64_t> device_size(const Place& place) {
  std::uint64_t size = 0;
  if (::ioctl(place.fd.get(), BLKGETSIZE64, &size) != 0) {
    return failed("cannot find the size of " + quoted(place.path));
  }
  return size;
}

std::string bytes(std::uint64_t count) { return format_scaled(static_cast<double>(count)) + "B"; }

Status has_room(const Place& place, std::uint64_t file_bytes) {
  struct statvfs status {};
  if (::fstatvfs(place.fd.get(), &status) != 0) return failed("cannot look at " + quoted(place.path));
  const std::uint64_t available = std::uint64_t{status.f_bavail} * status.f_frsize;
  if (available / 2 >= file_bytes) return success();
  return Error{"not enough room on " + quoted(place.path) + ": " + bytes(available) +
               " are free, and a file of " + bytes(file_bytes) +
               " shall leave as much free (--size makes it smaller)"};
}

/// A file without a name.
Result<UniqueFd> own_file(const Place& place) {
  std::random_device random;
  const std::string name = ".offwait-calibrate-" + std::to_string(random()) + "-" + std::to_string(random());
  UniqueFd file(::openat(place.fd.get(), name.c_str(),
                         O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_DIRECT | O_CLOEXEC, 0600));
  const int error = errno;
  // Where O_DIRECT is refused, a file may have been created all the same.
  if ((file || error == EINVAL) && ::unlinkat(place.fd.get(), name.c_str(), 0) != 0 && file) {
    return failed("cannot remove " + name + " in " + quoted(place.path));
  }
  if (file) return file;
  const std::string where = "cannot write in " + quoted(place.path) + ": ";
  if (error == EINVAL) return Error{where + "its file system cannot bypass the page cache (O_DIRECT)"};
  return Error{where + std::strerror(error)};
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
  return std::string("  ") + what + "  " + format_scaled(throughput.bytes_per_s) + "B/s, " +
         format_count(static_cast<std::uint64_t>(std::llround(throughput.ios_per_s))) + " IO/s\n";
}

void say(const cli::CalibrateOptions& options, const std::string& text) {
  if (!options.quiet) std::fprintf(stderr, "offwait: %s\n", escape(text).c_str());
}

Error interrupted_or(const Error& error) {
  return error.message == "interrupted" ? Error{"interrupted: nothing was stored"} : error;
}

Status measure_device(const cli::CalibrateOptions& options, const Place& place, Calibration& calibration) {
  const Result<std::uint64_t> size = device_size(place);
  if (!size) return size.error();
  say(options, "calibrating disk " + calibration.disk + ": reads " + place.path + " for " +
                   format_seconds(to_seconds(2 * options.each)) + ", and writes nothing");
  const Interruption interruption;
  const Result<Throughput> read =
      measure({place.fd.get(), *size, quoted(place.path)}, Direction::read, options.each, interruption.fd());
  if (!read) return read.error();
  calibration.read = *read;
  return success();
}

Status measure_path(const cli::CalibrateOptions& options, const Place& place, Calibration& calibration) {
  if (Status room = has_room(place, options.file_bytes); !room) return room;
  const Interruption interruption;
  const Result<UniqueFd> file = own_file(place);
  if (!file) return file.error();
  say(options, "calibrating disk " + calibration.disk + ": writes a file of " + bytes(options.file_bytes) +
                   " in " + place.path + ", reads it and removes it; takes up to " +
                   format_seconds(to_seconds(6 * options.each)));
  Measured measured{file.value().get(), options.file_bytes, "a file in " + quoted(place.path)};
  // Whole, or reads would find holes. A slow disk gets a smaller one.
  const Result<std::uint64_t> filled = fill(measured, 2 * options.each, interruption.fd());
  if (!filled) return filled.error();
  measured.size = *filled;
  const Result<Throughput> write = measure(measured, Direction::write, options.each, interruption.fd());
  if (!write) return write.error();
  const Result<Throughput> read = measure(measured, Direction::read, options.each, interruption.fd());
  if (!read) return read.error();
  calibration.write = *write;
  calibration.read = *read;
  return success();
}

}  // namespace

Result<std::string> calibrate(const cli::CalibrateOptions& options) {
  const Result<Place> place = find_place(options.place);
  if (!place) return place.error();
  const Result<Disk> disk = disk_of(*place);
  if (!disk) return disk.error();
  if (Status prepared = prepare_store(); !prepared) {
    return Error{prepared.error().message + "; run offwait as root, for example with sudo"};
  }
  Calibration calibration;
  calibration.disk = escape(disk->name, Charset::ascii);
  calibration.identity = disk->identity;
  calibration.measured_on = today();
  const Status measured = place->is_device ? measure_device(options, *place, calibration)
                                           : measure_path(options, *place, calibration);
  if (!measured) return interrupted_or(measured.error());
  if (Status stored = store_calibration(calibration); !stored) return stored.error();
  std::string text = "disk " + calibration.disk + "\n" + line("read ", calibration.read);
  if (calibration.write) text += line("write", *calibration.write);
  return text + "  stored in " + kStateDirectory + "; recordings on this disk use it from now on\n";
}

}  // namespace offwait
