// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/gains.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace offwait {

namespace {

/// A group with less of its part's weight than this does not decide the part's speed.
constexpr double kCarriesWeight = 0.03;
/// Every group has at least this weight, so that a group without weight counts where it is alone.
constexpr double kLeastWeight = 1e-6;
/// The replay knows the time that a change saves to within this part, or Replayed::off if that is more.
constexpr double kModelError = 0.1;
/// And what the change leaves as it is, to within this part: queues, the order of things.
constexpr double kRestError = 0.02;
/// Quantiles at 95 % of Student's t distribution with 1, 2, ... degrees of freedom: nine in ten lie between
/// the quantile and its negative.
constexpr std::array<double, 8> kStudent = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860};

struct Speed {
  double speed = 1;
  double weight = 0;
};

/// 0 when the group did nothing.
double speed_up(const Replayed& replayed, GroupId group, std::size_t scenario, std::size_t from,
                std::size_t to) {
  double done = 0;
  double took = 0;
  for (std::size_t piece = from; piece < to; ++piece) {
    done += replayed.pieces[piece][group].done_ns[scenario];
    took += replayed.pieces[piece][group].took_ns[scenario];
  }
  return done > 0 && took > 0 ? done / took : 0;
}

/// The lowest speed such that slower groups and those of this speed have more than this part of the weight.
/// `speeds` in order.
double quantile(const std::vector<Speed>& speeds, double part) {
  double all = 0;
  for (const Speed& one : speeds) {
    all += one.weight;
  }
  double sum = 0;
  for (const Speed& one : speeds) {
    sum += one.weight;
    if (sum > part * all) {
      return one.speed;
    }
  }
  return 1;
}

}  // namespace

GainBounds gain_of(const Progress& progress, const Replayed& replayed, const std::vector<double>& weights,
                   std::size_t scenario, std::size_t from, std::size_t to) {
  if (progress.how == Progress::How::end) {
    const double sooner =
        replayed.thread.done_ns[scenario] / std::max(replayed.thread.took_ns[scenario], 1.0);
    return {sooner - 1, sooner - 1};
  }
  std::vector<double> speeds(weights.size());
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId id : part.groups) speeds[id] = speed_up(replayed, id, scenario, from, to);
  }
  return gain_of_speeds(progress, speeds, weights);
}

GainBounds gain_of_speeds(const Progress& progress, const std::vector<double>& speeds,
                          const std::vector<double>& weights) {
  GainBounds sum;
  double weight = 0;
  for (const ProgressPart& part : progress.parts) {
    std::vector<Speed> of_part;
    for (const GroupId group : part.groups) {
      if (speeds[group] > 0) of_part.push_back({speeds[group], weights[group] + kLeastWeight});
    }
    if (of_part.empty()) continue;
    std::sort(of_part.begin(), of_part.end(),
              [](const Speed& a, const Speed& b) { return a.speed < b.speed; });
    const double part_weight = part.weight + kLeastWeight;
    sum.least += part_weight * quantile(of_part, kCarriesWeight);
    sum.most += part_weight * quantile(of_part, 1 - kCarriesWeight);
    weight += part_weight;
  }
  return weight > 0 ? GainBounds{sum.least / weight - 1, sum.most / weight - 1} : GainBounds{};
}

std::optional<GainRange> gains_of_parts(const Progress& progress, const Replayed& replayed,
                                        const std::vector<double>& weights, std::size_t scenario) {
  if (progress.how != Progress::How::inferred) return std::nullopt;
  const double all = std::accumulate(progress.parts.begin(), progress.parts.end(), 0.0,
                                     [](double sum, const ProgressPart& part) { return sum + part.weight; });
  std::optional<GainRange> out;
  for (const ProgressPart& part : progress.parts) {
    if (part.weight < kCarriesWeight * all) continue;
    Progress alone{progress.how, {part}};
    const double gain = gain_of(alone, replayed, weights, scenario, 0, replayed.pieces.size()).least;
    out = out ? GainRange{std::min(out->low, gain), std::max(out->high, gain)} : GainRange{gain, gain};
  }
  return out;
}

bool goes_on(const Progress& progress, const Replayed& replayed, std::size_t scenario, std::size_t from,
             std::size_t to) {
  return progress.how == Progress::How::end ||
         std::any_of(progress.parts.begin(), progress.parts.end(), [&](const ProgressPart& part) {
           return std::any_of(part.groups.begin(), part.groups.end(), [&](GroupId group) {
             return speed_up(replayed, group, scenario, from, to) > 0;
           });
         });
}

std::vector<double> speeds_of(const Progress& progress, const Replayed& replayed, const ThreadGroups& groups,
                              std::size_t scenario) {
  std::vector<double> out;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    double speed = speed_up(replayed, id, scenario, 0, replayed.pieces.size());
    if (progress.how == Progress::How::end && !groups.groups[id].outside) {
      speed = replayed.thread.done_ns[scenario] / std::max(replayed.thread.took_ns[scenario], 1.0);
    }
    out.push_back(speed > 0 ? speed : 1);
  }
  return out;
}

std::vector<double> weights_of_speeds(const Trace& trace, const ThreadGroups& groups, const Uses& uses) {
  std::vector<double> out = weights_of(groups, uses);
  for (GroupId id = 0; id < out.size(); ++id) {
    const auto threads = static_cast<Nanos>(groups.groups[id].members.size());
    if (2 * uses.groups[id].lifetime_ns < threads * trace.window.length()) {
      out[id] = 0;
    }
  }
  return out;
}

GainRange range_of(double gain, const std::vector<double>& pieces, double most, double off) {
  const auto number = static_cast<double>(pieces.size());
  const double mean = std::accumulate(pieces.begin(), pieces.end(), 0.0) / number;
  const double squares = std::accumulate(pieces.begin(), pieces.end(), 0.0, [mean](double sum, double piece) {
    return sum + (piece - mean) * (piece - mean);
  });
  const double deviation = std::sqrt(squares / (number - 1));
  const double student = kStudent[std::min(pieces.size() - 2, kStudent.size() - 1)];
  const double by_chance = student * deviation * std::sqrt(2 / number);
  // A gain g saves T g / (1 + g) of the time T. An error e in what is saved changes the gain by e g (1 + g).
  const double by_model = std::max(kModelError, off) * std::abs(gain) * (1 + gain);
  const double error = std::hypot(by_chance, by_model, kRestError * (1 + gain));
  return {gain - error, std::min(gain + error, range_end(most))};
}

double range_end(double most) { return most + kRestError * (1 + most); }

}  // namespace offwait
