// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/code_places.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "report/frame.h"

namespace offwait {

namespace {

/// What the innermost frame is called, or the cut's where nothing else is left.
std::string name_of(const FoldedStack& folded) {
  return folded.user.empty() ? std::string(cut_frame(*folded.cut))
                             : short_frame(without_line(folded.user.front()));
}

}  // namespace

std::vector<SampledPlace> code_places(const FoundSamples& samples, StackNoise noise) {
  std::map<std::string, std::size_t> index;
  std::vector<SampledPlace> out;
  for (const FoundSamples::Place& place : samples.stacks) {
    const FoldedStack folded = fold(place.stack, 1, noise);
    if (folded.user.empty() && !folded.cut) {
      continue;
    }
    const auto [at, added] = index.try_emplace(name_of(folded), out.size());
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
