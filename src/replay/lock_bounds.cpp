// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/lock_bounds.h"

#include <algorithm>

#include "replay/behind_locks.h"
#include "replay/gains.h"
#include "replay/sample_doubt.h"

namespace offwait {

namespace {

/// A thread that does hardly anything but wait for the lock is taken to be this many times as fast without
/// it, at most.
constexpr double kMostSpeed = 1000;

/// The part of the window for which threads had the lock and did something themselves.
double own_part(const Lock& lock, const Window& window) {
  return static_cast<double>(lock.held_ns - lock.others_ns - lock.client_ns) /
         static_cast<double>(window.length());
}

/// Functions with a larger part of the CPU work do much besides taking the lock.
constexpr double kMostSection = 0.9;

/// The part of the group's life that this part of its CPU work takes, if it has the lock.
double of_life(const ReplayInput& input, LockId id, GroupId group, double part) {
  const GroupUse& use = input.uses.groups[group];
  if (group != input.holds.locks()[id].holders || use.lifetime_ns <= 0) return 0;
  return part * static_cast<double>(use.running_ns) / static_cast<double>(use.lifetime_ns);
}

}  // namespace

LockBounds::LockBounds(const ReplayInput& input, const Room& room, const std::vector<double>& weights)
    : input_(input),
      room_(room),
      weights_(weights),
      behind_(behind_locks(input.trace, input.groups, input.kinds, input.uses, input.holds)) {}

double LockBounds::gain(const Progress& progress, const std::vector<double>& speeds) const {
  if (progress.how == Progress::How::end) return speeds[input_.groups.group_of[progress.ends]] - 1;
  return gain_of_speeds(progress, speeds, weights_).least;
}

LockBound LockBounds::of(const Progress& progress, const Scenario& scenario, LockId lock,
                         const std::vector<double>& speeds) const {
  const Lock& known = input_.holds.locks()[lock];
  LockBound out = bound(progress, scenario, lock, speeds, known.calls);
  const bool tells =
      known.section > known.calls && known.section <= kMostSection && !are_too_few(known.section_samples);
  if (out.full != Full::cpus || !tells) return out;
  const double most = bound(progress, scenario, lock, speeds, known.section).gain;
  if (most > out.gain) out.without_section = most;
  return out;
}

LockBound LockBounds::bound(const Progress& progress, Scenario scenario, LockId lock,
                            const std::vector<double>& speeds, double saved) const {
  const GroupId holders = input_.holds.locks()[lock].holders;
  for (Change& change : scenario) {
    if (change.resource == Resource::cpu && change.group == holders) change.factor = 1 - saved;
  }
  std::vector<double> without;
  for (GroupId id = 0; id < speeds.size(); ++id) {
    const double left = 1 - behind_[lock][id] - of_life(input_, lock, id, saved);
    without.push_back(std::max(speeds[id], 1 / std::max(left, 1 / kMostSpeed)));
  }
  LockBound out;
  double unlimited = gain(progress, without);
  for (LockId id = 0; id < input_.holds.locks().size(); ++id) {
    const Lock& other = input_.holds.locks()[id];
    const double own = own_part(other, input_.trace.window);
    if (id == lock || own <= 0) continue;
    for (const GroupId group : other.holding) {
      without[group] = std::min(without[group], std::max(speeds[group], 1 / own));
    }
    const double limited = gain(progress, without);
    if (limited < unlimited) {
      out.full = Full::lock;
      out.lock = id;
    }
    unlimited = limited;
  }
  const Fit fit = room_.most_that_fits(scenario, without);
  out.gain = unlimited * fit.part;
  if (fit.part < 1) {
    out = {out.gain, {}, fit.full, fit.disk, kNoLock};
  }
  return out;
}

}  // namespace offwait
