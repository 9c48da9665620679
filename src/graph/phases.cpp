// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/phases.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace offwait {

WaitsOverTime::WaitsOverTime(const Window& window) : window_(window), waited_(kParts, 0) {
  __extension__ using Wide = __int128;
  for (std::size_t part = 0; part <= kParts; ++part) {
    starts_.push_back(window.begin +
                      static_cast<Nanos>(Wide{window.length()} * static_cast<Wide>(part) / Wide{kParts}));
  }
}

void WaitsOverTime::add(Nanos from, Nanos to) {
  const Nanos begin = std::max(from, window_.begin);
  const Nanos end = std::min(to, window_.end);
  if (begin >= end) {
    return;
  }
  const double place =
      static_cast<double>(begin - window_.begin) / static_cast<double>(window_.length()) * kParts;
  auto part = std::min(static_cast<std::size_t>(place), kParts - 1);
  while (part > 0 && starts_[part] > begin) {
    --part;
  }
  for (; part < kParts && starts_[part] < end; ++part) {
    waited_[part] += std::max<Nanos>(0, std::min(end, starts_[part + 1]) - std::max(begin, starts_[part]));
  }
}

std::optional<Phases> WaitsOverTime::phases() const {
  Phases phases;
  phases.all_ns = std::accumulate(waited_.begin(), waited_.end(), Nanos{0});
  if (phases.all_ns <= 0) {
    return std::nullopt;
  }
  std::vector<std::size_t> fullest(kParts);
  std::iota(fullest.begin(), fullest.end(), std::size_t{0});
  std::stable_sort(fullest.begin(), fullest.end(),
                   [this](std::size_t a, std::size_t b) { return waited_[a] > waited_[b]; });
  const double enough = kMost * static_cast<double>(phases.all_ns);
  std::size_t count = 0;
  while (static_cast<double>(phases.wait_ns) < enough) {
    phases.wait_ns += waited_[fullest[count++]];
  }
  if (count > kFewest) {
    return std::nullopt;
  }
  // A phase must not end in the middle only because kMost is reached there.
  std::vector<bool> taken(kParts, false);
  for (std::size_t i = 0; i < count; ++i) {
    taken[fullest[i]] = true;
  }
  const Nanos full = waited_[fullest[count - 1]] / 2;
  for (std::size_t part = 1; part < kParts; ++part) {
    taken[part] = taken[part] || (taken[part - 1] && waited_[part] > full);
  }
  for (std::size_t part = kParts - 1; part-- > 0;) {
    taken[part] = taken[part] || (taken[part + 1] && waited_[part] > full);
  }
  phases.wait_ns = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (!taken[part]) {
      continue;
    }
    const Window piece{starts_[part], starts_[part + 1]};
    phases.wait_ns += waited_[part];
    phases.length_ns += piece.length();
    if (!phases.ranges.empty() && phases.ranges.back().end == piece.begin) {
      phases.ranges.back().end = piece.end;
    } else {
      phases.ranges.push_back(piece);
    }
  }
  return phases.ranges.size() > kRanges ? std::nullopt : std::optional(std::move(phases));
}

}  // namespace offwait
