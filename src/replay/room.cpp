// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/room.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace offwait {

namespace {

using DiskRequests = std::vector<const DiskIo*>;

/// By disk: the requests that are complete, in order of their issue.
std::map<ActorId, DiskRequests> requests_of(const Trace& trace) {
  std::map<ActorId, DiskRequests> out;
  for (const DiskIo& io : trace.disk_ios) {
    if (io.complete != kNever && io.disk != kNoActor && io.thread != kNoActor) out[io.disk].push_back(&io);
  }
  for (auto& [disk, ios] : out) {
    std::stable_sort(ios.begin(), ios.end(),
                     [](const DiskIo* a, const DiskIo* b) { return a->issue < b->issue; });
  }
  return out;
}

std::vector<Nanos> completions_of(const DiskRequests& ios) {
  std::vector<Nanos> out;
  for (const DiskIo* io : ios) out.push_back(io->complete);
  std::sort(out.begin(), out.end());
  return out;
}

/// A write, or a flush, may carry what several threads want on the disk.
bool may_be_shared(const DiskIo& io) {
  return io.operation == DiskOperation::write || io.operation == DiskOperation::other;
}

/// By GroupId: the time that the disk's channels worked on the group's requests ÷ the time of the pieces.
/// Without channels each request is worked on from its issue.
std::vector<double> served(const ReplayInput& input, const DiskRequests& ios,
                           const std::vector<Nanos>& completions, std::size_t channels, bool shared) {
  std::vector<double> out(input.groups.groups.size());
  for (std::size_t k = 0; k < ios.size(); ++k) {
    if (may_be_shared(*ios[k]) && !shared) continue;
    const bool queues = channels != 0 && k >= channels;
    const Nanos begin = queues ? std::max(ios[k]->issue, completions[k - channels]) : ios[k]->issue;
    out[input.groups.group_of[ios[k]->thread]] +=
        static_cast<double>(clipped(begin, ios[k]->complete, input.trace.window)) /
        static_cast<double>(input.trace.window.length());
  }
  return out;
}

Nanos at_disks_of(const GroupUse& use) { return use.work_ns() - use.running_ns; }

/// By GroupId: whether threads wait for less than half of its requests' time, as where it has several under
/// way.
std::vector<bool> unawaited(const ReplayInput& input) {
  std::vector<Nanos> under_way(input.groups.groups.size());
  for (const DiskIo& io : input.trace.disk_ios) {
    if (io.complete == kNever || io.thread == kNoActor) continue;
    under_way[input.groups.group_of[io.thread]] += clipped(io.issue, io.complete, input.trace.window);
  }
  std::vector<bool> out;
  for (GroupId id = 0; id < under_way.size(); ++id) {
    // What kernel threads write, others gave them, and wait for it.
    out.push_back(!input.groups.groups[id].kernel && under_way[id] > 0 &&
                  2 * at_disks_of(input.uses.groups[id]) < under_way[id]);
  }
  return out;
}

/// How long the requests of each group took, and for how long of that they queued while the disk worked on
/// requests of the other groups in `others`.
std::map<GroupId, Room::Queued> queued_behind(const ReplayInput& input, const std::vector<bool>& others,
                                              const DiskRequests& ios, const std::vector<Nanos>& completions,
                                              std::size_t channels) {
  /// No more requests than these are looked at for each request behind them.
  constexpr std::size_t kMostAhead = 256;
  const auto group_of = [&](std::size_t k) { return input.groups.group_of[ios[k]->thread]; };
  std::map<GroupId, Room::Queued> out;
  for (std::size_t k = 0; k < ios.size(); ++k) {
    const DiskIo& io = *ios[k];
    Room::Queued& queued = out[group_of(k)];
    queued.all_ns += static_cast<double>(io.complete - io.issue);
    if (channels == 0 || k < channels || completions[k - channels] <= io.issue) continue;
    std::size_t ahead = 0;
    std::size_t of_others = 0;
    for (std::size_t before = k - std::min(k, kMostAhead); before < k; ++before) {
      if (ios[before]->complete <= io.issue || ios[before]->complete > io.complete) continue;
      ++ahead;
      if (group_of(before) != group_of(k) && others[group_of(before)]) ++of_others;
    }
    if (ahead == 0) continue;
    const auto waited = static_cast<double>(std::min(completions[k - channels], io.complete) - io.issue);
    queued.behind_ns += waited * static_cast<double>(of_others) / static_cast<double>(ahead);
  }
  return out;
}

/// The part of `all_ns` that the change leaves, 0 to 1. The lock is held for `held_ns` of that time.
double left_of(const Change& change, Nanos held_ns, Nanos all_ns) {
  if (all_ns <= 0) return 1;
  const double held = std::min(1.0, static_cast<double>(held_ns) / static_cast<double>(all_ns));
  return 1 - held * (1 - change.factor);
}

/// By GroupId: the CPUs on which its threads may run.
CpuSets sets_of_groups(const ReplayInput& input) {
  std::vector<CpuList> allowed(input.groups.groups.size());
  if (input.cpus.shared > 0) {
    for (GroupId id = 0; id < allowed.size(); ++id) {
      const std::vector<ActorId>& members = input.groups.groups[id].members;
      const CpuList& of_first = input.trace.actors[members.front()].allowed_cpus;
      const bool alike = std::all_of(members.begin(), members.end(), [&](ActorId thread) {
        return input.trace.actors[thread].allowed_cpus == of_first;
      });
      if (alike) allowed[id] = of_first;
    }
  }
  return cpu_sets(allowed, input.trace.cpu_times, input.cpus.at_most());
}

/// The part p of all gains with which `before` + p (`after` - `before`) is at most `most`.
double part_within(double most, double before, double after) {
  if (after <= std::max(most, before)) return 1;
  return std::clamp((most - before) / (after - before), 0.0, 1.0);
}

}  // namespace

