// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/cpu_sets.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace offwait {

namespace {

constexpr std::size_t kMostSets = 64;

/// By index into the machine's CPUs: whether it is in the set.
using Members = std::vector<bool>;

Members members_of(const CpuList& allowed, const std::vector<CpuTime>& online) {
  Members out;
  for (const CpuTime& cpu : online) out.push_back(allowed.empty() || contains(allowed, cpu.cpu));
  return out;
}

bool is_part_of(const Members& some, const Members& all) {
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (some[i] && !all[i]) return false;
  }
  return true;
}

}  // namespace

CpuSets cpu_sets(const std::vector<CpuList>& allowed, const std::vector<CpuTime>& online, double all) {
  const CpuSets nothing_pinned{{all}, {{kAllCpus}}, std::vector<CpuSetId>(allowed.size(), kAllCpus)};
  CpuSets out = nothing_pinned;
  std::vector<Members> sets{Members(online.size(), true)};
  std::vector<std::pair<CpuList, CpuSetId>> known;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (allowed[i].empty()) continue;
    auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == allowed[i]; });
    if (found == known.end()) {
      if (known.size() == kMostSets) return nothing_pinned;
      const Members members = members_of(allowed[i], online);
      const auto size = std::count(members.begin(), members.end(), true);
      const auto same = size == 0 ? sets.begin() : std::find(sets.begin(), sets.end(), members);
      found = known.insert(known.end(), {allowed[i], static_cast<CpuSetId>(same - sets.begin())});
      if (same == sets.end()) {
        sets.push_back(members);
        out.cpus.push_back(static_cast<double>(size));
      }
    }
    out.of[i] = found->second;
  }
  out.within.assign(sets.size(), {});
  for (CpuSetId id = 0; id < sets.size(); ++id) {
    for (CpuSetId other = 0; other < sets.size(); ++other) {
      if (is_part_of(sets[id], sets[other])) out.within[id].push_back(other);
    }
  }
  return out;
}

std::vector<double> cpus_of_sets(const CpuSets& sets, const UsableCpus& usable, double factor) {
  const bool stays = usable.shared > 0 && usable.pinned_to > 0;
  const double all =
      stays ? std::max(sets.cpus[kAllCpus], usable.pinned_to / factor) : sets.cpus[kAllCpus] / factor;
  std::vector<double> out;
  std::transform(sets.cpus.begin(), sets.cpus.end(), std::back_inserter(out),
                 [&](double cpus) { return std::min(cpus / factor, all); });
  out[kAllCpus] = all;
  return out;
}

}  // namespace offwait
