// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/mount_points.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace offwait {
namespace {

std::string_view next_field(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

/// The kernel writes a space, tab, newline and backslash as a backslash and three octal digits.
std::string unescaped(std::string_view text) {
  constexpr std::size_t kDigits = 3;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '\\' && text.size() - i > kDigits) {
      const auto [end, error] = std::from_chars(digits, digits + kDigits, byte, 8);
      if (error == std::errc{} && end == digits + kDigits && byte <= 0xff) {
        out.push_back(static_cast<char>(byte));
        i += kDigits;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime … - type …`
std::optional<MountPoint> parse_line(std::string_view line) {
  next_field(line);
  next_field(line);
  const std::string_view device = next_field(line);
  MountPoint mount;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  constexpr unsigned kMinorBits = 20;
  const char* const end = device.data() + device.size();
  const auto [colon, bad_major] = std::from_chars(device.data(), end, major);
  if (bad_major != std::errc{} || colon == end || *colon != ':') return std::nullopt;
  const auto [rest, bad_minor] = std::from_chars(colon + 1, end, minor);
  if (bad_minor != std::errc{} || rest != end || minor >> kMinorBits != 0) return std::nullopt;
  mount.dev = major << kMinorBits | minor;
  mount.root = unescaped(next_field(line));
  mount.path = unescaped(next_field(line));
  if (!mount.root.starts_with('/') || !mount.path.starts_with('/')) return std::nullopt;
  constexpr std::string_view kBehindOptions = " - ";
  if (const std::size_t options = line.find(kBehindOptions); options != std::string_view::npos) {
    line.remove_prefix(options + kBehindOptions.size());
    mount.type = unescaped(next_field(line));
  }
  return mount;
}

}  // namespace

std::vector<MountPoint> parse_mounts(std::string_view text) {
  std::vector<MountPoint> mounts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (std::optional<MountPoint> mount = parse_line(line)) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

}  // namespace offwait
