// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/room.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace offwait {

namespace {

/// CPUs that recorded threads can use. Programs that were not recorded make way for them.
double cpus_for(const ReplayInput& input) {
  return input.cpus.cpus > 0 ? std::max(1.0, std::round(input.cpus.cpus)) : 0;
}

/// By disk and GroupId: the time that the disk's channels worked on the group's requests ÷ the window.
std::map<ActorId, std::vector<double>> served_by_disks(const ReplayInput& input) {
  std::map<ActorId, std::vector<const DiskIo*>> requests;
  for (const DiskIo& io : input.trace.disk_ios) {
    const bool counts = io.complete != kNever && io.disk != kNoActor && io.thread != kNoActor;
    if (counts && input.channels[io.disk] != 0) requests[io.disk].push_back(&io);
  }
  std::map<ActorId, std::vector<double>> out;
  for (auto& [disk, ios] : requests) {
    std::stable_sort(ios.begin(), ios.end(),
                     [](const DiskIo* a, const DiskIo* b) { return a->issue < b->issue; });
    std::vector<Nanos> completions;
    for (const DiskIo* io : ios) completions.push_back(io->complete);
    std::sort(completions.begin(), completions.end());
    std::vector<double>& of_groups = out[disk];
    of_groups.resize(input.groups.groups.size());
    const std::size_t channels = input.channels[disk];
    for (std::size_t k = 0; k < ios.size(); ++k) {
      const Nanos begin = k >= channels ? std::max(ios[k]->issue, completions[k - channels]) : ios[k]->issue;
      of_groups[input.groups.group_of[ios[k]->thread]] +=
          static_cast<double>(clipped(begin, ios[k]->complete, input.trace.window)) /
          static_cast<double>(input.trace.window.length());
    }
  }
  return out;
}

/// The part p of all gains with which `before` + p (`after` - `before`) is at most `most`.
double part_within(double most, double before, double after) {
  if (after <= std::max(most, before)) return 1;
  return std::clamp((most - before) / (after - before), 0.0, 1.0);
}

}  // namespace

Room::Room(const ReplayInput& input, bool with_cpus)
    : input_(input), cpus_(with_cpus ? cpus_for(input) : 0), served_(served_by_disks(input)) {}

double Room::part_that_fits(const Scenario& scenario, const std::vector<double>& speeds) const {
  double out = part_of_cpus(scenario, speeds);
  for (const auto& [disk, served] : served_) out = std::min(out, part_of_disk(disk, scenario, speeds));
  return out;
}

double Room::part_of_cpus(const Scenario& scenario, const std::vector<double>& speeds) const {
  if (cpus_ <= 0) return 1;
  double most = cpus_;
  for (const Change& change : scenario) most /= change.resource == Resource::cpus ? change.factor : 1;
  double before = 0;
  double after = 0;
  for (GroupId id = 0; id < speeds.size(); ++id) {
    double use = static_cast<double>(input_.uses.groups[id].running_ns) /
                 static_cast<double>(input_.trace.window.length());
    for (const Change& change : scenario) {
      use *= change.resource == Resource::cpu && change.group == id ? change.factor : 1;
    }
    if (input_.code != nullptr) use *= factor_of_work(scenario, *input_.code, id);
    before += use;
    after += use * speeds[id];
  }
  return part_within(most, before, after);
}

double Room::part_of_disk(ActorId disk, const Scenario& scenario, const std::vector<double>& speeds) const {
  double before = 0;
  double after = 0;
  for (GroupId id = 0; id < speeds.size(); ++id) {
    double use = served_.at(disk)[id];
    for (const Change& change : scenario) {
      const bool is_meant =
          change.device == disk &&
          (change.resource == Resource::disk || (change.resource == Resource::io && change.group == id));
      use *= is_meant ? change.factor : 1;
    }
    before += use;
    after += use * speeds[id];
  }
  return part_within(input_.channels[disk], before, after);
}

}  // namespace offwait
