// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace offwait {

namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method (NIST Handbook of Mathematical
/// Functions, 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostSteps = 500;
  const auto kept_apart = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / kept_apart(1 - (a + b) * x / (a + 1));
  double out = d;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept_apart(1 + even * d);
    c = kept_apart(1 + even / c);
    out *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept_apart(1 + odd * d);
    c = kept_apart(1 + odd / c);
    out *= d * c;
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return out;
}

/// The regularized incomplete beta function.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double beyond(double t, double degrees) {
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double variance(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto number = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / number;
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / (number - 1);
}

double square(double value) { return value * value; }

/// What is known of one side's mean.
struct MeanError {
  double variance = 0;
  double degrees = 1;
};

double mean_within(const SideValues& side) {
  return std::accumulate(side.within.begin(), side.within.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(side.within.size(), 1));
}

/// The variance of one recording of a side with several.
double moderated(const SideValues& side) {
  const auto number = static_cast<double>(side.values.size());
  const double expected = mean_within(side) + square(kRunToRun * side.mean());
  return (kPriorDegrees * expected + (number - 1) * variance(side.values)) / (kPriorDegrees + number - 1);
}

MeanError of_several(const SideValues& side) {
  const auto number = static_cast<double>(side.values.size());
  return {std::max(moderated(side), mean_within(side)) / number, kPriorDegrees + number - 1};
}

/// A side with one recording is expected to vary as the recordings of the other side do.
MeanError of_one(const SideValues& side, const SideValues& other) {
  const double mean = other.mean();
  const double relative = mean > 0 ? std::sqrt(moderated(other)) / mean : 0;
  return {mean_within(side) + square(std::max(relative, kRunToRun) * side.mean()),
          kPriorDegrees + static_cast<double>(other.values.size()) - 1};
}

MeanError error_of(const SideValues& side, const SideValues& other) {
  if (side.values.size() > 1) return of_several(side);
  if (other.values.size() > 1) return of_one(side, other);
  return {mean_within(side) + square(kRunToRun * side.mean()), side.within_degrees};
}

}  // namespace

double student_quantile(double probability, double degrees) {
  double low = 0;
  double high = 1;
  while (beyond(high, degrees) > probability && high < 1e150) high *= 2;
  constexpr int kSteps = 200;
  for (int step = 0; step < kSteps && high - low > 1e-9 * high; ++step) {
    const double middle = (low + high) / 2;
    (beyond(middle, degrees) > probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

double variance_of_mean(std::span<const double> pieces) {
  if (pieces.size() < 2) return 0;
  const std::vector<double> values(pieces.begin(), pieces.end());
  const auto number = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / number;
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += square(values[i] - mean);
    if (i > 0) products += (values[i] - mean) * (values[i - 1] - mean);
  }
  if (squares <= 0) return 0;
  // The variance of the mean of an autoregressive process: neighbours that are alike are fewer values.
  constexpr double kMostAlike = 0.8;
  const double alike = std::clamp(products / squares, 0.0, kMostAlike);
  return squares / (number - 1) / number * (1 + alike) / (1 - alike);
}

double SideValues::mean() const {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

double spread_of(const SideValues& before, const SideValues& after, double error) {
  const MeanError a = error_of(before, after);
  const MeanError b = error_of(after, before);
  const double both = a.variance + b.variance;
  if (both <= 0) return 0;
  const double degrees = square(both) / (square(a.variance) / a.degrees + square(b.variance) / b.degrees);
  return student_quantile(error, degrees) * std::sqrt(both);
}

}  // namespace offwait