std::string_view to_string(Full full) {
  switch (full) {
    case Full::nothing:
      return "nothing";
    case Full::cpus:
      return "cpus";
    case Full::disk:
      return "disk";
    case Full::lock:
      return "lock";
  }
  return "nothing";
}

Room::Room(const ReplayInput& input)
    : input_(input), cpus_(sets_of_groups(input)), knows_cpus_(input.cpus.cpus > 0) {
  const std::vector<bool> others = unawaited(input);
  for (const auto& [disk, ios] : requests_of(input.trace)) {
    const std::vector<Nanos> completions = completions_of(ios);
    const std::uint32_t channels = input.channels[disk].known;
    served_.emplace(disk, served(input, ios, completions, channels, true));
    for_one_.emplace(disk, served(input, ios, completions, channels, false));
    queued_.emplace(disk, queued_behind(input, others, ios, completions, channels));
  }
}

double Room::part_that_fits(const Scenario& scenario, const std::vector<double>& speeds,
                            bool with_cpus) const {
  double out = with_cpus ? part_of_cpus(scenario, speeds) : 1;
  for (const auto& [disk, of_disk] : served_) {
    const std::uint32_t channels = input_.channels[disk].known;
    if (channels == 0) continue;
    const Use use = use_of_disk(disk, of_disk, scenario, speeds);
    out = std::min(out, part_within(channels, use.before, use.after));
  }
  return out;
}

Fit Room::most_that_fits(const Scenario& scenario, const std::vector<double>& speeds) const {
  Fit out;
  const auto no_more_than = [&out](const Fit& fit) {
    if (fit.part < out.part) out = fit;
  };
  no_more_than({part_of_cpus(scenario, speeds), Full::cpus});
  for (const auto& [disk, of_disk] : for_one_) {
    const std::uint32_t channels = input_.channels[disk].known;
    if (channels == 0) continue;
    const Use use = use_of_disk(disk, of_disk, scenario, speeds);
    no_more_than({part_within(channels, use.before, use.after), Full::disk, disk});
  }
  return out;
}

double Room::part_that_showed(const Scenario& scenario, const std::vector<double>& speeds) const {
  return part_that_showed(scenario, speeds, served_);
}

double Room::part_that_showed_for_one(const Scenario& scenario, const std::vector<double>& speeds) const {
  return part_that_showed(scenario, speeds, for_one_);
}

double Room::part_that_showed(const Scenario& scenario, const std::vector<double>& speeds,
                              const std::map<ActorId, std::vector<double>>& served) const {
  double out = 1;
  for (const auto& [disk, of_disk] : served) {
    const DiskChannels& channels = input_.channels[disk];
    if (channels.known != 0) continue;
    const Use use = use_of_disk(disk, of_disk, scenario, speeds);
    out = std::min(out, part_within(channels.shown, use.before, use.after));
  }
  return out;
}

double Room::part_of_cpus(const Scenario& scenario, const std::vector<double>& speeds) const {
  double out = 1;
  if (!knows_cpus_) return out;
  const std::vector<double> cpus = cpus_of_sets(cpus_, input_.cpus, factor_of_cpus(scenario));
  const std::vector<Use> uses = uses_of_cpus(scenario, speeds);
  for (CpuSetId set = 0; set < uses.size(); ++set) {
    out = std::min(out, part_within(cpus[set], uses[set].before, uses[set].after));
  }
  return out;
}

