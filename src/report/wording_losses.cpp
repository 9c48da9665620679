// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_losses.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "offwait/loss_counters.h"
#include "report/quantity.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

struct BriefLoss {
  std::string_view one;
  std::string_view several;
};

/// For `5 unseen context switches`.
BriefLoss brief_loss(offwait_loss loss) {
  switch (loss) {
    case OFFWAIT_LOSS_ringbuf_full:
      return {"dropped record", "dropped records"};
    case OFFWAIT_LOSS_thread_table_full:
      return {"missing thread", "missing threads"};
    case OFFWAIT_LOSS_stack_store_full:
    case OFFWAIT_LOSS_stack_collision:
      return {"stack not kept", "stacks not kept"};
    case OFFWAIT_LOSS_stack_unreadable:
      return {"unreadable stack", "unreadable stacks"};
    case OFFWAIT_LOSS_request_table_full:
      return {"missing disk request", "missing disk requests"};
    case OFFWAIT_LOSS_program_skipped:
      return {"undelivered event", "undelivered events"};
    case OFFWAIT_LOSS_switch_unseen:
      return {"unseen context switch", "unseen context switches"};
    case OFFWAIT_LOSS_waker_unknown:
      return {"unseen waker", "unseen wakers"};
    case OFFWAIT_LOSS_waker_impossible:
      return {"impossible waker", "impossible wakers"};
    case OFFWAIT_LOSS_record_invalid:
      return {"contradictory record", "contradictory records"};
    case OFFWAIT_LOSS_peer_table_full:
      return {"missing peer address", "missing peer addresses"};
    case OFFWAIT_LOSS_response_table_full:
      return {"uncounted response", "uncounted responses"};
    case OFFWAIT_LOSS_call_table_full:
      return {"uncounted call", "uncounted calls"};
    case OFFWAIT_LOSS_file_table_full:
      return {"missing file", "missing files"};
    case OFFWAIT_LOSS_COUNT:
      break;
  }
  return {"other event", "other events"};
}

std::string_view consequence(offwait_loss loss) {
  switch (loss) {
    case OFFWAIT_LOSS_ringbuf_full:
    case OFFWAIT_LOSS_switch_unseen:
      return "no figure counts what the threads did meanwhile";
    case OFFWAIT_LOSS_thread_table_full:
      return "their waits, and waits for them, are missing from the report";
    case OFFWAIT_LOSS_stack_store_full:
    case OFFWAIT_LOSS_stack_collision:
    case OFFWAIT_LOSS_stack_unreadable:
      return "the waits count, but the report does not show their code";
    case OFFWAIT_LOSS_request_table_full:
      return "the figures of the disks leave them out";
    case OFFWAIT_LOSS_program_skipped:
    case OFFWAIT_LOSS_record_invalid:
      return "times and counts may be too small";
    case OFFWAIT_LOSS_waker_unknown:
    case OFFWAIT_LOSS_waker_impossible:
      return "these waits are in no edge, so weights may be too small";
    case OFFWAIT_LOSS_peer_table_full:
      return "services and clients may be missing from the report";
    case OFFWAIT_LOSS_response_table_full:
      return "the number of responses a second is too small";
    case OFFWAIT_LOSS_call_table_full:
      return "the number of calls a second is too small";
    case OFFWAIT_LOSS_file_table_full:
      return "figures of files are too small";
    case OFFWAIT_LOSS_COUNT:
      break;
  }
  return "this version of offwait does not know what it means";
}

constexpr std::array<std::pair<std::string_view, std::string_view>, OFFWAIT_LOSS_COUNT> kLosses = {{
#define X(name, text) {#name, text},
    OFFWAIT_LOSS_COUNTERS(X)
#undef X
}};

/// The counter of this name; OFFWAIT_LOSS_COUNT for one of another version.
offwait_loss loss_called(std::string_view name) {
  const auto* const at =
      std::find_if(kLosses.begin(), kLosses.end(), [name](const auto& loss) { return loss.first == name; });
  return static_cast<offwait_loss>(at - kLosses.begin());
}

std::string clause(const std::string& name, std::uint64_t count) {
  const offwait_loss loss = loss_called(name);
  const std::string_view what = loss == OFFWAIT_LOSS_COUNT ? std::string_view(name) : kLosses.at(loss).second;
  return fmt::format("{} ({}): {}", what, format_count(count), consequence(loss));
}

std::string share_of_time(const LossImpact& impact) {
  constexpr double kShownShare = 0.0005;  // less than that is rounded to 0 %
  return impact.unknown_s < kShownShare * impact.recorded_s
             ? "less than 0.1%"
             : format_percent(impact.unknown_s, impact.recorded_s);
}

}  // namespace

std::string losses_text(const Findings& findings, const ActorNames& names) {
  std::vector<std::string> clauses;
  for (const auto& [name, count] : findings.loss) {
    if (count > 0) clauses.push_back(clause(name, count));
  }
  const std::string what = clauses.empty() ? "" : fmt::format("{}. ", fmt::join(clauses, "; "));
  const std::vector<FoundActorId> touched = actors_with_losses(findings);
  if (touched.empty()) return what + "It is not known which threads this concerns.";
  std::vector<std::pair<std::string, double>> times;
  for (const FoundActorId actor : touched) {
    times.emplace_back(names.full(findings, actor), findings.actors[actor].lost_s);
  }
  return fmt::format("{}Unknown time: {}.", what, named_times(times));
}

std::string lost_text(const Findings& findings, const LossImpact& impact) {
  if (total_lost(findings) == 0 && impact.unknown_s <= 0) return "nothing lost";
  if (impact.unknown_s > 0) return share_of_time(impact) + " of time lost";
  return impact.minor ? "no time lost" : "records lost";
}

std::string brief_losses_text(const Findings& findings, const LossImpact& impact) {
  constexpr std::size_t kNamed = 2;
  std::vector<std::pair<std::string_view, std::uint64_t>> counted;
  for (const auto& [name, count] : findings.loss) {
    if (count > 0) counted.emplace_back(name, count);
  }
  std::stable_sort(counted.begin(), counted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kNamed, counted.size()); ++i) {
    const BriefLoss loss = brief_loss(loss_called(counted[i].first));
    shown.push_back(fmt::format("{} {}", format_count(counted[i].second),
                                counted[i].second == 1 ? loss.one : loss.several));
  }
  if (counted.size() > kNamed) shown.emplace_back("others");
  const std::string what = fmt::format("{}{}", fmt::join(shown, ", "), shown.empty() ? "" : ": ");
  if (impact.unknown_s <= 0 && !impact.minor) return what + "how much time that is, is not known";
  return fmt::format("{}{} of the recorded time is unknown", what,
                     impact.unknown_s <= 0 ? "none" : share_of_time(impact));
}

}  // namespace offwait
