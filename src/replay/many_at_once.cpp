// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/many_at_once.h"

#include <algorithm>
#include <optional>

namespace offwait {

namespace {

/// A thread has several requests to a service under way if it has this many on average.
constexpr double kSeveralEach = 1.2;
/// Threads that poll for this part of their lives until something else than a service is ready do not go at
/// the service's pace.
constexpr double kOftenOthers = 0.1;

}  // namespace

void allow_for_many_at_once(const Trace& trace, const Progress& progress, const PartUse& use, bool is_here,
                            double factor, Gain& gain) {
  if (gain.certainty == Certainty::rough) return;
  const double under_way =
      static_cast<double>(use.service.busy_ns) / static_cast<double>(trace.window.length());
  if (is_here && under_way < kSeveralEach * static_cast<double>(use.waiters)) {
    return;
  }
  if (is_here && progress.connections > 0) {
    const double at_service = std::min(1.0, under_way / static_cast<double>(progress.connections));
    const double most = 1 / std::max(1 - (1 - factor) * at_service, use.busy) - 1;
    if (most > gain.gain) {
      gain = {most, gain.gain, most, Certainty::up_to};
    }
  } else if (use.other_polls >= kOftenOthers) {
    gain = {gain.gain, std::nullopt, std::nullopt, Certainty::rough, Doubt::many_at_once};
  }
}

}  // namespace offwait
