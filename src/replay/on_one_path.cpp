// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/on_one_path.h"

#include <algorithm>
#include <vector>

namespace offwait {

namespace {

double at_disk(const GroupUse& use, ActorId disk) {
  const auto found = use.disk_ns.find(disk);
  return found == use.disk_ns.end() ? 0 : static_cast<double>(found->second);
}

/// How long the part took in the recording, added up over all threads; `unknown` if that is not known.
double time_of(const ReplayInput& input, const Change& change, double unknown) {
  if (change.code != kNoCode) {
    const CodePart& part = input.code->parts[change.code];
    return change.resource == Resource::cpu        ? part.cpu_ns
           : change.resource == Resource::runnable ? unknown
                                                   : static_cast<double>(part.wait_ns);
  }
  if (change.resource == Resource::disk) {
    double sum = 0;
    for (const GroupUse& use : input.uses.groups) sum += at_disk(use, change.device);
    return sum;
  }
  if (change.group == kNoGroup) return unknown;
  const GroupUse& use = input.uses.groups[change.group];
  switch (change.resource) {
    case Resource::cpu:
      return static_cast<double>(use.running_ns);
    case Resource::io:
      return at_disk(use, change.device);
    case Resource::sleep:
      return static_cast<double>(use.timer_ns);
    case Resource::remote:
      return static_cast<double>(use.remote_ns);
    default:
      return unknown;
  }
}

/// How much shorter a path through the window gets, at most; with `slower`, how much longer.
double altered_ns(const ReplayInput& input, const Scenario& scenario, bool slower) {
  const auto window = static_cast<double>(input.trace.window.length());
  const auto by = [slower](const Change& change) { return slower ? change.factor - 1 : 1 - change.factor; };
  std::vector<Change> changes = scenario;
  std::stable_sort(changes.begin(), changes.end(),
                   [by](const Change& a, const Change& b) { return by(a) > by(b); });
  double rest = window;
  double out = 0;
  for (const Change& change : changes) {
    const double on_path = std::min(rest, time_of(input, change, window));
    rest -= on_path;
    out += std::max(0.0, by(change)) * on_path;
  }
  return out;
}

}  // namespace

GainRange gains_on_one_path(const ReplayInput& input, const Scenario& scenario, const Room& room) {
  constexpr double kLeastLeft = 1e-3;  // nothing gets infinitely fast
  const auto window = static_cast<double>(input.trace.window.length());
  const double speed = 1 / std::max(1 - altered_ns(input, scenario, false) / window, kLeastLeft);
  const std::vector<double> speeds(input.groups.groups.size(), speed);
  return {1 / (1 + altered_ns(input, scenario, true) / window) - 1,
          (speed - 1) * room.part_that_fits(scenario, speeds, true)};
}

void allow_for_one_path(const ReplayInput& input, const Scenario& scenario, const Room& room, Gain& gain) {
  const GainRange path = gains_on_one_path(input, scenario, room);
  gain.certainty = Certainty::approximate;
  if (path.low < 0) gain.low = std::min(gain.low.value_or(gain.gain), path.low);
  if (path.high > 0) gain.high = std::max(gain.high.value_or(gain.gain), path.high);
}

}  // namespace offwait
