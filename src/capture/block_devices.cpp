// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/block_devices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/unique_fd.h"

namespace offwait {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBelow = 64;
constexpr std::size_t kLongestValue = 256;
constexpr std::size_t kPage = 4096;  // the kernel writes at most this much to a file of sysfs

std::string first_line(const fs::path& path, std::size_t longest = kLongestValue) {
  std::ifstream file(path, std::ios::binary);
  std::string text(longest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  text.resize(std::min(text.find('\n'), text.size()));
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::optional<std::uint32_t> parse_dev(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  const char* const middle = text.data() + colon;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), middle, major);
  const auto second = std::from_chars(middle + 1, end, minor);
  if (first.ec != std::errc{} || first.ptr != middle || second.ec != std::errc{} || second.ptr != end)
    return std::nullopt;
  return major << 20 | minor;
}

fs::path link_of(std::uint32_t dev, const std::string& sysfs) {
  return fs::path(sysfs) / "dev/block" / (std::to_string(dev >> 20) + ":" + std::to_string(dev & 0xfffff));
}

/// The directory of the device in sysfs; empty if there is none.
fs::path directory_of(std::uint32_t dev, const std::string& sysfs) {
  std::error_code error;
  fs::path directory = fs::canonical(link_of(dev, sysfs), error);
  return error ? fs::path() : directory;
}

std::string printable(const std::string& text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xf]};
  }
  return out;
}

std::string name_of(const fs::path& directory) {
  std::string name = directory.filename().string();
  std::replace(name.begin(), name.end(), '!', '/');  // sysfs writes `!` for the `/` in a name
  return name;
}

/// The directories of the devices that this one is made of, in order of name.
std::vector<fs::path> slaves_of(const fs::path& directory) {
  std::vector<fs::path> slaves;
  std::error_code error;
  for (fs::directory_iterator at(directory / "slaves", error), end;
       !error && at != end && slaves.size() < kMostBelow; at.increment(error)) {
    slaves.push_back(at->path());
  }
  std::sort(slaves.begin(), slaves.end());
  return slaves;
}

}  // namespace

std::uint32_t whole_disk(std::uint32_t dev, const std::string& sysfs) {
  const fs::path directory = directory_of(dev, sysfs);
  std::error_code error;
  if (directory.empty() || !fs::exists(directory / "partition", error)) return dev;
  return parse_dev(first_line(directory.parent_path() / "dev")).value_or(dev);
}

std::optional<std::uint32_t> loop_backing_device(const std::string& name) {
  if (name.find('/') != std::string::npos) return std::nullopt;
  const UniqueFd device(::open(("/dev/" + name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!device) return std::nullopt;
  loop_info64 info{};
  if (::ioctl(device.get(), LOOP_GET_STATUS64, &info) != 0) return std::nullopt;
  return ::gnu_dev_major(info.lo_device) << 20 | ::gnu_dev_minor(info.lo_device);
}

std::vector<std::string> disks_below(
    std::uint32_t dev, const std::string& sysfs,
    const std::function<std::optional<std::uint32_t>(const std::string&)>& backing) {
  std::vector<std::string> names;
  std::set<std::uint32_t> seen{dev};
  std::vector<std::uint32_t> level{dev};
  while (!level.empty()) {
    std::vector<std::uint32_t> next;
    const auto add = [&](std::optional<std::uint32_t> found) {
      if (!found || names.size() == kMostBelow) return;
      const std::uint32_t disk = whole_disk(*found, sysfs);
      std::string name = disk_name(disk, sysfs);
      if (name.empty() || !seen.insert(disk).second) return;
      names.push_back(std::move(name));
      next.push_back(disk);
    };
    for (const std::uint32_t disk : level) {
      const fs::path directory = directory_of(disk, sysfs);
      if (directory.empty()) continue;
      std::error_code error;
      if (fs::exists(directory / "loop", error)) add(backing(name_of(directory)));
      for (const fs::path& slave : slaves_of(directory)) add(parse_dev(first_line(slave / "dev")));
    }
    level = std::move(next);
  }
  return names;
}

std::vector<std::uint32_t> bottom_disks(std::uint32_t dev, const std::string& sysfs) {
  std::set<std::uint32_t> bottom;
  std::set<std::uint32_t> seen{whole_disk(dev, sysfs)};
  std::vector<std::uint32_t> pending(seen.begin(), seen.end());
  while (!pending.empty()) {
    const std::uint32_t disk = pending.back();
    pending.pop_back();
    const fs::path directory = directory_of(disk, sysfs);
    if (directory.empty()) continue;
    const std::vector<fs::path> slaves = slaves_of(directory);
    if (slaves.empty()) bottom.insert(disk);
    for (const fs::path& slave : slaves) {
      const std::optional<std::uint32_t> found = parse_dev(first_line(slave / "dev"));
      if (!found || seen.size() == kMostBelow) continue;
      const std::uint32_t below = whole_disk(*found, sysfs);
      if (seen.insert(below).second) pending.push_back(below);
    }
  }
  return {bottom.begin(), bottom.end()};
}

std::string disk_name(std::uint32_t dev, const std::string& sysfs) {
  const fs::path directory = directory_of(dev, sysfs);
  return directory.empty() ? std::string() : name_of(directory);
}

std::string disk_identity(std::uint32_t dev, const std::string& sysfs) {
  const fs::path directory = directory_of(dev, sysfs);
  const std::string sectors = directory.empty() ? std::string() : first_line(directory / "size");
  std::error_code error;
  const fs::path root = fs::canonical(sysfs, error);
  if (error || sectors.empty() || sectors == "0") return "";
  const fs::path place = directory.lexically_relative(root);
  struct Source {
    const char* file;
    bool unique;  // false: a hypervisor may give all its disks the same value
  };
  static constexpr std::array<Source, 7> kSources = {{{"wwid", true},
                                                      {"device/wwid", true},
                                                      {"serial", false},
                                                      {"device/serial", false},
                                                      {"dm/uuid", true},
                                                      {"md/uuid", true},
                                                      {"loop/backing_file", true}}};
  std::string identity = "at " + place.string();
  for (const auto& [file, unique] : kSources) {
    const std::string value = first_line(directory / file, kPage);
    if (value.empty()) continue;
    identity = std::string(file) + " " + value + (unique ? "" : " at " + place.parent_path().string());
    break;
  }
  return printable(identity + " of " + sectors + " sectors");
}

}  // namespace offwait
