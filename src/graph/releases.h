// SPDX-License-Identifier: GPL-2.0-or-later
// Wakings of several threads by one (SiteSum::releases).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "graph/sweep.h"
#include "model/trace.h"

namespace offwait {

/// Wakings by one thread, each at most kOneRelease after the one before.
struct Release {
  static constexpr std::uint32_t kWhole = UINT32_MAX;
  struct EndedWait {
    Nanos length = 0;
    Nanos disk = 0;  ///< part of it in which the waking thread waited for a disk
    SiteId site = 0;
    std::uint32_t cut = kWhole;  ///< index into SweptPart::cut_waits; kWhole: it began in the part
  };
  Nanos first = 0;
  Nanos last = 0;
  std::vector<EndedWait> waits;

  void add(const EndedWait& wait, Nanos now) {
    if (waits.empty()) first = now;
    last = now;
    waits.push_back(wait);
  }
};

/// Sums by site. `releases` of a SiteSum is not used: a sum of doubles depends on their order.
struct SiteSums {
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
  std::vector<SiteSum> sites;
  std::vector<std::uint64_t> releases;  ///< in units of 1 ÷ kOne

  explicit SiteSums(std::size_t count) : sites(count), releases(count) {}

  /// Counts a release that is over, if it woke several threads.
  void count(const Release& release) {
    const std::size_t size = release.waits.size();
    if (size < 2) return;
    // Rounded up, so that the mean of releases is never above the largest. Fewer than 2^32 waits count at
    // most half of kOne each.
    const std::uint64_t part = (kOne + size - 1) / size;
    for (const Release::EndedWait& wait : release.waits) {
      SiteSum& sum = sites[wait.site];
      sum.together_ns += wait.length;
      sum.together_disk_ns += wait.disk;
      ++sum.together_waits;
      sum.largest_release = std::max<std::uint64_t>(sum.largest_release, size);
      releases[wait.site] += part;
    }
  }
};

}  // namespace offwait
