// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/cpus.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace offwait {

namespace {

/// Takes a decimal number from the front of `text`; nothing if there is none.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

bool is_cpu_list(const CpuList& cpus) {
  if (cpus.size() > kMostCpuRanges) return false;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (cpus[i].first > cpus[i].last) return false;
    if (i > 0 && (cpus[i].first < 2 || cpus[i].first - 2 < cpus[i - 1].last)) return false;
  }
  return true;
}

bool contains(const CpuList& cpus, std::uint32_t cpu) {
  return std::any_of(cpus.begin(), cpus.end(),
                     [cpu](const CpuRange& range) { return range.first <= cpu && cpu <= range.last; });
}

std::string to_string(const CpuList& cpus) {
  std::string out;
  for (const CpuRange& range : cpus) {
    if (!out.empty()) out += ',';
    out += std::to_string(range.first);
    if (range.last > range.first) out += "-" + std::to_string(range.last);
  }
  return out;
}

std::optional<CpuList> parse_cpu_list(std::string_view text) {
  CpuList cpus;
  do {
    const std::optional<std::uint32_t> first = take_number(text);
    const std::optional<std::uint32_t> last = first && take(text, '-') ? take_number(text) : first;
    if (!last || cpus.size() == kMostCpuRanges) return std::nullopt;
    cpus.push_back({*first, *last});
  } while (take(text, ','));
  return text.empty() && is_cpu_list(cpus) ? std::optional(cpus) : std::nullopt;
}

double cpus_of(const CpuQuota& quota) {
  return static_cast<double>(quota.quota_ns) / static_cast<double>(quota.period_ns);
}

double used_up(const CpuQuota& quota) {
  const auto periods = static_cast<double>(std::max<std::uint64_t>(quota.periods, 1));
  return std::min(1.0, static_cast<double>(quota.throttled_periods) / periods);
}

const CpuQuota* most_used_up(const std::vector<CpuQuota>& quotas) {
  const auto most = std::max_element(quotas.begin(), quotas.end(), [](const CpuQuota& a, const CpuQuota& b) {
    return used_up(a) < used_up(b);
  });
  return most == quotas.end() || used_up(*most) == 0 ? nullptr : &*most;
}

}  // namespace offwait
