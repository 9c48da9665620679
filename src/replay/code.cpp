// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/code.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "model/by_thread.h"

namespace offwait {

namespace {

/// A place with fewer samples is taken to be like all of its group.
constexpr std::uint64_t kEnoughSamples = 32;
/// Nine of ten normal errors are closer than this many standard deviations.
constexpr double kNineOfTen = 1.645;

/// A sample, and the wait before it.
struct Placed {
  StackId stack = kNoStack;
  PlaceId place = 0;
};

class Places {
 public:
  Places(const Trace& trace, const ThreadGroups& groups) : trace_(trace), groups_(groups) {
    for (GroupId id = 0; id < groups.groups.size(); ++id) {
      out.groups.push_back(id);
    }
    out.place_after.reserve(trace.sites.size());
    for (const WaitSite& site : trace.sites) {
      const GroupId group = groups.group_of[site.thread];
      const auto next = static_cast<PlaceId>(out.groups.size());
      const auto [found, added] = places_.try_emplace({group, site.wait_stack}, next);
      if (added) out.groups.push_back(group);
      out.place_after.push_back(found->second);
    }
  }

  std::vector<Placed> place_samples() const {
    const ByThread waits(trace_.actors.size(), trace_.waits,
                         [this](const Wait& wait) { return trace_.sites[wait.site].thread; });
    std::vector<Placed> placed;
    for (const CpuSample& sample : trace_.cpu_samples) {
      if (sample.at < trace_.window.begin || sample.at >= trace_.window.end) continue;
      const auto of_thread = waits.of(sample.thread);
      const auto after =
          std::upper_bound(of_thread.begin(), of_thread.end(), sample.at,
                           [this](Nanos at, std::uint32_t wait) { return at < trace_.waits[wait].block; });
      PlaceId place = groups_.group_of[sample.thread];
      if (after != of_thread.begin()) {
        const Wait& before = trace_.waits[*std::prev(after)];
        const bool spins = trace_.sites[before.site].wait_class == WaitClass::spin;
        if (spins && sample.at < before.wake) continue;
        place = out.place_after[before.site];
      }
      placed.push_back({sample.stack, place});
    }
    return placed;
  }

  Code out;

 private:
  const Trace& trace_;
  const ThreadGroups& groups_;
  std::map<std::pair<GroupId, StackId>, PlaceId> places_;
};

/// Places with too few samples become that of their group. Returns the numbers of samples by place; those of
/// a group are all of its samples.
std::vector<std::uint64_t> keep_those_with_samples(Code& code, std::vector<Placed>& samples,
                                                   std::size_t groups) {
  std::vector<std::uint64_t> all(code.groups.size());
  for (const Placed& sample : samples) ++all[sample.place];
  std::vector<PlaceId> kept(code.groups.size());
  auto next = static_cast<PlaceId>(groups);
  for (PlaceId place = 0; place < code.groups.size(); ++place) {
    const GroupId group = code.groups[place];
    const bool is_group = place < groups;
    kept[place] = is_group || all[place] < kEnoughSamples ? group : next++;
    if (!is_group) all[group] += all[place];
    if (kept[place] >= groups) {
      code.groups[kept[place]] = group;
      all[kept[place]] = all[place];
    }
  }
  code.groups.resize(next);
  all.resize(next);
  for (Placed& sample : samples) sample.place = kept[sample.place];
  for (PlaceId& place : code.place_after) place = kept[place];
  return all;
}

bool is_at_disk(WaitKind kind) {
  return kind == WaitKind::disk || kind == WaitKind::below || kind == WaitKind::paused;
}

bool is_own(WaitKind kind) { return is_at_disk(kind) || kind == WaitKind::timer || kind == WaitKind::remote; }

/// As CodePart::requests.
std::vector<double> requests_in(const CodeStacks& stacks, const Trace& trace, const ThreadGroups& groups,
                                const WaitKinds& kinds, const Uses& uses) {
  std::vector<Nanos> all(groups.groups.size());
  std::vector<Nanos> inside(groups.groups.size());
  for (SiteId site = 0; site < trace.sites.size(); ++site) {
    const GroupId group = groups.group_of[trace.sites[site].thread];
    if (!is_at_disk(kinds.of_site[site]) || kinds.below_devices[group]) continue;
    const StackId stack = trace.sites[site].wait_stack;
    all[group] += uses.sites[site].wait_ns;
    if (stack != kNoStack && stacks[stack]) inside[group] += uses.sites[site].wait_ns;
  }
  const auto sum = [](const std::vector<Nanos>& times) {
    return std::accumulate(times.begin(), times.end(), Nanos{0});
  };
  const auto part = [](Nanos of_it, Nanos of_all) {
    return of_all > 0 ? static_cast<double>(of_it) / static_cast<double>(of_all) : 0;
  };
  const double of_all = part(sum(inside), sum(all));
  std::vector<double> out;
  for (GroupId group = 0; group < all.size(); ++group) {
    out.push_back(kinds.below_devices[group] ? of_all : part(inside[group], all[group]));
  }
  return out;
}

}  // namespace

double error_of_samples(std::uint64_t samples) {
  return kNineOfTen / std::sqrt(static_cast<double>(std::max<std::uint64_t>(samples, 1)));
}

double CodePart::error_of_cpu() const { return error_of_samples(samples); }

double CodePart::error() const {
  const double all_ns = cpu_ns + static_cast<double>(wait_ns);
  return all_ns > 0 ? error_of_cpu() * cpu_ns / all_ns : 0;
}

Code code_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
             const std::vector<CodeStacks>& parts) {
  if (parts.empty()) return {};
  Places places(trace, groups);
  std::vector<Placed> samples = places.place_samples();
  Code& code = places.out;
  const std::vector<std::uint64_t> all = keep_those_with_samples(code, samples, groups.groups.size());
  for (const CodeStacks& stacks : parts) {
    CodePart part{stacks, std::vector<double>(code.groups.size()),
                  requests_in(stacks, trace, groups, kinds, uses)};
    for (const Placed& sample : samples) {
      if (sample.stack == kNoStack || !stacks[sample.stack]) continue;
      ++part.samples;
      ++part.cpu[code.groups[sample.place]];
      if (sample.place >= groups.groups.size()) ++part.cpu[sample.place];
    }
    for (PlaceId place = 0; place < code.groups.size(); ++place) {
      part.cpu[place] /= static_cast<double>(std::max<std::uint64_t>(all[place], 1));
    }
    for (GroupId group = 0; group < groups.groups.size(); ++group) {
      part.cpu_ns += part.cpu[group] * static_cast<double>(uses.groups[group].running_ns);
    }
    for (SiteId site = 0; site < trace.sites.size(); ++site) {
      const StackId stack = trace.sites[site].wait_stack;
      if (stack != kNoStack && stacks[stack] && is_own(kinds.of_site[site])) {
        part.wait_ns += uses.sites[site].wait_ns;
      }
    }
    code.parts.push_back(std::move(part));
  }
  return std::move(places.out);
}

}  // namespace offwait
