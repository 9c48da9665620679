// SPDX-License-Identifier: GPL-2.0-or-later
// The answer in a sentence or two.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "analysis/findings.h"

namespace offwait {

/// From here on (machine_busy()) the lack of a CPU needs no other explanation than that all are taken.
inline constexpr double kMachineBusy = 0.8;

/// Of the target's waits for others than itself, what the report does not have in full.
struct OutsideWaits {
  /// Seconds by service, of those outside of the host whose answers a sink of limit "remote-service"
  /// delivers.
  std::map<std::string, double> services;
  /// The longest edge of waits for requests, if they are long enough to be the answer where there is no
  /// other.
  std::optional<ReportEdgeId> requests;
};

/// What becomes Report::verdict. Needs the report's totals, actors, edges, knots and sinks.
ReportVerdict verdict(const Report& report, const OutsideWaits& outside);

/// "; the machine's CPUs were 97% busy", empty if that is not known.
std::string machine_clause(const Report& report);

}  // namespace offwait
