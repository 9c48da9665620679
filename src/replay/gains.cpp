// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/gains.h"

#include <algorithm>
#include <utility>

namespace offwait {

namespace {

/// A group with less of its part's weight than this does not decide the part's speed.
constexpr double kCarriesWeight = 0.03;
/// Every group has at least this weight, so that a group without weight counts where it is alone.
constexpr double kLeastWeight = 1e-6;

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
  GainBounds sum;
  double weight = 0;
  for (const ProgressPart& part : progress.parts) {
    std::vector<Speed> speeds;
    for (const GroupId group : part.groups) {
      if (const double speed = speed_up(replayed, group, scenario, from, to); speed > 0) {
        speeds.push_back({speed, weights[group] + kLeastWeight});
      }
    }
    if (speeds.empty()) {
      continue;
    }
    std::sort(speeds.begin(), speeds.end(), [](const Speed& a, const Speed& b) { return a.speed < b.speed; });
    const double part_weight = part.weight + kLeastWeight;
    sum.least += part_weight * quantile(speeds, kCarriesWeight);
    sum.most += part_weight * quantile(speeds, 1 - kCarriesWeight);
    weight += part_weight;
  }
  return weight > 0 ? GainBounds{sum.least / weight - 1, sum.most / weight - 1} : GainBounds{};
}

}  // namespace offwait
