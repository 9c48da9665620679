// SPDX-License-Identifier: GPL-2.0-or-later
// Requests to disks that serve several threads, as in a group commit: the sooner one is done, the fewer
// threads may have come for the next.
#pragma once

#include <optional>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

class SharedRequests {
 public:
  SharedRequests() = default;
  SharedRequests(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses);

  /// What requests to the disk that take `factor` of their time, less than 1, gain at least; nothing if they
  /// serve one thread each. That is the larger of two: each may serve a single thread; and a thread waits for
  /// no more of them than before, the one under way when it comes and the next one, however few it shares
  /// them with. Of several groups of threads the one that gains least counts.
  std::optional<double> least_gain(ActorId disk, double factor) const;

 private:
  /// The threads of one group that share requests, added up.
  struct Sharing {
    double request_ns = 0;  ///< one request, with those in other places that its thread waits for next
    double requests = 0;    ///< that these threads waited for, added up: two of each that came before its own
    double waited_ns = 0;   ///< for them; of a group that makes none itself, for those that served it
    double lives_ns = 0;
  };
  struct OfDisk {
    double threads_each = 1;  ///< that go on after each wait for the disk
    std::vector<Sharing> groups;
  };
  std::vector<OfDisk> of_disk_;  ///< by ActorId
};

}  // namespace offwait
