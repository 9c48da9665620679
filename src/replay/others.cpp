// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/others.h"

#include <cmath>
#include <cstddef>

namespace offwait {

namespace {

constexpr double kTurn = 1e6;
/// A remainder of less than this part of a CPU is dropped.
constexpr double kLeastPart = 0.01;

Step step(Step::What what, double length_ns, double recorded_ns) {
  return {what, kNoLock, 0, length_ns, recorded_ns};
}

}  // namespace

std::vector<Script> scripts_of_others(double demand) {
  const Step work = step(Step::What::work, kTurn, kTurn);
  const double whole = std::floor(demand);
  std::vector<Script> out(static_cast<std::size_t>(whole), Script{{work}, true});
  if (const double part = demand - whole; part >= kLeastPart) {
    out.push_back({{work, step(Step::What::sleep, kTurn * (1 - part) / part, 0)}, true});
  }
  return out;
}

}  // namespace offwait
