// SPDX-License-Identifier: GPL-2.0-or-later
// How much two recordings of one and the same program differ, so that a difference beyond it is a change.
//
// A change is the mean of the recordings after minus that of those before. Its spread is the half width of an
// interval around it in which the true change lies with the given probability: Welch's interval, from the
// standard errors of both means with Satterthwaite's degrees of freedom ("The generalization of Student's
// problem when several different population variances are involved", Biometrika 1947). Where many rows are
// looked at, the probability is Bonferroni's: none of all rows is wrong with 95 %.
//
// Several recordings of a side: their variance, mixed with what single recordings let expect (their variance
// within, and kRunToRun), which weighs as much as kPriorDegrees more recordings (the moderated t-test:
// Smyth, "Linear models and empirical Bayes methods for assessing differential expression", 2004, with a
// prior that is given instead of estimated). Two or three recordings alone say too little of their own
// variance to tell anything but the largest changes.
//
// One recording of a side: the variance of the mean of its pieces, lengthened where neighbouring pieces are
// alike, and what recordings are expected to differ by besides (kRunToRun). If the other side has several
// recordings, they tell it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace offwait {

/// Recordings of one program differ by this part, as a standard deviation. In recordings of servers it is
/// between 0.01 and 0.2 for most amounts, with a median of 0.1.
inline constexpr double kRunToRun = 0.1;
inline constexpr double kPriorDegrees = 4;
/// The probability that at least one of all rows shows a change although nothing has changed.
inline constexpr double kErrorOfAll = 0.05;

/// The value that |t| exceeds with this probability, of Student's t distribution with `degrees` degrees of
/// freedom, 0 < probability < 1, degrees > 0; relative error below 1e-6.
double student_quantile(double probability, double degrees);

/// The variance of the mean of these values. Two neighbours among them may be alike.
double variance_of_mean(std::span<const double> pieces);

/// One value for each recording of a side.
struct SideValues {
  std::vector<double> values{};
  /// The variance of each value as the recording itself shows it; empty: it does not.
  std::vector<double> within{};
  double within_degrees = 15;  ///< degrees of freedom of one of `within`
  double mean() const;
};

/// Each side has a value or more. `error`: the probability that the true change lies further away.
double spread_of(const SideValues& before, const SideValues& after, double error);

}  // namespace offwait
