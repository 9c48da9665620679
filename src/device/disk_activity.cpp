// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/disk_activity.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace offwait {

namespace {

constexpr double kMostly = 0.5;
constexpr double kAboutOne = 1.5;
constexpr double kClose = 0.8;

}  // namespace

std::string_view to_string(DiskKind kind) {
  switch (kind) {
    case DiskKind::idle:
      return "idle";
    case DiskKind::occasional:
      return "occasional";
    case DiskKind::latency_bound:
      return "latency-bound";
    case DiskKind::parallel:
      return "parallel";
    case DiskKind::ios_bound:
      return "ios-bound";
    case DiskKind::bandwidth_bound:
      break;
  }
  return "bandwidth-bound";
}

double DiskActivity::in_flight(const Window& window) const {
  return window.length() > 0 ? request_ns / static_cast<double>(window.length()) : 0;
}

double DiskActivity::in_flight_while_busy() const {
  return under_way_ns > 0 ? request_ns / static_cast<double>(under_way_ns) : 0;
}

double DiskActivity::each_ns() const { return ios > 0 ? request_ns / static_cast<double>(ios) : 0; }

std::vector<DiskIo> without_unseen(std::vector<DiskIo> ios, const std::vector<DiskCounters>& readings) {
  // Counters that never move are switched off (queue/iostats) and show nothing in flight, either.
  if (readings.size() < 2 || readings.front().ios == readings.back().ios) return ios;
  const DiskCounters& last = readings.back();
  const auto open = [&last](const DiskIo& io) {
    return io.complete == kNever && io.issue < last.at - kReadingBlur;
  };
  std::vector<Nanos> issues;
  for (const DiskIo& io : ios) {
    if (open(io)) issues.push_back(io.issue);
  }
  if (issues.size() <= last.in_flight) return ios;
  std::sort(issues.begin(), issues.end());
  const Nanos newest_unseen = issues[issues.size() - static_cast<std::size_t>(last.in_flight) - 1];
  std::erase_if(ios, [&](const DiskIo& io) { return open(io) && io.issue <= newest_unseen; });
  return ios;
}

DiskActivity disk_activity(const std::vector<DiskIo>& ios, const Window& window) {
  DiskActivity activity;
  std::vector<std::pair<Nanos, Nanos>> under_way;
  under_way.reserve(ios.size());
  for (const DiskIo& io : ios) {
    if (io.complete > window.begin && io.complete <= window.end) {
      ++activity.ios;
      activity.bytes += io.bytes;
    }
    const Nanos from = std::max(io.issue, window.begin);
    const Nanos to = std::min(io.complete, window.end);
    if (from < to) {
      activity.request_ns += static_cast<double>(to - from);
      under_way.emplace_back(from, to);
    }
  }
  std::sort(under_way.begin(), under_way.end());
  Nanos until = window.begin;
  for (const auto& [from, to] : under_way) {
    activity.under_way_ns += std::max<Nanos>(0, to - std::max(from, until));
    until = std::max(until, to);
  }
  return activity;
}

DiskKind kind_of(const DiskActivity& activity, const DiskCapacity& capacity, const Window& window) {
  if (activity.under_way_ns == 0) return activity.ios == 0 ? DiskKind::idle : DiskKind::occasional;
  if (static_cast<double>(activity.under_way_ns) < kMostly * static_cast<double>(window.length())) {
    return DiskKind::occasional;
  }
  const double most = kClose * to_seconds(window.length());
  if (static_cast<double>(activity.bytes) >= most * capacity.bytes_per_s) return DiskKind::bandwidth_bound;
  if (static_cast<double>(activity.ios) >= most * capacity.ios_per_s) return DiskKind::ios_bound;
  return activity.in_flight_while_busy() < kAboutOne ? DiskKind::latency_bound : DiskKind::parallel;
}

}  // namespace offwait