bool Room::fills_cpus(const Scenario& scenario, const std::vector<double>& speeds) const {
  if (!knows_cpus_) return false;
  const std::vector<double> cpus = cpus_of_sets(cpus_, input_.cpus, factor_of_cpus(scenario));
  const std::vector<Use> uses = uses_of_cpus(scenario, speeds);
  for (CpuSetId set = 0; set < uses.size(); ++set) {
    const double all = uses[set].after + (set == kAllCpus ? input_.cpus.others : 0);
    if (all >= UsableCpus::kShort * cpus[set]) return true;
  }
  return false;
}

bool Room::alters_a_shared_disk(const Scenario& scenario) const {
  return std::any_of(scenario.begin(), scenario.end(), [this](const Change& change) {
    const auto found = served_.find(change.device);
    if (change.shared || found == served_.end() || input_.channels[change.device].known == 0) return false;
    const std::vector<double>& by_group = found->second;
    const auto window = static_cast<double>(input_.trace.window.length());
    const double all = std::accumulate(by_group.begin(), by_group.end(), 0.0) * window;
    const double most = *std::max_element(by_group.begin(), by_group.end()) * window;
    return is_much(static_cast<Nanos>(all - most), static_cast<Nanos>(all));
  });
}

double Room::part_behind_unawaited(ActorId disk, const std::vector<GroupId>& groups) const {
  const auto found = queued_.find(disk);
  if (found == queued_.end()) return 0;
  Queued sum;
  for (const GroupId group : groups) {
    const auto queued = found->second.find(group);
    if (queued == found->second.end()) continue;
    sum.all_ns += queued->second.all_ns;
    sum.behind_ns += queued->second.behind_ns;
  }
  return sum.all_ns > 0 ? sum.behind_ns / sum.all_ns : 0;
}

double Room::most_gain_of(const std::vector<GroupId>& groups, const Scenario& scenario) const {
  const double most = most_gain(scenario);
  if (scenario.size() != 1 || scenario.front().resource != Resource::disk) return most;
  const auto found = served_.find(scenario.front().device);
  if (found == served_.end() || input_.channels[found->first].known == 0) return most;
  double own = 0;
  double others = 0;
  for (GroupId id = 0; id < found->second.size(); ++id) {
    const bool counts = std::find(groups.begin(), groups.end(), id) != groups.end();
    // What kernel threads write, others gave them.
    if (counts || !input_.groups.groups[id].kernel) (counts ? own : others) += found->second[id];
  }
  return own > 0 ? most * (1 + others / own) : most;
}

double Room::work_of_held(const Change& change, GroupId group) const {
  if (change.resource != Resource::held) return 1;
  const Lock& lock = input_.holds.locks()[change.lock];
  return lock.holders == group ? left_of(change, lock.ran_ns, input_.uses.groups[group].running_ns) : 1;
}

double Room::requests_of_held(const Change& change, GroupId group) const {
  if (change.resource != Resource::held) return 1;
  const Lock& lock = input_.holds.locks()[change.lock];
  if (lock.holders == kNoGroup || (lock.holders != group && !input_.kinds.below_devices[group])) return 1;
  return left_of(change, lock.disk_ns, at_disks_of(input_.uses.groups[lock.holders]));
}

std::vector<Room::Use> Room::uses_of_cpus(const Scenario& scenario, const std::vector<double>& speeds) const {
  std::vector<Use> out(cpus_.cpus.size());
  for (GroupId id = 0; id < speeds.size(); ++id) {
    double use = static_cast<double>(input_.uses.groups[id].running_ns) /
                 static_cast<double>(input_.trace.window.length());
    for (const Change& change : scenario) {
      const bool is_meant = change.resource == Resource::cpu && change.group == id && !change.shared;
      use *= is_meant ? change.factor : 1;
      use *= work_of_held(change, id);
    }
    if (input_.code != nullptr) use *= factor_of_work(scenario, *input_.code, id);
    for (const CpuSetId set : cpus_.within[cpus_.of[id]]) {
      out[set].before += use;
      out[set].after += use * speeds[id];
    }
  }
  return out;
}

Room::Use Room::use_of_disk(ActorId disk, const std::vector<double>& by_group, const Scenario& scenario,
                            const std::vector<double>& speeds) const {
  Use out;
  for (GroupId id = 0; id < speeds.size(); ++id) {
    double use = by_group[id];
    for (const Change& change : scenario) {
      // Without pauses above it, how fast the disk is when it has more to do did not show.
      const bool is_meant = change.device == disk && !change.shared &&
                            (change.resource == Resource::disk || change.resource == Resource::pause ||
                             (change.resource == Resource::io && change.group == id));
      use *= is_meant ? change.factor : 1;
      use *= requests_of_held(change, id);
    }
    if (input_.code != nullptr) use *= factor_of_requests(scenario, *input_.code, id);
    out.before += use;
    out.after += use * speeds[id];
  }
  return out;
}

}  // namespace offwait
