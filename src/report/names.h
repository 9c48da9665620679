// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// ` (on vda)`: what a disk is made of, as far as it fits; empty if nothing is known.
std::string disks_below(const FoundActor& disk);

/// `B (tid 12)`, of one thread also where it is part of a group; `tid 12` without a name; `B (tid 12, 7 in
/// its namespace)` with an ns_tid.
std::string thread_name(const std::string& name, std::int32_t tid, std::int32_t ns_tid);

/// What actors are called in the text report and in sentences. A name that came from the target is escaped,
/// as UTF-8, and cut to kNameColumns; what is added to tell actors apart follows the cut.
class ActorNames {
 public:
  static constexpr int kNameColumns = 28;
  explicit ActorNames(const Findings& findings);

  /// Unique in the report: `B`, `worker×32`, `mariadbd/1234` (tid) where the name alone is not, `tid 12`
  /// without a name, `disk vda`, `nic eth0`, `timer`, `irq 24 nvme0q1`, `softirq NET_RX`.
  const std::string& brief(FoundActorId actor) const { return brief_[actor]; }
  /// With what identifies it outside of the report: `B (tid 12)`, `B (tid 12, 7 in its namespace)`,
  /// `jbd2/vda1-8 (tid 88, outside)`, `worker×32 (in tgid 10)`, `sh×6 (short-lived processes)`, `disk loop0
  /// (on vda)`.
  std::string full(const Findings& findings, FoundActorId actor) const;

 private:
  std::vector<std::string> brief_;
};

}  // namespace offwait
