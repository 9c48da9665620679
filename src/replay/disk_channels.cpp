// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/disk_channels.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

namespace offwait {

namespace {

/// No more requests of a disk than these are looked at.
constexpr std::size_t kEnough = 20'000;
constexpr std::uint32_t kMostChannels = 64;
/// Another number of channels has to make service times this much more alike to be believed.
constexpr double kClearly = 0.9;

/// A group whose requests take no time has no variation to compare.
constexpr double kNoVariation = std::numeric_limits<double>::infinity();

struct Request {
  GroupId group = kNoGroup;
  Nanos issue = 0;
  Nanos complete = 0;
};

/// Variance of the service times within groups, as a part of their mean's square, for a disk with `channels`
/// channels. 0 channels: no limit.
double variation(const std::vector<Request>& requests, const std::vector<Nanos>& completions,
                 std::uint32_t channels) {
  struct Sum {
    double count = 0;
    double sum = 0;
    double squares = 0;
  };
  std::map<GroupId, Sum> sums;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const Request& request = requests[k];
    const Nanos begin =
        channels != 0 && k >= channels ? std::max(request.issue, completions[k - channels]) : request.issue;
    const auto service = static_cast<double>(request.complete - begin);
    Sum& sum = sums[request.group];
    sum.count += 1;
    sum.sum += service;
    sum.squares += service * service;
  }
  double out = 0;
  for (const auto& [group, sum] : sums) {
    if (sum.sum <= 0) {
      return kNoVariation;
    }
    out += sum.count * (sum.squares * sum.count / (sum.sum * sum.sum) - 1);
  }
  return out / static_cast<double>(requests.size());
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
  const double without = variation(requests, completions, 0);
  double best = without;
  DiskChannels out{0, most_at_once(requests, completions)};
  for (std::uint32_t number = kMostChannels; number > 0; number /= 2) {
    const double varies = variation(requests, completions, number);
    if (varies < kClearly * best) {
      best = varies;
      out.known = number;
    }
    if (kClearly * varies <= without) out.shown = std::min(out.shown, number);
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
