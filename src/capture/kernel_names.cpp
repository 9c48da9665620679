// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/kernel_names.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace offwait {
namespace {

constexpr std::uint64_t kSectorBytes =
    512;  // /proc/diskstats counts in these, whatever the disk's own sectors are

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return line;
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> found;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(" \t", at);
    found.push_back(line.substr(at, end == std::string_view::npos ? end : end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return found;
}

template <class Number>
bool number(std::string_view word, Number& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

bool is_count(std::string_view word) {
  std::uint64_t value = 0;
  return number(word, value);
}

/// From the words of a line of /proc/stat: the CPU's name, then user nice system idle iowait irq softirq
/// steal guest guest_nice. The time of guests is part of `user`.
std::optional<CpuTicks> ticks_of(const std::vector<std::string_view>& fields) {
  constexpr std::size_t kIdle = 4;
  constexpr std::size_t kIoWait = 5;
  constexpr std::size_t kSteal = 8;
  if (fields.size() <= kIoWait) return std::nullopt;
  CpuTicks ticks;
  for (std::size_t i = 1; i < std::min(fields.size(), kSteal + 1); ++i) {
    std::uint64_t value = 0;
    if (!number(fields[i], value)) return std::nullopt;
    (i == kIdle || i == kIoWait ? ticks.idle : ticks.busy) += value;
    if (i == kSteal) ticks.steal = value;
  }
  return ticks;
}

}  // namespace

std::vector<DiskStats> parse_diskstats(std::string_view text) {
  // Fields after the name (Documentation/admin-guide/iostats.rst), counted from 0.
  enum Field : std::size_t {
    kReads = 0,
    kReadSectors = 2,
    kWrites = 4,
    kWriteSectors = 6,
    kInFlight = 8,
    kDiscards = 11,
    kDiscardSectors = 13,
    kFlushes = 15
  };
  std::vector<DiskStats> disks;
  while (!text.empty()) {
    const std::vector<std::string_view> fields = words(next_line(text));
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    if (fields.size() < 3 + kWriteSectors + 1 || !number(fields[0], major) || !number(fields[1], minor) ||
        !std::all_of(fields.begin() + 3, fields.end(), is_count)) {
      continue;
    }
    // Discards exist since 4.18 and flushes since 5.5; older kernels do not count them.
    const auto field = [&fields](std::size_t index) {
      std::uint64_t value = 0;
      if (index + 3 < fields.size()) number(fields[index + 3], value);
      return value;
    };
    DiskStats disk;
    disk.dev = major << 20 | minor;
    disk.name = std::string(fields[2]);
    disk.bytes = (field(kReadSectors) + field(kWriteSectors) + field(kDiscardSectors)) * kSectorBytes;
    disk.ios = field(kReads) + field(kWrites) + field(kDiscards) + field(kFlushes);
    disk.in_flight = field(kInFlight);
    disks.push_back(std::move(disk));
  }
  return disks;
}

std::optional<CpuTicks> parse_cpu_ticks(std::string_view text) {
  const std::vector<std::string_view> fields = words(next_line(text));
  return !fields.empty() && fields[0] == "cpu" ? ticks_of(fields) : std::nullopt;
}

std::map<std::uint32_t, CpuTicks> parse_each_cpu_ticks(std::string_view text) {
  constexpr std::string_view kCpu = "cpu";
  std::map<std::uint32_t, CpuTicks> each;
  while (text.starts_with(kCpu)) {
    const std::vector<std::string_view> fields = words(next_line(text));
    std::uint32_t cpu = 0;
    if (!number(fields[0].substr(kCpu.size()), cpu)) continue;
    if (const std::optional<CpuTicks> ticks = ticks_of(fields)) each.emplace(cpu, *ticks);
  }
  return each;
}

std::vector<NicStats> parse_net_dev(std::string_view text) {
  // The name is followed by 8 numbers for received and 8 for sent data; each begins with the bytes.
  constexpr std::size_t kReceived = 0;
  constexpr std::size_t kSent = 8;
  std::vector<NicStats> nics;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) continue;
    const std::vector<std::string_view> name = words(line.substr(0, colon));
    const std::vector<std::string_view> fields = words(line.substr(colon + 1));
    NicStats nic;
    if (name.size() != 1 || fields.size() <= kSent || !number(fields[kReceived], nic.received) ||
        !number(fields[kSent], nic.sent))
      continue;
    nic.name = std::string(name[0]);
    nics.push_back(std::move(nic));
  }
  return nics;
}

std::map<std::uint32_t, std::string> parse_interrupts(std::string_view text) {
  std::map<std::uint32_t, std::string> interrupts;
  const std::size_t cpus = words(next_line(text)).size();
  while (!text.empty()) {
    const std::vector<std::string_view> fields = words(next_line(text));
    if (fields.empty() || fields[0].back() != ':') continue;
    std::uint32_t irq = 0;
    if (!number(fields[0].substr(0, fields[0].size() - 1), irq)) continue;
    // The line has a count for each CPU, the chip, the hardware number and trigger (one word on x86, two on
    // arm64), then the handlers.
    std::size_t handlers = 1 + cpus + 2;
    if (handlers < fields.size() && (fields[handlers] == "Level" || fields[handlers] == "Edge")) ++handlers;
    if (fields.size() <= handlers) continue;
    std::string names;
    for (std::size_t i = handlers; i < fields.size(); ++i) {
      if (!names.empty()) names += ' ';
      names += fields[i];
    }
    interrupts.emplace(irq, std::move(names));
  }
  return interrupts;
}

}  // namespace offwait
