// SPDX-License-Identifier: GPL-2.0-or-later
#include <cmath>
#include <cstddef>
#include <utility>

#include "report/diff.h"

namespace offwait {

namespace {

double mean_units(const std::vector<FoldedRecording>& side) {
  double sum = 0;
  for (const FoldedRecording& one : side) sum += one.units;
  return sum / static_cast<double>(side.size());
}

}  // namespace

std::string folded_difference(const std::vector<FoldedRecording>& before,
                              const std::vector<FoldedRecording>& after, std::int64_t divide) {
  const double units = mean_units(before);
  std::map<std::string, std::pair<double, double>> lines;
  const auto add = [&](const std::vector<FoldedRecording>& side, double std::pair<double, double>::*sum) {
    for (const FoldedRecording& one : side) {
      const double factor =
          one.units > 0 ? units / one.units / static_cast<double>(side.size()) / static_cast<double>(divide)
                        : 0;
      for (const auto& [line, amount] : one.lines) lines[line].*sum += factor * static_cast<double>(amount);
    }
  };
  add(before, &std::pair<double, double>::first);
  add(after, &std::pair<double, double>::second);
  std::string out;
  for (const auto& [line, sums] : lines) {
    const long long count_before = std::llround(sums.first);
    const long long count_after = std::llround(sums.second);
    if (count_before <= 0 && count_after <= 0) continue;
    out.append(line).append(" ").append(std::to_string(count_before));
    out.append(" ").append(std::to_string(count_after)).append("\n");
  }
  return out;
}

}  // namespace offwait
