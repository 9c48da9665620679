// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/rankings.h"

#include <algorithm>

#include "replay/answers.h"

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

std::optional<Peer> address_of(const FoundAnswer& answer) {
  return answer.service ? std::optional(answer.service->peers.front()) : std::nullopt;
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

bool somebody_lacks_cpus(const Findings& findings) {
  constexpr double kMuchOfALife = 0.05;
  const std::vector<FoundActorId> actors = actors_by_runnable(findings);
  return std::any_of(actors.begin(), actors.end(), [&findings](FoundActorId actor) {
    const StateSeconds& time = findings.actors[actor].time;
    return time.runnable_s >= kMuchOfALife * time.lifetime_s;
  });
}

bool lack_of_cpus_matters(const Findings& findings) {
  return somebody_lacks_cpus(findings) ||
         std::any_of(findings.answers.begin(), findings.answers.end(), [](const FoundAnswer& answer) {
           return answer.what == Resource::cpus &&
                  (answer.certainty == Certainty::rough || answer.gain >= kWorthAFix);
         });
}

bool others_have_the_cpus(const Findings& findings) {
  return findings.cpu_supply.cause == CpuSupply::Cause::others && lack_of_cpus_matters(findings);
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

namespace {

/// The name of the lock that the answer is about; empty for any other answer.
std::string name_of(const FoundAnswer& answer) {
  return answer.what == Resource::waited && answer.lock ? answer.lock->name : "";
}

/// Whether an answer about requests of some threads to a disk is a part of one about the whole disk that
/// names these threads, and no others' requests.
bool is_part_of(const FoundAnswer& answer, const FoundAnswer& before) {
  return answer.what == Resource::io && before.what == Resource::disk && answer.device == before.device &&
         answer.evidence.tid == before.evidence.tid && answer.progress == before.progress &&
         !before.evidence.others_matter() && !before.other_user;
}

}  // namespace

std::vector<const FoundAnswer*> distinct_answers(const Findings& findings) {
  std::vector<const FoundAnswer*> out;
  for (const FoundAnswer& answer : findings.answers) {
    const bool said = std::any_of(out.begin(), out.end(), [&answer](const FoundAnswer* before) {
      if (is_part_of(answer, *before)) return true;
      const bool same_part = answer.what == before->what && name_of(answer) == name_of(*before) &&
                             answer.actor == before->actor && answer.evidence.tid == before->evidence.tid &&
                             address_of(answer) == address_of(*before);
      return (same_part || (answer.device && answer.progress == before->progress &&
                            std::abs(answer.gain - before->gain) <= kAlike)) &&
             answer.device == before->device;
    });
    if (!said) {
      out.push_back(&answer);
    }
  }
  return out;
}

std::vector<const FoundAnswer*> first_answers(const std::vector<const FoundAnswer*>& all) {
  constexpr std::size_t kMost = 4;
  std::vector<const FoundAnswer*> out = all;
  const auto worth_nothing = std::find_if(out.begin(), out.end(), [](const FoundAnswer* answer) {
    return answer->certainty != Certainty::rough && most_of(*answer) < kWorthALine;
  });
  out.erase(worth_nothing, out.end());
  out.resize(std::min(kMost, out.size()));
  return out;
}

ShortEvidence short_evidence(const Findings& findings) {
  constexpr double kShortestWindow = 1;
  // Starting programs takes milliseconds that differ from time to time.
  constexpr double kShortestCommand = 0.1;
  // A rate that is known from n events is off by 1/sqrt(n).
  constexpr std::uint64_t kFewestWaits = 100;
  if (!findings.progress.empty() && findings.progress.front().end_s) {
    return *findings.progress.front().end_s < kShortestCommand ? ShortEvidence::end : ShortEvidence::none;
  }
  if (findings.window_s < kShortestWindow) {
    return ShortEvidence::window;
  }
  // If a thread is always on a CPU, or ready to be, its running time is known however few waits there are.
  const bool computes = findings.verdict.saturated_by != SinkLimit::capacity;
  return !computes && findings.totals.waits < kFewestWaits ? ShortEvidence::waits : ShortEvidence::none;
}

bool answers_can_be_judged(const Findings& findings) {
  return !findings.progress.empty() && short_evidence(findings) == ShortEvidence::none;
}

bool has_all_answers(const Findings& findings) {
  return findings.answers.size() < AnswerOptions{}.most_answers;
}

const FoundDisk* disk_of(const Findings& findings, FoundActorId actor) {
  const auto found = std::find_if(findings.disks.begin(), findings.disks.end(),
                                  [actor](const FoundDisk& disk) { return disk.actor == actor; });
  return found == findings.disks.end() ? nullptr : &*found;
}

bool somebody_is_stuck(const Findings& findings) {
  return !findings.deadlocks.empty() ||
         std::any_of(findings.open_waits.begin(), findings.open_waits.end(),
                     [](const FoundOpenWait& open) { return open.throughout && open.holder; });
}

}  // namespace offwait
