// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/options.h"

#include <algorithm>
#include <cmath>

namespace offwait {

Nanos part_of(double fraction, Nanos window) {
  const double ns = std::round(fraction * static_cast<double>(window));
  return ns >= static_cast<double>(kNever) ? kNever : static_cast<Nanos>(std::max(ns, 0.0));
}

Nanos min_weight_of(const AnalysisOptions& options, Nanos window) {
  return options.min_weight_ns.value_or(part_of(options.min_weight, window));
}

}  // namespace offwait
