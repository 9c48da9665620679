// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/samples.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "analysis/code_places.h"
#include "model/backtrace.h"
#include "model/frame.h"

namespace offwait {

namespace {

/// All stacks that call the same functions.
struct PlaceSum {
  StackSamples most;  ///< the first stack, which has most
  std::uint64_t samples = 0;
  std::uint64_t waiting = 0;
  std::uint64_t weight() const { return waiting > 0 ? waiting : samples; }
};

}  // namespace

FoundSamples sum_places(const Trace& trace, const SampledCode& code, const std::vector<StackSamples>& all) {
  std::map<std::pair<std::vector<std::uint32_t>, std::optional<StackCut>>, std::size_t> index;
  std::vector<PlaceSum> sums;
  FoundSamples out;
  std::uint64_t waiting = 0;
  for (const StackSamples& one : all) {
    std::vector<std::uint32_t> called;
    std::optional<StackCut> cut;
    if (one.stack != kNoStack) {
      cut = trace.stacks[one.stack].cut;
      const std::vector<FrameId>& frames = trace.stacks[one.stack].frames;
      for (std::size_t i = code.late[one.stack]; i < frames.size(); ++i) {
        called.push_back(code.place_of[frames[i]]);
      }
    }
    const auto [at, added] = index.try_emplace({std::move(called), cut}, sums.size());
    if (added) {
      sums.push_back({one});
    }
    sums[at->second].samples += one.samples;
    sums[at->second].waiting += one.waiting;
    out.samples += one.samples;
    waiting += one.waiting;
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const PlaceSum& a, const PlaceSum& b) { return a.weight() > b.weight(); });
  out.stacks_known = sums.size();
  for (std::size_t i = 0; i < std::min(sums.size(), kMostSampledStacks); ++i) {
    const double share =
        static_cast<double>(sums[i].weight()) / static_cast<double>(waiting > 0 ? waiting : out.samples);
    const StackId most = sums[i].most.stack;
    Backtrace stack = backtrace_of(trace, most);
    if (most != kNoStack) stack.frames.erase(stack.frames.begin(), stack.frames.begin() + code.late[most]);
    out.stacks.push_back({share, sums[i].samples, std::move(stack)});
  }
  find_code_places(trace, code, all, out);
  return out;
}

}  // namespace offwait
