// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/code_places.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace offwait {

std::vector<CodePlace> code_places(const ReportSamples& samples, UserFrames user_frames) {
  std::map<std::string, std::size_t> index;
  std::vector<CodePlace> out;
  for (const ReportSamples::Place& place : samples.stacks) {
    const auto [kernel, user, left_out] = fold(place.stack, 1, user_frames);
    if (user.empty()) {
      continue;
    }
    // Without its line.
    const std::string& shown = user.front();
    const auto [at, added] = index.try_emplace(shown.substr(0, shown.rfind(" (")), out.size());
    if (added) {
      out.push_back({0, place.stack});
    }
    out[at->second].share += place.share;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const CodePlace& a, const CodePlace& b) { return a.share > b.share; });
  return out;
}

}  // namespace offwait
