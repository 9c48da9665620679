// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/simulated_cpus.h"

#include <algorithm>
#include <cmath>

namespace offwait {

namespace {

/// No machine has as many CPUs as this.
constexpr double kMostCpus = 1e6;

}  // namespace

SimulatedCpus::SimulatedCpus(const CpuSets& sets, std::size_t threads, const std::vector<double>& cpus)
    : cpus_(sets), sets_(sets.cpus.size()), places_(threads, kNowhere) {
  for (CpuSetId id = 0; id < sets_.size(); ++id) {
    sets_[id].free = static_cast<int>(std::lround(std::clamp(cpus[id], 1.0, kMostCpus)));
  }
}

std::optional<CpuSetId> SimulatedCpus::full(CpuSetId set) const {
  std::optional<CpuSetId> out;
  for (const CpuSetId around : cpus_.within[set]) {
    if (sets_[around].free <= 0 && (!out || cpus_.cpus[around] < cpus_.cpus[*out])) out = around;
  }
  return out;
}

void SimulatedCpus::take(std::uint32_t thread) {
  for (const CpuSetId set : cpus_.within[set_of(thread)]) --sets_[set].free;
}

void SimulatedCpus::leave(std::uint32_t thread) {
  for (const CpuSetId set : cpus_.within[set_of(thread)]) ++sets_[set].free;
}

std::optional<std::pair<double, std::uint32_t>> SimulatedCpus::next() {
  Set* first = nullptr;
  for (CpuSetId set = 0; set < sets_.size(); ++set) {
    const LeastFirst& ready = sets_[set].ready;
    if (ready.empty() || (first != nullptr && first->ready.top() <= ready.top()) || full(set)) continue;
    first = &sets_[set];
  }
  if (first == nullptr) return std::nullopt;
  const auto out = first->ready.top();
  first->ready.pop();
  return out;
}

bool SimulatedCpus::has_to_share(std::uint32_t thread, double ran) const {
  for (CpuSetId set = 0; set < sets_.size(); ++set) {
    const LeastFirst& ready = sets_[set].ready;
    if (ready.empty() || ready.top().first >= ran) continue;
    const std::optional<CpuSetId> full = this->full(set);
    if (full && is_within(set_of(thread), *full)) return true;
  }
  return false;
}

void SimulatedCpus::computes(std::uint32_t thread, double rank) {
  auto& computing = sets_[set_of(thread)].computing;
  if (places_[thread] == kNowhere) {
    places_[thread] = static_cast<std::uint32_t>(computing.size());
    computing.emplace_back(rank, thread);
  } else {
    computing[places_[thread]].first = rank;
  }
}

void SimulatedCpus::stops(std::uint32_t thread) {
  if (places_[thread] == kNowhere) return;
  auto& computing = sets_[set_of(thread)].computing;
  computing[places_[thread]] = computing.back();
  places_[computing.back().second] = places_[thread];
  places_[thread] = kNowhere;
  computing.pop_back();
}

std::optional<std::pair<double, std::uint32_t>> SimulatedCpus::ran_most(CpuSetId set) const {
  std::optional<std::pair<double, std::uint32_t>> out;
  for (CpuSetId some = 0; some < sets_.size(); ++some) {
    if (!is_within(some, set)) continue;
    for (const auto& one : sets_[some].computing) {
      if (!out || one < *out) out = one;
    }
  }
  return out;
}

bool SimulatedCpus::is_within(CpuSetId set, CpuSetId other) const {
  const std::vector<CpuSetId>& within = cpus_.within[set];
  return std::find(within.begin(), within.end(), other) != within.end();
}

}  // namespace offwait
