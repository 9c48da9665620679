// SPDX-License-Identifier: GPL-2.0-or-later
// Network interfaces: how much of what they can carry was used, in each direction (doc/design.md "Devices").
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

/// One direction in the window. busy_ns + idle_ns == the window if there is a capacity, else both are 0.
struct NicDirection {
  std::uint64_t bytes = 0;
  double capacity_per_s = 0;  ///< bytes, raised to the highest rate seen in a sampling interval
  Nanos busy_ns = 0;          ///< window × mean of rate ÷ capacity over the sampling intervals
  Nanos idle_ns = 0;
};

struct NicUse {
  ActorId nic = kNoActor;
  std::optional<CapacitySource> source;  ///< none: it has no capacity
  bool capacity_raised = false;
  NicDirection received;
  NicDirection sent;
};

/// One entry per interface with two samples or more, in order of id. Sampling intervals are as for disks
/// (disk.h): those whose counters went backwards say nothing, capacities are raised by whole intervals of 100
/// ms or more.
std::vector<NicUse> nic_use(const Trace& trace);

}  // namespace offwait
