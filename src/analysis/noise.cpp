// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/noise.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace offwait {

std::vector<std::size_t> without_noise(std::span<const Noise> frames, bool cut) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i] != Noise::glue) {
      left.push_back(i);
    }
  }
  const auto one_of = [&frames](std::size_t frame, auto... some) { return ((frames[frame] == some) || ...); };
  const auto has_own = [&](auto end) {
    return std::any_of(left.begin(), end, [&](std::size_t frame) { return frames[frame] == Noise::none; });
  };
  auto end = left.end();
  while (!cut && end - left.begin() > 1 &&
         (one_of(*std::prev(end), Noise::start, Noise::unnamed) ||
          (frames[*std::prev(end)] == Noise::body &&
           (has_own(std::prev(end)) || frames[*std::prev(end, 2)] == Noise::body)))) {
    --end;
  }
  const auto inside = std::find_if_not(left.begin(), end, [&](std::size_t frame) {
    return one_of(frame, Noise::call, Noise::internal, Noise::unnamed);
  });
  std::vector<std::size_t> out;
  if (inside != left.begin()) {
    const auto outermost_call = std::find_if(std::make_reverse_iterator(inside), left.rend(),
                                             [&](std::size_t frame) { return frames[frame] == Noise::call; });
    out.push_back(outermost_call == left.rend() ? *std::prev(inside) : *outermost_call);
  }
  out.insert(out.end(), inside, end);
  if (out.empty() && !frames.empty() && !cut) {
    out.push_back(0);
  }
  return out;
}

std::vector<Frame> without_noise(const std::vector<Frame>& user_frames, bool cut) {
  std::vector<Noise> noise;
  std::transform(user_frames.begin(), user_frames.end(), std::back_inserter(noise),
                 [](const Frame& frame) { return roles_of(frame).noise; });
  std::vector<Frame> out;
  for (const std::size_t frame : without_noise(noise, cut)) {
    out.push_back(user_frames[frame]);
  }
  return out;
}

}  // namespace offwait
