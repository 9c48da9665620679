// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/losses.h"

namespace offwait {

LossImpact loss_impact(const Findings& findings) {
  constexpr double kMinor = 0.01;
  LossImpact impact;
  for (const FoundActor& actor : findings.actors) {
    impact.unknown_s += actor.lost_s;
    impact.recorded_s += actor.time.lifetime_s;
  }
  double events = 0;
  bool all_threads = true;
  for (const auto& [counter, count] : findings.loss) {
    if (counter == "thread_table_full" && count > 0) all_threads = false;
    if (counter != "switch_unseen" || impact.unknown_s <= 0) events += static_cast<double>(count);
  }
  const bool few = events <= 0 || events < kMinor * static_cast<double>(findings.totals.waits);
  const bool brief = impact.unknown_s <= 0 || impact.unknown_s < kMinor * impact.recorded_s;
  impact.minor = all_threads && few && brief;
  return impact;
}

}  // namespace offwait
