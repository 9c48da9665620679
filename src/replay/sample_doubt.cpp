// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/sample_doubt.h"

#include <cmath>
#include <optional>

namespace offwait {

namespace {

/// With more error than this, as a part of what a change saves, the samples are too few to state a range.
constexpr double kMostSampleError = 0.5;

}  // namespace

bool are_too_few(std::uint64_t samples) { return error_of_samples(samples) > kMostSampleError; }

void allow_for_samples(const CodePart& part, const Scenario& scenario, Gain& gain) {
  const bool alone = scenario.size() == 1;
  const double error = alone ? part.error_of_cpu() : part.error();
  if (alone ? are_too_few(part.samples) : error > kMostSampleError) {
    gain = {gain.gain, std::nullopt, std::nullopt, Certainty::rough, Doubt::few_samples};
  } else if (gain.low && gain.high) {
    const double by_samples = error * std::abs(gain.gain);
    gain.low = gain.gain - std::hypot(gain.gain - *gain.low, by_samples);
    gain.high = gain.gain + std::hypot(*gain.high - gain.gain, by_samples);
    cap_bound(gain, most_gain(scenario));
  }
}

}  // namespace offwait
