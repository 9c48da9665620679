// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/losses.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace offwait {

namespace {

/// Whether the counter is of something that belongs to a wait (its file, its peer) or is counted beside waits
/// (responses, calls), so that no time is lost.
bool is_of_figures(std::string_view counter) {
  constexpr std::array<std::string_view, 4> kCounters = {"file_table_full", "peer_table_full",
                                                         "response_table_full", "call_table_full"};
  return std::find(kCounters.begin(), kCounters.end(), counter) != kCounters.end();
}

}  // namespace

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
    if (is_of_figures(counter)) continue;
    if (counter != "switch_unseen" || impact.unknown_s <= 0) events += static_cast<double>(count);
  }
  const bool few = events <= 0 || events < kMinor * static_cast<double>(findings.totals.waits);
  impact.minor = all_threads && few && !findings.lost.matters();
  return impact;
}

}  // namespace offwait
