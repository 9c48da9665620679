// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/devices.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "analysis/files.h"

namespace offwait {

namespace {

/// Members of a group together.
std::vector<FoundDiskUser> disk_users(const WaitGraph& graph, const DiskUse& use, double window_s) {
  std::map<std::optional<FoundActorId>, FoundDiskUser> by_actor;
  for (const DiskUser& user : use.users) {
    std::optional<FoundActorId> actor;
    if (user.thread != kNoActor) {
      actor = graph.vertex_of[user.thread];
    }
    FoundDiskUser& sum = by_actor[actor];
    sum.actor = actor;
    sum.bytes += user.bytes;
    sum.ios += user.ios;
    sum.service_s += to_seconds(user.service_ns);
  }
  std::vector<FoundDiskUser> users;
  for (auto& [actor, user] : by_actor) {
    user.in_flight = user.service_s / window_s;
    user.service_s /= static_cast<double>(user.ios);
    users.push_back(user);
  }
  std::stable_sort(users.begin(), users.end(),
                   [](const FoundDiskUser& a, const FoundDiskUser& b) { return a.bytes > b.bytes; });
  return users;
}

std::vector<FoundDiskFile> disk_files(const FileNames& names, const DiskUse& use) {
  std::vector<FoundDiskFile> out;
  for (std::size_t i = 0; i < std::min(kMostDiskFiles, use.files.size()); ++i) {
    const DiskFile& file = use.files[i];
    FoundDiskFile& found = out.emplace_back();
    if (file.file != kNoObject) found.file = names(file.file);
    found.flushes = file.flushes;
    found.bytes = file.bytes;
    found.ios = file.ios;
    found.written_back = file.written_back;
    found.under_way_s = to_seconds(file.service_ns);
  }
  return out;
}

FoundDiskActivity disk_activity(const DiskActivity& activity, const DiskCapacity& capacity,
                                const Window& window) {
  constexpr double kPerSecond = 1e9;
  const double window_s = to_seconds(window.length());
  FoundDiskActivity out;
  out.kind = kind_of(activity, capacity, window);
  out.under_way_s = to_seconds(activity.under_way_ns);
  out.in_flight = activity.in_flight(window);
  out.in_flight_while_busy = activity.in_flight_while_busy();
  out.each_s = activity.each_ns() / kPerSecond;
  out.ios = activity.ios;
  out.bytes = activity.bytes;
  out.ios_per_s = static_cast<double>(activity.ios) / window_s;
  out.bytes_per_s = static_cast<double>(activity.bytes) / window_s;
  return out;
}

}  // namespace

std::vector<FoundDisk> find_disks(const Prepared& prepared, const WaitGraph& graph) {
  const double window_s = to_seconds(prepared.trace.all().window.length());
  const FileNames names(prepared.trace.all());
  std::vector<FoundDisk> out;
  for (const DiskUse& use : graph.disks) {
    FoundDisk& disk = out.emplace_back();
    disk.actor = graph.vertex_of[use.disk];
    disk.bytes = use.bytes;
    disk.ios = use.ios;
    disk.busy_s = to_seconds(use.busy_ns);
    disk.idle_s = to_seconds(use.idle_ns);
    disk.capacity_bytes_per_s = use.capacity.bytes_per_s;
    disk.capacity_ios_per_s = use.capacity.ios_per_s;
    disk.capacity_source = use.capacity.source;
    disk.capacity_raised = use.capacity_raised;
    disk.capacity_measured_on = use.capacity.measured_on;
    disk.bytes_per_s = static_cast<double>(use.bytes) / window_s;
    disk.ios_per_s = static_cast<double>(use.ios) / window_s;
    if (use.activity) {
      disk.activity = disk_activity(*use.activity, use.capacity, prepared.trace.all().window);
    }
    const std::vector<DiskChannels>& channels = prepared.answers.channels;
    if (!channels.empty()) disk.serves = channels[use.disk].known;
    disk.unseen = use.unseen;
    disk.users = disk_users(graph, use, window_s);
    disk.files = disk_files(names, use);
    disk.files_known = use.files.size();
    if (use.check) {
      disk.check = {use.check->counted_ios, use.check->counted_bytes, use.check->seen_ios,
                    use.check->seen_bytes, use.check->mismatch};
    }
  }
  return out;
}

std::vector<FoundNic> find_nics(const Prepared& prepared, const WaitGraph& graph) {
  const double window_s = to_seconds(prepared.trace.all().window.length());
  const auto direction = [window_s](const NicDirection& use) {
    return FoundNicDirection{use.bytes, static_cast<double>(use.bytes) / window_s, use.capacity_per_s,
                             to_seconds(use.busy_ns), to_seconds(use.idle_ns)};
  };
  std::vector<FoundNic> out;
  for (const NicUse& use : graph.nics) {
    out.push_back({graph.vertex_of[use.nic], use.source, use.capacity_raised, direction(use.received),
                   direction(use.sent)});
  }
  return out;
}

FoundFalseWakeups find_false_wakeups_by_edge(const Prepared& prepared, const WaitGraph& graph, bool removed) {
  FoundFalseWakeups out;
  out.removed = removed;
  out.ran_s = to_seconds(prepared.false_wakeups.ran_ns);
  std::map<std::pair<FoundActorId, FoundActorId>, std::uint64_t> counts;
  for (const auto& [ends, count] : prepared.false_wakeups.counts) {
    counts[{graph.vertex_of[ends.first], graph.vertex_of[ends.second]}] += count;
    out.count += count;
  }
  for (const auto& [ends, count] : counts) {
    out.edges.push_back({ends.first, ends.second, count});
  }
  std::stable_sort(out.edges.begin(), out.edges.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  return out;
}

}  // namespace offwait
