// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/pause_bounds.h"

#include <algorithm>
#include <set>

#include "replay/gains.h"

namespace offwait {
namespace {

constexpr double kMostTimes = 1e6;

/// The waits in which the kernel holds threads back.
struct Pauses {
  double part = 0;              ///< of the window, in which one thread or more is in such a wait, 0 to 1
  std::set<ActorId> threads{};  ///< that are, at some time
};

Pauses pauses_of(const Change& pause, const ReplayInput& input) {
  const Trace& trace = input.trace;
  Pauses out;
  std::vector<Window> waits;
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (input.kinds.of_site[wait.site] != WaitKind::paused || paused_above(trace, site) != pause.device ||
        input.kinds.below_devices[input.groups.group_of[site.thread]])
      continue;
    out.threads.insert(site.thread);
    waits.push_back({std::max(wait.block, trace.window.begin), std::min(wait.wake, trace.window.end)});
  }
  std::sort(waits.begin(), waits.end(), [](const Window& a, const Window& b) { return a.begin < b.begin; });
  Nanos sum = 0;
  Nanos until = trace.window.begin;
  for (const Window& one : waits) {
    sum += std::max<Nanos>(0, one.end - std::max(one.begin, until));
    until = std::max(until, one.end);
  }
  out.part = static_cast<double>(sum) / static_cast<double>(trace.window.length());
  return out;
}

}  // namespace

double most_without(const Change& pause, const ReplayInput& input, const Room& room, const Progress& progress,
                    const std::vector<double>& weights) {
  const Pauses pauses = pauses_of(pause, input);
  // Between pauses that take nearly all of the time, threads come in bursts, and then side by side.
  const double at_once =
      std::max(1.0, std::min(input.cpus.at_most(), static_cast<double>(pauses.threads.size())));
  const double rest = std::max(1 - pauses.part, 1 / kMostTimes);
  const double fastest = std::min(kMostTimes, (1 + (at_once - 1) * pauses.part) / rest);
  std::vector<double> speeds;
  for (const GroupUse& use : input.uses.groups) {
    const auto work = static_cast<double>(std::max<Nanos>(use.running_ns, 1));
    speeds.push_back(std::clamp(static_cast<double>(use.lifetime_ns) / work, 1.0, fastest));
  }
  return gain_of_speeds(progress, speeds, weights).most * room.most_that_fits({pause}, speeds).part;
}

}  // namespace offwait
