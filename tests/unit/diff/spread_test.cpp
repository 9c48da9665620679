// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/spread.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

using namespace offwait;

TEST_CASE("quantiles of Student's t distribution are those of the tables") {
  CHECK(student_quantile(0.05, 1) == Approx(12.7062047));
  CHECK(student_quantile(0.05, 10) == Approx(2.2281389));
  CHECK(student_quantile(0.10, 5) == Approx(2.0150484));
  CHECK(student_quantile(0.01, 30) == Approx(2.7499957));
  CHECK(student_quantile(0.001, 5) == Approx(6.8688266));
  CHECK(student_quantile(0.05, 1e7) == Approx(1.9599640));
  CHECK(student_quantile(0.05, 2.5) > student_quantile(0.05, 3));
  CHECK(student_quantile(1e-6, 2) == Approx(999.9995).epsilon(1e-5));
}

TEST_CASE("the variance of a mean is larger where neighbours are alike") {
  const std::vector<double> apart = {1, 3, 1, 3, 1, 3, 1, 3};
  const std::vector<double> alike = {1, 1, 1, 1, 3, 3, 3, 3};
  const double independent = 8.0 / 7 / 8;
  CHECK(variance_of_mean(apart) == Approx(independent));
  CHECK(variance_of_mean(alike) > 3 * independent);
  CHECK(variance_of_mean(std::vector<double>{2, 2, 2}) == 0);
  CHECK(variance_of_mean(std::vector<double>{2}) == 0);
}

TEST_CASE("single recordings: what their pieces show, and what is expected of recordings") {
  const SideValues before{{10}, {0.25}, 15};
  const SideValues after{{12}, {0.25}, 15};
  const double expected = 1.25 + 1.69;  // 0.25 of pieces and 10 %, squared
  const double degrees = expected * expected / ((1.25 * 1.25 + 1.69 * 1.69) / 15);
  CHECK(spread_of(before, after, 0.05) == Approx(student_quantile(0.05, degrees) * std::sqrt(expected)));
  CHECK(spread_of({{10}, {0}, 15}, {{10}, {0}, 15}, 0.05) ==
        Approx(student_quantile(0.05, 30) * std::sqrt(2.0)));
  CHECK(spread_of({{10}, {0}, 15}, {{0}, {0}, 15}, 0.05) == Approx(student_quantile(0.05, 15)));
  CHECK(spread_of({{0}, {0}, 15}, {{0}, {0}, 15}, 0.05) == 0);
}

TEST_CASE("single runs, whose pieces tell nothing: what is expected of recordings") {
  CHECK(spread_of({{10}}, {{10}}, 0.05) == spread_of({{10}, {0}, 15}, {{10}, {0}, 15}, 0.05));
}

TEST_CASE("several recordings: how they differ, mixed with what single ones let expect") {
  const SideValues before{{9, 10, 11}, {0, 0, 0}, 15};
  const SideValues after{{9, 10, 11}, {0, 0, 0}, 15};
  // Their variance is 1, and so is what is expected: 10 % of 10, squared.
  CHECK(spread_of(before, after, 0.05) == Approx(student_quantile(0.05, 12) * std::sqrt(2.0 / 3)));
  const SideValues far_apart{{5, 10, 15}, {0, 0, 0}, 15};
  CHECK(spread_of(far_apart, after, 0.05) > 2 * spread_of(before, after, 0.05));
  const SideValues noisy{{9, 10, 11}, {9, 9, 9}, 15};
  CHECK(spread_of(noisy, after, 0.05) > 1.5 * spread_of(before, after, 0.05));
}

TEST_CASE("one recording against several differs as these do") {
  const SideValues one{{10}, {0}, 15};
  const double calm = spread_of(one, {{9.9, 10, 10.1}, {0, 0, 0}, 15}, 0.05);
  const double wild = spread_of(one, {{5, 10, 15}, {0, 0, 0}, 15}, 0.05);
  CHECK(calm < 0.4 * wild);
  CHECK(spread_of({{9.9, 10, 10.1}, {0, 0, 0}, 15}, one, 0.05) == Approx(calm));
}

TEST_CASE("recordings of one program differ by more than their spread in 5 % of all cases at most") {
  std::mt19937_64 random(1);
  constexpr int kRounds = 4000;
  for (const double relative : {0.03, 0.1, 0.15}) {
    for (const int recordings : {2, 3, 5}) {
      std::normal_distribution<double> value(1, relative);
      int beyond = 0;
      for (int round = 0; round < kRounds; ++round) {
        SideValues sides[2];
        for (SideValues& side : sides) {
          for (int i = 0; i < recordings; ++i) {
            side.values.push_back(value(random));
          }
        }
        const double change = std::abs(sides[1].mean() - sides[0].mean());
        beyond += change > spread_of(sides[0], sides[1], 0.05) ? 1 : 0;
      }
      INFO(relative << " " << recordings);
      // More where recordings differ by more than is expected of them, and there are few to say so.
      CHECK(beyond < (relative > kRunToRun ? 0.12 : 0.06) * kRounds);
    }
  }
}
