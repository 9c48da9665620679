// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/rankings.h"

#include <algorithm>
#include <map>

namespace offwait {

namespace {

template <class Wanted, class Seconds>
std::vector<ReportActorId> ranked(const Report& report, Wanted wanted, Seconds seconds) {
  std::vector<ReportActorId> out;
  for (ReportActorId id = 0; id < report.actors.size(); ++id) {
    if (wanted(report.actors[id])) {
      out.push_back(id);
    }
  }
  std::stable_sort(out.begin(), out.end(), [&](ReportActorId a, ReportActorId b) {
    return seconds(report.actors[a]) > seconds(report.actors[b]);
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

std::vector<ReportActorId> actors_with_losses(const Report& report) {
  return ranked(
      report, [](const ReportActor& actor) { return actor.lost_s > 0; },
      [](const ReportActor& actor) { return actor.lost_s; });
}

std::vector<ReportActorId> actors_by_runnable(const Report& report) {
  return ranked(
      report, [](const ReportActor& actor) { return !actor.outside && actor.time.runnable_s > 0; },
      [](const ReportActor& actor) { return actor.time.runnable_s; });
}

std::vector<std::pair<WaitClass, double>> classes_by_time(const ReportEdge& edge) {
  return by_time(edge.classes);
}

std::vector<std::pair<StackCut, double>> cuts_by_time(const ReportStackEnds& ends) {
  return by_time(ends.cut_s);
}

double all_s(const ReportStackEnds& ends) {
  double cut_s = 0;
  for (const auto& [cut, wait_s] : ends.cut_s) {
    cut_s += wait_s;
  }
  return ends.complete_s + ends.missing_s + cut_s;
}

std::uint64_t bytes_of_users(const ReportDisk& disk) {
  std::uint64_t bytes = 0;
  for (const ReportDiskUser& user : disk.users) {
    bytes += user.bytes;
  }
  return bytes;
}

std::size_t elsewhere_of_target(const Report& report) {
  return static_cast<std::size_t>(
      std::count_if(report.elsewhere.begin(), report.elsewhere.end(), [&report](const ReportElsewhere& item) {
        return !report.actors[report.edges[item.edge].from].outside;
      }));
}

NoiseSum noise_of(const std::vector<ReportStep>& steps) {
  NoiseSum sum;
  for (const ReportStep& step : steps) {
    if (step.reason == ReportStep::Reason::noise) {
      ++sum.edges;
      sum.weight_s += step.weight_s;
    }
  }
  return sum;
}

std::vector<ReportActorId> simple_cycle(const Report& report, const ReportKnot& knot, std::size_t most) {
  std::map<ReportActorId, ReportActorId> next;
  for (const ReportEdgeId edge : knot.edges) {
    if (!next.emplace(report.edges[edge].from, report.edges[edge].to).second) {
      return {};
    }
  }
  std::vector<ReportActorId> cycle;
  for (ReportActorId at = knot.actors[0]; cycle.size() < most && next.contains(at); at = next[at]) {
    if (!cycle.empty() && at == cycle[0]) {
      return cycle;
    }
    cycle.push_back(at);
  }
  return cycle.size() == knot.actors.size() ? cycle : std::vector<ReportActorId>{};
}

}  // namespace offwait
