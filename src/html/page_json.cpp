// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/page_json.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/held_up.h"
#include "analysis/losses.h"
#include "analysis/screen.h"
#include "report/fold.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_advice.h"
#include "report/wording_answers.h"
#include "report/wording_cpus.h"
#include "report/wording_disks.h"
#include "report/wording_files.h"
#include "report/wording_gains.h"
#include "report/wording_locks.h"
#include "report/wording_losses.h"
#include "report/wording_memory.h"
#include "report/wording_progress.h"
#include "report/wording_sections.h"
#include "report/wording_views.h"

namespace offwait::html {

namespace {

/// Those that are not empty, escaped.
Json sentences(const std::vector<std::string>& all) {
  Json out = Json::array();
  for (const std::string& one : all) {
    if (!one.empty()) out.push_back(text(one));
  }
  return out;
}

Json recording_json(const Findings& findings) {
  const Recording& recording = findings.recording;
  const LossImpact impact = loss_impact(findings);
  return {{"target", text(recording.target)},
          {"host", text(recording.host)},
          {"start_time", text(recording.start_time)},
          {"window_s", seconds(findings.window_s)},
          {"kernel", text(recording.kernel)},
          {"cpus", recording.cpus},
          {"offwait", text(recording.offwait)},
          {"facts", sentences({threads_text(findings.totals), "ran " + cpus_used(findings),
                               machine_text(findings), labels_text(recording)})},
          {"lost", text(lost_text(findings, impact))},
          {"is_loss_minor", impact.minor},
          {"chosen", text(described(findings.options.filter))},
          {"warnings", sentences({interrupted_text(recording),
                                  impact.minor ? "" : brief_losses_text(findings, impact)})}};
}

/// The number that words tell: of a bound, the most that it can be.
double told(const Gain& gain) {
  const bool is_bound = gain.certainty == Certainty::up_to || gain.certainty == Certainty::approximate;
  return is_bound ? most_of(gain) : gain.gain;
}

/// `[times as fast, gain, words]`
Json curve_json(const std::vector<Gain>& curve) {
  Json out = Json::array();
  for (std::size_t i = 0; i < curve.size(); ++i)
    out.push_back({kCurveFactors[i], rounded(told(curve[i])), text(marked_gain_text(curve[i]))});
  return out;
}

Json answer_json(const Findings& findings, const FoundAnswer& answer, const std::vector<Gain>& curve,
                 const ActorNames& names, StackTable& stacks) {
  const AnswerPlace place = place_of(answer);
  const std::string split =
      answer.certainty == Certainty::split
          ? fmt::format("for {}:", progress_told_apart(findings, answer.progress, names))
          : "";
  const bool is_rough = answer.certainty == Certainty::rough;
  return {{"change", text(change_text(answer, names))},
          {"of", text(split)},
          {"gain_text", text(answer_gain_text(answer))},
          {"gain", is_rough ? Json(nullptr) : rounded(told(answer))},
          {"low", rounded_or_null(answer.low)},
          {"high", rounded_or_null(answer.high)},
          {"certainty", to_string(answer.certainty)},
          {"besides", sentences({more_threads_text(findings, answer, names), held_gain_text(answer),
                                 sync_parts_text(answer)})},
          {"evidence", text(evidence_text(findings, answer, names))},
          {"place", text(place.text)},
          {"stack", stacks.number_of(told_by_callers(place.stack))},
          {"more", sentences({device_text(findings, answer, names), service_text(answer, names),
                              full_text(answer, names)})},
          {"try", text(advice(findings, answer, names))},
          {"doubt", text(answer_certainty_sentence(findings, answer))},
          {"curve", curve_json(curve)},
          {"actor", or_null(answer.actor)},
          {"device", or_null(answer.device)},
          {"knot", or_null(answer.knot)}};
}

Json answers_json(const Findings& findings, const Screen& screen, const Curves& curves,
                  const ActorNames& names, StackTable& stacks) {
  std::vector<std::string> above;
  if (screen.has(ScreenSection::deadlocks)) above.push_back(deadlock_sentences(findings, names));
  if (screen.has(ScreenSection::verdict)) above.push_back(verdict_sentence(findings, names));
  if (screen.has(ScreenSection::too_short)) above.push_back(too_short_text(findings, names));
  const bool judged = screen.has(ScreenSection::answers);
  if (judged && screen.neighbours) above.push_back(neighbours_text(findings, names));
  if (judged) above.push_back(answers_heading(findings, screen.heading, names));
  if (screen.has(ScreenSection::graph)) above.push_back(graph_sentence(findings, names));
  std::vector<std::string> what_ifs;
  for (const FoundWhatIf& what_if : findings.what_ifs)
    what_ifs.push_back(what_if_text(findings, what_if, names));
  return {{"progress", findings.progress.empty()
                           ? ""
                           : text(progress_text(findings.progress.front(), findings.window_s, names))},
          {"above", sentences(above)},
          {"list", array_of(screen.answers,
                            [&](const ShownAnswer& shown) {
                              return answer_json(findings, findings.answers[shown.answer],
                                                 curves[shown.answer], names, stacks);
                            })},
          {"others", screen.others ? text(others_text(*screen.others)) : ""},
          {"what_ifs", sentences(what_ifs)}};
}

Json knots_json(const Findings& findings, const Screen& screen, const ActorNames& names) {
  return array_of(screen.knots, [&](const ShownKnot& shown) -> Json {
    const FoundKnot& knot = findings.knots[shown.knot];
    return {{"knot", shown.knot},
            {"names", array_of(knot.actors, [&](FoundActorId actor) { return text(names.brief(actor)); })},
            {"actors", knot.actors},
            {"explains", or_null(shown.explains)},
            {"title", text(pattern_title(knot))},
            {"evidence", text(evidence(findings, knot, names))},
            {"advice", text(advice(knot.pattern))}};
  });
}

Json sinks_json(const Findings& findings, const ActorNames& names, StackTable& stacks) {
  constexpr std::size_t kServices = 3;
  Json out = Json::array();
  for (const FoundSink& sink : findings.sinks) {
    if (!sink.limits()) continue;
    const std::vector<FunctionPlace>& places = sink.samples.places;
    out.push_back({{"actor", sink.actor},
                   {"name", text(names.full(findings, sink.actor))},
                   {"saturated", sink.saturated},
                   {"text", text(sink_text(findings, sink, kServices))},
                   {"evidence", text(evidence(sink))},
                   {"advice", text(advice(sink))},
                   {"stack", places.empty() ? 0 : stacks.number_of(places.front().stack)}});
  }
  return out;
}

Json disks_json(const Findings& findings, const Screen& screen, const ActorNames& names) {
  constexpr std::size_t kFiles = 4;
  return array_of(screen.disks, [&](const ShownDisk& shown) -> Json {
    const FoundDisk& disk = findings.disks[shown.disk];
    return {{"actor", disk.actor},
            {"name", text(names.brief(disk.actor) + names.disks_below(findings.actors[disk.actor]))},
            {"facts", sentences({busy_text(findings, disk), requests_text(disk), rate_text(disk),
                                 capacity_text(findings, disk), unseen_text(disk),
                                 disk_files_text(disk, names, kFiles),
                                 shown.mismatch ? mismatch_text(*disk.check) : ""})}};
  });
}

/// What the text report says in these sections, in its order.
std::vector<std::string> section_notes(const Findings& findings, ScreenSection section,
                                       const ActorNames& names) {
  constexpr std::size_t kMost = 3;
  const Totals& totals = findings.totals;
  std::vector<std::string> out;
  switch (section) {
    case ScreenSection::losses:
      return {losses_text(findings, names)};
    case ScreenSection::stopped:
      return {fmt::format("{}: {}", format_seconds(totals.stopped_s + totals.frozen_s), why_stopped(totals))};
    case ScreenSection::runnable:
      return {runnable_text(findings, names, kMost)};
    case ScreenSection::nics:
      for (const FoundNic& nic : findings.nics) {
        out.push_back(fmt::format("{}: {}, {}, {}", names.brief(nic.actor),
                                  direction_text("received", nic.received, findings.window_s),
                                  direction_text("sent", nic.sent, findings.window_s), capacity_text(nic)));
      }
      return out;
    case ScreenSection::false_wakeups:
      return {fmt::format("False wakeups: {}", false_wakeups_text(findings.false_wakeups, names, kMost))};
    case ScreenSection::wrong_stacks:
      return {wrong_stacks_text(findings.recording.stack_reuse)};
    case ScreenSection::stack_ends:
      return {stack_ends_text(findings.stack_ends)};
    case ScreenSection::cost:
      return {cost_text(findings.recording, false)};
    default:  // the page has a place of its own for the others
      return {};
  }
}

Json notes_json(const Findings& findings, const Screen& screen, const ActorNames& names) {
  std::vector<std::string> out;
  if (screen.has(ScreenSection::memory)) out.push_back(memory_text(*findings.memory, names));
  out.push_back(cpu_supply_text(findings, names));
  for (const FoundRuntime& found : findings.runtimes) out.push_back(runtime_text(found));
  for (const ScreenSection section : screen.sections) {
    for (std::string& note : section_notes(findings, section, names)) out.push_back(std::move(note));
  }
  return sentences(out);
}

Json actor_json(const Findings& findings, FoundActorId id, const ActorNames& names) {
  const FoundActor& actor = findings.actors[id];
  return {{"name", text(names.brief(id))},
          {"full", text(names.full(findings, id))},
          {"kind", to_string(actor.kind)},
          {"outside", actor.outside},
          {"members", actor.members()},
          {"running_s", seconds(actor.time.running_s)},
          {"runnable_s", seconds(actor.time.runnable_s)},
          {"blocked_s", seconds(actor.time.blocked_s)},
          {"unknown_s", seconds(actor.time.unknown_s)}};
}

constexpr std::size_t kMostTableRows = 100;
constexpr std::size_t kMostStackSums = 8000;

template <class Rows, class ToJson>
Json first_rows(const Rows& rows, ToJson to_json_row) {
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(kMostTableRows, rows.size()); ++i) out.push_back(to_json_row(rows[i]));
  return out;
}

Json tables_json(const Findings& findings, const ActorNames& names, StackTable& stacks) {
  constexpr std::size_t kWaiters = 3;
  const Views& views = findings.views;
  return {{"locks", first_rows(views.locks.rows,
                               [&](const FoundLockRow& row) -> Json {
                                 return {
                                     {"name", text(lock_title(row.name))},
                                     {"waits", row.waits},
                                     {"wait_s", seconds(row.wait_s)},
                                     {"longest_s", seconds(row.longest_s)},
                                     {"holder", text(holder_text(row, names))},
                                     {"stack",
                                      row.places.empty() ? 0 : stacks.number_of(row.places.front().stack)}};
                               })},
          {"files", first_rows(views.files.rows,
                               [&](const FoundFile& row) -> Json {
                                 return {{"name", text(file_text(row.name))},
                                         {"waits", row.waits},
                                         {"wait_s", seconds(row.wait_s)},
                                         {"longest_s", seconds(row.longest_s)},
                                         {"ios", row.ios},
                                         {"bytes", row.bytes},
                                         {"calls", text(calls_text(row))},
                                         {"waiters", text(waiters_text(row, names, kWaiters))},
                                         {"stack", stacks.number_of(row.stack)}};
                               })},
          {"functions", first_rows(views.functions.rows, [&](const FoundFunction& row) -> Json {
             return {{"name", text(to_string(row.function))}, {"place", text(place_text(row))},
                     {"cpu_s", seconds(row.self.cpu_s)},      {"io_s", seconds(row.self.io_s)},
                     {"lock_s", seconds(row.self.lock_s)},    {"runnable_s", seconds(row.self.runnable_s)},
                     {"other_s", seconds(row.self.other_s)},  {"self_s", seconds(row.self.total_s())},
                     {"all_s", seconds(row.all.total_s())}};
           })}};
}

/// Sums of the target's waits, by who waited where, and who ended it where.
struct StackKey {
  FoundActorId actor = 0;
  std::uint32_t stack = 0;
  FoundActorId waker = 0;
  std::uint32_t waker_stack = 0;
  bool holds_up = false;
  friend auto operator<=>(const StackKey&, const StackKey&) = default;
};
struct StackTimes {
  double weight_s = 0;
  double wait_s = 0;
};

/// `[actor, stack, waker, its stack, weight, wait, 1 if it holds something up]`. Seconds of a group are of
/// all its threads. All but the longest kMostStackSums have no stacks.
Json stack_sums_json(const Findings& findings, StackTable& stacks) {
  const std::vector<bool> holds_up = edges_that_hold_up(findings);
  std::map<StackKey, StackTimes> sums;
  const auto add = [](StackTimes& sum, const StackTimes& more) {
    sum.weight_s += more.weight_s;
    sum.wait_s += more.wait_s;
  };
  std::vector<std::pair<const FoundStack*, FoundEdgeId>> all;
  for (FoundEdgeId id = 0; id < findings.edges.size(); ++id) {
    const FoundEdge& edge = findings.edges[id];
    if (edge.idle || findings.actors[edge.from].outside) continue;
    for (const FoundStack& stack : edge.stacks) all.emplace_back(&stack, id);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::max(a.first->weight_s, a.first->wait_s) > std::max(b.first->weight_s, b.first->wait_s);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [stack, id] = all[i];
    const FoundEdge& edge = findings.edges[id];
    const auto members = static_cast<double>(findings.actors[edge.from].members());
    const bool has_room = i < kMostStackSums;
    const StackKey key{edge.from, has_room ? stacks.number_of(stack->wait_stack) : 0, edge.to,
                       has_room ? stacks.number_of(stack->waker_stack) : 0, holds_up[id]};
    add(sums[key], {stack->weight_s * members, stack->wait_s * members});
  }
  Json out = Json::array();
  for (const auto& [key, sum] : sums) {
    out.push_back({key.actor, key.stack, key.waker, key.waker_stack, rounded(sum.weight_s),
                   rounded(sum.wait_s), key.holds_up ? 1 : 0});
  }
  return out;
}

}  // namespace

Json findings_json(const Findings& findings, const Curves& curves, const ActorNames& names,
                   StackTable& stacks) {
  const Screen screen = screen_of(findings);
  Json actors = Json::array();
  for (FoundActorId id = 0; id < findings.actors.size(); ++id)
    actors.push_back(actor_json(findings, id, names));
  return {{"recording", recording_json(findings)},
          {"answers", answers_json(findings, screen, curves, names, stacks)},
          {"knots", knots_json(findings, screen, names)},
          {"sinks", sinks_json(findings, names, stacks)},
          {"disks", disks_json(findings, screen, names)},
          {"notes", notes_json(findings, screen, names)},
          {"actors", std::move(actors)},
          {"tables", tables_json(findings, names, stacks)},
          {"stack_sums", stack_sums_json(findings, stacks)}};
}

}  // namespace offwait::html
