// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/nic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "device/rate.h"

namespace offwait {
namespace {

struct NicInterval {
  Nanos from = 0;
  Nanos to = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

std::vector<NicInterval> intervals(const std::vector<NicCounters>& readings) {
  std::vector<NicInterval> result;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const NicCounters& a = readings[i - 1];
    const NicCounters& b = readings[i];
    if (b.at > a.at && b.received >= a.received && b.sent >= a.sent) {
      result.push_back({a.at, b.at, b.received - a.received, b.sent - a.sent});
    }
  }
  return result;
}

/// Fills in all other members, and may raise capacity_per_s. Returns whether it raised that.
bool use_direction(NicDirection& use, const std::vector<NicInterval>& counted,
                   std::uint64_t NicInterval::*bytes, const Window& window) {
  const bool known = use.capacity_per_s > 0;
  const double given = use.capacity_per_s;
  const auto rate = [&](const NicInterval& interval) {
    return static_cast<double>(interval.*bytes) / to_seconds(interval.to - interval.from);
  };
  for (const NicInterval& interval : counted) {
    if (known && interval.to - interval.from >= kShortestForRate) {
      use.capacity_per_s = std::max(use.capacity_per_s, rate(interval));
    }
  }
  double carried = 0;
  double busy_ns = 0;
  double covered_ns = 0;
  for (const NicInterval& interval : counted) {
    const auto inside =
        static_cast<double>(std::min(interval.to, window.end) - std::max(interval.from, window.begin));
    if (inside <= 0) {
      continue;
    }
    carried +=
        static_cast<double>(interval.*bytes) * inside / static_cast<double>(interval.to - interval.from);
    covered_ns += inside;
    busy_ns += known ? inside * std::min(rate(interval) / use.capacity_per_s, 1.0) : 0;
  }
  constexpr double kMost = 18e18;
  use.bytes = static_cast<std::uint64_t>(std::min(std::round(carried), kMost));
  if (known && covered_ns > 0) {
    const double whole = static_cast<double>(window.length());
    const double busy = std::round(busy_ns / covered_ns * whole);
    use.busy_ns = busy >= whole ? window.length() : static_cast<Nanos>(busy);
  }
  use.idle_ns = known ? window.length() - use.busy_ns : 0;
  return use.capacity_per_s > given;
}

}  // namespace

std::vector<NicUse> nic_use(const Trace& trace) {
  std::map<ActorId, std::vector<NicCounters>> readings;
  for (const NicCounters& counters : trace.nic_counters) {
    readings[counters.nic].push_back(counters);
  }
  std::vector<NicUse> result;
  for (auto& [nic, of_nic] : readings) {
    if (of_nic.size() < 2) {
      continue;
    }
    std::stable_sort(of_nic.begin(), of_nic.end(),
                     [](const NicCounters& a, const NicCounters& b) { return a.at < b.at; });
    NicUse use;
    use.nic = nic;
    for (const NicCapacity& capacity : trace.nic_capacities) {
      if (capacity.nic == nic) {
        use.source = capacity.source;
        use.received.capacity_per_s = capacity.received_per_s;
        use.sent.capacity_per_s = capacity.sent_per_s;
      }
    }
    const std::vector<NicInterval> counted = intervals(of_nic);
    const bool received_raised = use_direction(use.received, counted, &NicInterval::received, trace.window);
    const bool sent_raised = use_direction(use.sent, counted, &NicInterval::sent, trace.window);
    use.capacity_raised = received_raised || sent_raised;
    result.push_back(use);
  }
  return result;
}

}  // namespace offwait
