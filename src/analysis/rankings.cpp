// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/rankings.h"

#include <algorithm>

namespace offwait {

namespace {

template <class Wanted, class Seconds>
std::vector<FoundActorId> ranked(const Findings& findings, Wanted wanted, Seconds seconds) {
  std::vector<FoundActorId> out;
  for (FoundActorId id = 0; id < findings.actors.size(); ++id) {
    if (wanted(findings.actors[id])) {
      out.push_back(id);
    }
  }
  std::stable_sort(out.begin(), out.end(), [&](FoundActorId a, FoundActorId b) {
    return seconds(findings.actors[a]) > seconds(findings.actors[b]);
  });
  return out;
}

template <class Key>
std::vector<std::pair<Key, double>> by_time(const std::map<Key, double>& seconds) {
  std::vector<std::pair<Key, double>> out(seconds.begin(), seconds.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace

std::vector<FoundActorId> actors_with_losses(const Findings& findings) {
  return ranked(
      findings, [](const FoundActor& actor) { return actor.lost_s > 0; },
      [](const FoundActor& actor) { return actor.lost_s; });
}

std::vector<FoundActorId> actors_by_runnable(const Findings& findings) {
  return ranked(
      findings, [](const FoundActor& actor) { return !actor.outside && actor.time.runnable_s > 0; },
      [](const FoundActor& actor) { return actor.time.runnable_s; });
}

std::vector<std::pair<WaitClass, double>> classes_by_time(const std::map<WaitClass, double>& classes) {
  return by_time(classes);
}

std::vector<std::pair<BlockedBy, double>> blockers_by_time(const Totals& totals) {
  return by_time(totals.waits_for);
}

std::vector<std::pair<StackCut, double>> cuts_by_time(const StackEnds& ends) { return by_time(ends.cut_s); }

double all_s(const StackEnds& ends) {
  double cut_s = 0;
  for (const auto& [cut, wait_s] : ends.cut_s) {
    cut_s += wait_s;
  }
  return ends.complete_s + ends.missing_s + cut_s;
}

std::uint64_t bytes_of_users(const FoundDisk& disk) {
  std::uint64_t bytes = 0;
  for (const FoundDiskUser& user : disk.users) {
    bytes += user.bytes;
  }
  return bytes;
}

std::size_t excluded_waits_of_target(const Findings& findings) {
  return static_cast<std::size_t>(std::count_if(
      findings.excluded_waits.begin(), findings.excluded_waits.end(), [&findings](const ExcludedWait& item) {
        return !findings.actors[findings.edges[item.edge].from].outside;
      }));
}

NoiseSum noise_of(const std::vector<RefinementStep>& steps) {
  NoiseSum sum;
  for (const RefinementStep& step : steps) {
    if (step.reason == RefinementStep::Reason::noise) {
      ++sum.edges;
      sum.weight_s += step.weight_s;
    }
  }
  return sum;
}

std::vector<FoundActorId> simple_cycle(const Findings& findings, const FoundKnot& knot, std::size_t most) {
  std::map<FoundActorId, FoundActorId> next;
  for (const FoundEdgeId edge : knot.edges) {
    if (!next.emplace(findings.edges[edge].from, findings.edges[edge].to).second) {
      return {};
    }
  }
  std::vector<FoundActorId> cycle;
  for (FoundActorId at = knot.actors[0]; cycle.size() < most && next.contains(at); at = next[at]) {
    if (!cycle.empty() && at == cycle[0]) {
      return cycle;
    }
    cycle.push_back(at);
  }
  return cycle.size() == knot.actors.size() ? cycle : std::vector<FoundActorId>{};
}

}  // namespace offwait
