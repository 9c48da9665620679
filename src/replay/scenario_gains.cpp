// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/scenario_gains.h"

#include <algorithm>
#include <limits>

#include "progress/group_use.h"
#include "replay/on_one_path.h"

namespace offwait {

namespace {

/// A gain from a simulation that reproduces the recording this well is as good as one from lanes. The ranges
/// allow for the rest.
constexpr double kReproduces = 0.1;

std::vector<GroupId> groups_of(const Progress& progress) {
  std::vector<GroupId> out;
  for (const ProgressPart& part : progress.parts) {
    out.insert(out.end(), part.groups.begin(), part.groups.end());
  }
  return out;
}

/// Whether functions take less than half of their time, as where their calls are not made.
bool leaves_calls_out(const Scenario& scenario) {
  constexpr double kHalf = 0.5;
  return std::any_of(scenario.begin(), scenario.end(),
                     [](const Change& change) { return change.code != kNoCode && change.factor < kHalf; });
}

}  // namespace

double others_part(const ReplayInput& input) {
  const double running =
      static_cast<double>(running_of_all(input.uses)) / static_cast<double>(input.trace.window.length());
  return input.cpus.others > 0 ? input.cpus.others / (input.cpus.others + running) : 0;
}

ScenarioGains::ScenarioGains(const ReplayInput& input, const Replays& replays, const Room& room,
                             const std::vector<double>& weights, const std::optional<PathToExit>& path,
                             bool cpus_short)
    : input_(input),
      replays_(replays),
      room_(room),
      weights_(weights),
      path_(path),
      cpus_short_(cpus_short),
      doubts_(input.trace, input.groups, input.kinds, input.uses),
      order_(input.trace, input.groups, input.kinds, input.uses, input.sleepers) {}

ScenarioGains::Spread ScenarioGains::spread(const Progress& progress, std::size_t scenario,
                                            const Replayed& replayed, double gain) const {
  std::vector<double> pieces;
  for (std::size_t piece = 0; piece < replayed.pieces.size(); ++piece) {
    if (goes_on(progress, replayed, scenario, piece, piece + 1)) {
      pieces.push_back(gain_of(progress, replayed, weights_, scenario, piece, piece + 1).least);
    }
  }
  const bool has_range = pieces.size() >= 2;
  Spread out{{gain, gain}, has_range ? Doubt::none : Doubt::pieces_differ, has_range};
  const double most = most_of(progress, scenario);
  const auto widen = [&](const GainRange& to, Doubt why) {
    out.range = {std::min(out.range.low, to.low), std::max(out.range.high, to.high)};
    const double error = std::max(out.range.high - gain, gain - out.range.low);
    const bool is_wide = gain >= kWorthAnAnswer && error > kWidestRange * gain;
    if (out.wide == Doubt::none && is_wide) out.wide = why;
  };
  if (has_range) {
    widen(range_of(gain, pieces, most), Doubt::pieces_differ);
    widen(range_of(gain, pieces, most, replayed.off), Doubt::simulated_roughly);
  }
  if (const Replayed* const kept = replays_.with_queues_kept(scenario)) {
    const double between = beside_others(progress, scenario, *kept, gain);
    widen({between, between}, Doubt::others_have_cpus);
  }
  const Replayed* const altered = replays_.with_queues_altered(scenario);
  if (altered != nullptr && altered->off <= kReproduces) {
    const double simulated = gain_in(progress, scenario, *altered).least;
    widen({simulated, simulated}, Doubt::queues_change);
    if (gain < kWorthAnAnswer && simulated >= kWorthAnAnswer) out.wide = Doubt::queues_change;
  }
  const GainRange queued = beside_unawaited(progress, scenario, gain);
  widen({queued.low, std::min(queued.high, most)}, Doubt::queues_change);
  if (const std::optional<GainRange> parts = gains_of_parts(progress, replayed, weights_, scenario)) {
    widen({parts->low, std::min(parts->high, most)}, Doubt::parts_differ);
  }
  return out;
}

Gain ScenarioGains::of(const Progress& progress, std::size_t scenario, const Replayed& replayed) const {
  Gain out;
  const GainBounds whole = gain_in(progress, scenario, replayed);
  out.gain = whole.least;
  const auto [range, wide, has_range] = spread(progress, scenario, replayed, whole.least);
  const std::vector<double> speeds = speeds_of(progress, replayed, input_.groups, scenario);
  const double fits = whole.least > 0 ? part_that_fits(speeds, scenario) : 1;
  out.gain *= fits;
  out.doubt = doubt(progress);
  if (out.doubt == Doubt::none && !has_range) out.doubt = wide;
  if (out.doubt != Doubt::none) {
    out.certainty = Certainty::rough;
    return out;
  }
  if (whole.least > kAlike && range.low < kWorthAnAnswer) {
    // It may be nothing; it is known how much it is at most.
    const double high = std::min(range.high, most_of(progress, scenario));
    const std::vector<double> highest(speeds.size(), 1 + high);
    out.gain = high * room_.most_that_fits(replays_.scenarios[scenario], highest).part;
    out.certainty = Certainty::up_to;
    out.doubt = wide;
    return out;
  }
  out.low = range.low;
  out.high = std::max(range.high, whole.most);
  if (may_be_less(progress, scenario, whole, speeds, fits, out)) {
    cap_bound(out, most_of(progress, scenario));
    return out;
  }
  if (doubts_.runs_tasks(progress)) {
    allow_for_one_path(input_, replays_.scenarios[scenario], room_, out);
  } else if ((wide != Doubt::none && whole.least <= kAlike) || whole.most - whole.least > kAlike ||
             replays_.may_queue(scenario)) {
    out.certainty = Certainty::up_to;
    if (wide == Doubt::queues_change) out.gain = *out.high;
  } else if (wide != Doubt::none) {
    out.certainty = Certainty::approximate;
    out.doubt = wide;
  } else if (doubts_.looked(progress)) {
    allow_for_one_path(input_, replays_.scenarios[scenario], room_, out);
    out.doubt = Doubt::looked;
  } else if (const Doubt why = why_approximate(progress, scenario, replayed); why != Doubt::none) {
    out.certainty = Certainty::approximate;
    out.doubt = why;
  }
  cap_bound(out, most_of(progress, scenario));
  return out;
}

/// Why a gain that is known well otherwise is approximate; Doubt::none if it is not.
Doubt ScenarioGains::why_approximate(const Progress& progress, std::size_t scenario,
                                     const Replayed& replayed) const {
  if (leaves_calls_out(replays_.scenarios[scenario])) return Doubt::left_out;
  if (doubts_.sleeps(progress, SleepPace::thread)) return Doubt::throttled;
  if (order_.serves_in_batches(progress)) return Doubt::batches;
  if (doubts_.gave_up(progress)) return Doubt::gave_up;
  return replayed.off > kReproduces ? Doubt::simulated_roughly : Doubt::none;
}

/// Whether something that the replay does not show may take a part of the gain: then it is a bound.
bool ScenarioGains::may_be_less(const Progress& progress, std::size_t scenario, const GainBounds& whole,
                                const std::vector<double>& speeds, double fits, Gain& out) const {
  const Scenario& changes = replays_.scenarios[scenario];
  const std::optional<double> least = order_.least_gain(progress, changes);
  const std::optional<double> waited = order_.most_gain(progress, changes);
  const double showed = room_.part_that_showed(changes, speeds);
  double low = *out.low;
  if (doubts_.unanswered(changes)) {
    out.doubt = Doubt::unanswered;
    low = std::min(low, 0.0);
    if (fits < 1) out.high = out.gain;
  } else if (fits < 1) {
    out.high = out.gain;
    low = std::min(low, out.gain);
  } else if (waited && whole.least >= range_end(*waited)) {
    low = std::min(low, 0.0);
  } else if (least && *least < low) {
    low = *least;
  } else if (showed < 1) {
    low = std::min(low, low * showed);
  } else if (doubts_.held_back(changes)) {
    out.doubt = Doubt::held_back;
    low = std::min(low, 0.0);
  } else if (doubts_.runs_tasks(progress)) {
    return false;
  } else if (doubts_.sleeps(progress, SleepPace::unknown)) {
    out.doubt = Doubt::sleeps_vary;
    low = std::min(low, 0.0);
    // Threads that are done sooner may sleep for as much longer, or never again.
    const double awake = 1 / (1 + *out.high) - doubts_.part_asleep(progress, SleepPace::unknown);
    if (whole.most > kAlike) out.high = 1 / std::max(awake, 0.01) - 1;
  } else if (doubts_.sleeps(progress, SleepPace::late)) {
    out.doubt = Doubt::fixed_rate;
    low = std::min(low, 0.0);
  } else {
    return false;
  }
  out.certainty = Certainty::up_to;
  out.low = low;
  return true;
}

/// In the whole window. A replay, which does not move all that would move, may show more than most_of().
GainBounds ScenarioGains::gain_in(const Progress& progress, std::size_t scenario,
                                  const Replayed& replayed) const {
  const GainBounds out = gain_of(progress, replayed, weights_, scenario, 0, replayed.pieces.size());
  const double most = most_of(progress, scenario);
  return {std::min(out.least, most), std::min(out.most, most)};
}

/// A replay does not move requests that no thread waits for. If threads queue behind such requests, faster
/// ones of their own save less than it shows; and a faster disk saves more of the queue, up to all of it, if
/// such requests come no sooner than before.
GainRange ScenarioGains::beside_unawaited(const Progress& progress, std::size_t scenario, double gain) const {
  const Scenario& changes = replays_.scenarios[scenario];
  const auto gain_of_saved = [](double part) {
    return part < 1 ? part / (1 - part) : std::numeric_limits<double>::infinity();
  };
  GainRange out{gain, gain};
  if (changes.size() != 1 || gain <= 0) return out;
  const Change& change = changes.front();
  const double saved = gain / (1 + gain);
  if (change.resource == Resource::io && change.group != kNoGroup) {
    out.low = gain_of_saved(saved * (1 - room_.part_behind_unawaited(change.device, {change.group})));
  } else if (change.resource == Resource::disk && change.factor < 1) {
    const double behind = room_.part_behind_unawaited(change.device, groups_of(progress));
    out.high = gain_of_saved(saved * (1 + behind * change.factor / (1 - change.factor)));
  }
  return out;
}

double ScenarioGains::most_of(const Progress& progress, std::size_t scenario) const {
  const double most = room_.most_gain_of(groups_of(progress), replays_.scenarios[scenario]);
  const std::optional<double> waited = order_.most_gain(progress, replays_.scenarios[scenario]);
  return waited ? std::min(most, range_end(*waited)) : most;
}

double ScenarioGains::expected(const Progress& progress, std::size_t scenario) const {
  return fitting(gain_in(progress, scenario, replays_.of(scenario)).least, progress, scenario);
}

double ScenarioGains::likely(const Progress& progress, std::size_t scenario, const Gain& told) const {
  const Replayed* const kept =
      told.certainty == Certainty::sure ? nullptr : replays_.with_queues_kept(scenario);
  const double gain = gain_in(progress, scenario, replays_.of(scenario)).least;
  return fitting(kept == nullptr ? gain : beside_others(progress, scenario, *kept, gain), progress, scenario);
}

/// The part of it for which there are CPUs and disks.
double ScenarioGains::fitting(double gain, const Progress& progress, std::size_t scenario) const {
  const std::vector<double> speeds = speeds_of(progress, replays_.of(scenario), input_.groups, scenario);
  return gain > 0 ? gain * part_that_fits(speeds, scenario) : gain;
}

/// How long threads queue behind other programs is those programs' doing, as far as they have the CPUs, and
/// how their scheduling answers to a change is not known: so far the gain is what the lanes say.
double ScenarioGains::beside_others(const Progress& progress, std::size_t scenario, const Replayed& kept,
                                    double gain) const {
  return gain + others_part(input_) * (gain_in(progress, scenario, kept).least - gain);
}

double ScenarioGains::part_that_fits(const std::vector<double>& speeds, std::size_t scenario) const {
  const Scenario& changes = replays_.scenarios[scenario];
  const bool knows_cpus = replays_.simulated || replays_.is_filled(scenario);
  const bool shared =
      std::any_of(changes.begin(), changes.end(), [](const Change& change) { return change.shared; });
  return room_.part_that_fits(changes, speeds, shared || !knows_cpus);
}

Doubt ScenarioGains::doubt(const Progress& progress) const {
  if (cpus_short_ && !replays_.simulated && uses_cpus()) {
    return Doubt::cpus_short;
  }
  return order_.compete(progress) ? Doubt::no_order : doubts_.rough(progress, path_);
}

/// Whether what the recorded threads do decides how long they queue for CPUs. Where they hardly run, other
/// programs do, and no change here alters that.
bool ScenarioGains::uses_cpus() const {
  const auto cpus = static_cast<Nanos>(input_.cpus.at_most());
  return input_.cpus.shared == 0 || is_much(running_of_all(input_.uses), cpus * input_.trace.window.length());
}

}  // namespace offwait
