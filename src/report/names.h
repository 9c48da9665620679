// SPDX-License-Identifier: GPL-2.0-or-later
// What sentences call actors and threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/drawn_graph.h"
#include "analysis/findings.h"

namespace offwait {

/// What a renderer writes for a name that came from the target: escaped, and cut where it has no room.
using WrittenName = std::function<std::string(std::string_view raw)>;

/// What actors and threads are called in one rendering. The renderer says how it writes names; what this
/// class adds (kinds, numbers, what tells equal names apart) stands around a written name and is never cut.
class ActorNames {
 public:
  ActorNames(const Findings& findings, WrittenName written);

  /// Unique in the rendering: `B`, `worker×32`, `mariadbd/1234` (tid) where the name alone is not, `tid 12`
  /// without a name, `disk vda`, `nic eth0`, `timer`, `irq 24 nvme0q1`, `softirq NET_RX`.
  const std::string& brief(FoundActorId actor) const { return brief_[actor]; }
  /// With what identifies it outside of the report: `B (tid 12)`, `B (tid 12, 7 in its namespace)`,
  /// `jbd2/vda1-8 (tid 88, outside)`, `worker×32 (in tgid 10)`, `nginx: worker×2 (in 2 processes)`, `sh×6
  /// (short-lived processes)`, `disk loop0 (on vda)`.
  std::string full(const Findings& findings, FoundActorId actor) const;
  /// brief() of a box with one actor; `sysbench×32`, `kworker/*×3` of one with several.
  std::string box(const Findings& findings, const DrawnBox& box) const;
  /// How many threads it has; none if it is a device.
  std::size_t members(FoundActorId actor) const { return members_[actor]; }
  /// `B (tid 12)`, of one thread also where it is part of a group; `tid 12` without a name; `B (tid 12, 7 in
  /// its namespace)` with an ns_tid.
  std::string thread(const FoundThread& thread) const;
  /// `worker×32`: a number of threads of this name.
  std::string threads(std::string_view name, std::size_t count) const;
  /// A name that came from the target, as it is written here.
  std::string text(std::string_view raw) const { return written_(raw); }
  /// `vda`: a device by its name alone, where its kind is said otherwise.
  std::string device(const FoundActor& device) const { return written_(device.name); }
  /// `rustc (pid 71)`
  std::string process(const FoundProcess& process) const;
  /// `/system.slice/x.service`
  std::string cgroup(const FoundQuota& quota) const { return written_(quota.cgroup); }
  /// ` (on vda)`: what a disk is made of, the first three; empty if nothing is known.
  std::string disks_below(const FoundActor& disk) const;

 private:
  std::string base_name(const FoundActor& actor) const;

  WrittenName written_;
  std::vector<std::string> brief_;
  std::vector<std::size_t> members_;
};

}  // namespace offwait
