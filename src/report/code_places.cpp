// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/code_places.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "analysis/frame.h"

namespace offwait {

std::vector<SampledPlace> code_places(const ReportSamples& samples, StackNoise noise) {
  std::map<std::string, std::size_t> index;
  std::vector<SampledPlace> out;
  for (const ReportSamples::Place& place : samples.stacks) {
    std::vector<std::string> stack;
    for (const std::string& frame : place.stack) {
      stack.emplace_back(without_line(frame));
    }
    const std::vector<std::string> user = fold(stack, 1, noise).user;
    if (user.empty()) {
      continue;
    }
    const auto [at, added] = index.try_emplace(user.front(), out.size());
    if (added) {
      out.push_back({0, place.stack});
    }
    out[at->second].share += place.share;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SampledPlace& a, const SampledPlace& b) { return a.share > b.share; });
  return out;
}

}  // namespace offwait
