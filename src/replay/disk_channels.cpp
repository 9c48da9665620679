// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/disk_channels.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <utility>

namespace offwait {

namespace {

/// No more requests of a disk than these are looked at.
constexpr std::size_t kEnough = 20'000;
constexpr std::uint32_t kMostChannels = 64;
/// A number of channels that is believed tells better than another one by this part.
constexpr double kClearly = 0.1;

struct Request {
  GroupId group = kNoGroup;
  Nanos issue = 0;
  Nanos complete = 0;
};

/// What follows for the requests if a disk has some number of channels.
struct Served {
  std::vector<Nanos> begins;   ///< when the disk began each request
  std::vector<double> off_ns;  ///< how far its service time is off the median of its group's
  bool in_order = true;        ///< nearly all requests begin before they are complete
};

/// 0 channels: no limit.
Served served_with(std::uint32_t channels, const std::vector<Request>& requests,
                   const std::vector<Nanos>& completions) {
  constexpr std::size_t kOneIn = 20;
  Served out;
  std::map<GroupId, std::vector<Nanos>> services;
  std::size_t early = 0;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const Request& request = requests[k];
    const bool queues = channels != 0 && k >= channels;
    out.begins.push_back(queues ? std::max(request.issue, completions[k - channels]) : request.issue);
    early += queues && out.begins.back() >= request.complete ? 1U : 0U;
    services[request.group].push_back(request.complete - out.begins.back());
  }
  out.in_order = early * kOneIn <= requests.size();
  std::map<GroupId, Nanos> medians;
  for (auto& [group, times] : services) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    medians[group] = *middle;
  }
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const Nanos service = requests[k].complete - out.begins[k];
    out.off_ns.push_back(static_cast<double>(std::abs(service - medians.at(requests[k].group))));
  }
  return out;
}

/// Whether `one` tells clearly better than `other` when the requests are complete: it is less off in all by
/// more than a part of what either is off for the requests about which the two differ.
bool is_clearly_better(const Served& one, const Served& other) {
  constexpr std::size_t kFewest = 16;
  double saved = 0;
  double own = 0;
  double others = 0;
  std::size_t differ = 0;
  for (std::size_t k = 0; k < one.begins.size(); ++k) {
    saved += other.off_ns[k] - one.off_ns[k];
    if (one.begins[k] == other.begins[k]) continue;
    own += one.off_ns[k];
    others += other.off_ns[k];
    ++differ;
  }
  return differ >= kFewest && saved > kClearly * std::max(own, others);
}

/// The most requests that were under way at a time.
std::uint32_t most_at_once(const std::vector<Request>& requests, const std::vector<Nanos>& completions) {
  std::size_t most = 0;
  std::size_t complete = 0;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    while (complete < completions.size() && completions[complete] <= requests[k].issue) ++complete;
    most = std::max(most, k + 1 - complete);
  }
  return static_cast<std::uint32_t>(most);
}

DiskChannels channels_of(std::vector<Request> requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.issue < b.issue; });
  std::vector<Nanos> completions;
  completions.reserve(requests.size());
  for (const Request& request : requests) {
    completions.push_back(request.complete);
  }
  std::sort(completions.begin(), completions.end());
  const Served without = served_with(0, requests, completions);
  Served best = without;
  DiskChannels out{0, most_at_once(requests, completions)};
  for (std::uint32_t number = kMostChannels; number > 0; number /= 2) {
    Served served = served_with(number, requests, completions);
    if (!served.in_order) continue;
    if (!is_clearly_better(without, served)) out.shown = std::min(out.shown, number);
    if (is_clearly_better(served, best)) {
      best = std::move(served);
      out.known = number;
    }
  }
  return out;
}

}  // namespace

std::vector<DiskChannels> disk_channels(const Trace& trace, const ThreadGroups& groups,
                                        const WaitKinds& kinds) {
  std::vector<std::vector<Request>> requests(trace.actors.size());
  for (const DiskIo& io : trace.disk_ios) {
    if (io.complete != kNever && io.disk != kNoActor && requests[io.disk].size() < kEnough) {
      requests[io.disk].push_back(
          {io.thread == kNoActor ? kNoGroup : groups.group_of[io.thread], io.issue, io.complete});
    }
  }
  if (trace.disk_ios.empty()) {
    for (const Wait& wait : trace.waits) {
      const WaitSite& site = trace.sites[wait.site];
      if (kinds.of_site[wait.site] == WaitKind::disk && wait.wake != kNever &&
          requests[site.waker].size() < kEnough) {
        requests[site.waker].push_back({groups.group_of[site.thread], wait.block, wait.wake});
      }
    }
  }
  std::vector<DiskChannels> out(trace.actors.size());
  for (ActorId id = 0; id < out.size(); ++id) {
    if (!requests[id].empty()) {
      out[id] = channels_of(std::move(requests[id]));
    }
  }
  return out;
}

}  // namespace offwait
