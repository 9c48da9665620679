// SPDX-License-Identifier: GPL-2.0-or-later
// Network interfaces: how much of their capacity was used in each direction. Interfaces have no idle edges,
// because the recording does not say which thread's bytes they carry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// The use of one direction in the window. busy_ns + idle_ns == the window if there is a capacity; without
/// one both are 0.
struct NicDirection {
  std::uint64_t bytes = 0;
  double capacity_per_s = 0;  ///< bytes, raised to the highest rate of an interval
  Nanos busy_ns = 0;          ///< window × mean of rate ÷ capacity over the intervals
  Nanos idle_ns = 0;
};

struct NicUse {
  ActorId nic = kNoActor;
  std::optional<CapacitySource> source;  ///< absent if the interface has no capacity
  bool capacity_raised = false;
  NicDirection received;
  NicDirection sent;
};

/// One entry for each interface whose counters were read twice or more, in order of id. Intervals are as for
/// disks (disk.h), but those in which the counters went backwards are left out. Whole intervals of 100 ms or
/// more raise the capacity.
std::vector<NicUse> nic_use(const Trace& trace);

}  // namespace offwait
