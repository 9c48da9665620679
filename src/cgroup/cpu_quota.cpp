// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroup/cpu_quota.h"

#include "base/read_file.h"
#include "cgroup/stat_text.h"

namespace offwait {
namespace {

constexpr Nanos kMicrosecond = 1000;

/// A time that the text gives in units of `unit` ns; nothing if it is not above 0, or too long to be one.
std::optional<Nanos> time_of(std::string_view text, Nanos unit) {
  const std::optional<std::uint64_t> number = whole_number(text);
  if (!number || *number == 0 || *number >= static_cast<std::uint64_t>(kNever / unit)) return std::nullopt;
  return static_cast<Nanos>(*number) * unit;
}

std::optional<CpuBandwidth> bandwidth(std::string_view quota_us, std::string_view period_us) {
  const std::optional<Nanos> quota = time_of(quota_us, kMicrosecond);
  const std::optional<Nanos> period = time_of(period_us, kMicrosecond);
  return quota && period ? std::optional(CpuBandwidth{*quota, *period}) : std::nullopt;
}

}  // namespace

std::optional<CpuBandwidth> parse_cpu_max(std::string_view text) {
  const std::string_view quota = take_until(text, ' ');
  return bandwidth(quota, text);
}

std::optional<CpuBandwidth> parse_cfs_bandwidth(std::string_view quota_us, std::string_view period_us) {
  return bandwidth(quota_us, period_us);
}

Throttling parse_cpu_stat(std::string_view text) {
  Throttling out;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view key = take_until(line, ' ');
    if (key == "nr_periods") out.periods = whole_number(line).value_or(0);
    if (key == "nr_throttled") out.throttled_periods = whole_number(line).value_or(0);
    if (key == "throttled_usec") out.throttled = time_of(line, kMicrosecond).value_or(0);
    if (key == "throttled_time") out.throttled = time_of(line, 1).value_or(0);
  }
  return out;
}

QuotaReading read_quota(const ControllerHierarchy& hierarchy, const std::string& name) {
  const std::string directory = hierarchy.mount + name;
  QuotaReading reading;
  reading.limit = hierarchy.v1 ? parse_cfs_bandwidth(read_file(directory + "/cpu.cfs_quota_us"),
                                                     read_file(directory + "/cpu.cfs_period_us"))
                               : parse_cpu_max(read_file(directory + "/cpu.max"));
  if (reading.limit) reading.throttling = parse_cpu_stat(read_file(directory + "/cpu.stat"));
  return reading;
}

}  // namespace offwait
