// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_diff.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "model/outline.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_answers.h"
#include "report/wording_gains.h"

namespace offwait {

namespace {

using RowChange = ComparedAmount::Change;
using ComparedRecording = ComparedSide::Recording;

std::string joined(const std::vector<std::string>& texts, std::size_t most = 4) {
  const std::size_t shown = std::min(texts.size(), most);
  std::string out =
      fmt::format("{}", fmt::join(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (texts.size() > shown) out += fmt::format(" and {} more", texts.size() - shown);
  return out;
}

/// `3 recordings`
std::string recordings(std::size_t count) { return format_plural(count, "recording"); }

/// The different values that recordings have, in order of the first.
template <class ValueOf>
std::vector<std::string> different(const ComparedSide& side, ValueOf value_of) {
  std::vector<std::string> out;
  for (const ComparedRecording& one : side.recordings) {
    const std::string value = value_of(one.findings);
    if (!value.empty() && std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
  }
  return out;
}

/// `pid 12 (server)` → `server`; other targets as they are.
std::string target_name(const Findings& findings) {
  const std::string& target = findings.recording.target;
  const std::size_t open = target.find('(');
  const bool has_pid = target.starts_with("pid ") || target.starts_with("tid ");
  return has_pid && open != std::string::npos && target.ends_with(')')
             ? target.substr(open + 1, target.size() - open - 2)
             : target;
}

std::string unit_noun(ComparedUnit::Kind kind) {
  switch (kind) {
    case ComparedUnit::Kind::answer:
      return "responses/s";
    case ComparedUnit::Kind::call:
      return "calls/s";
    case ComparedUnit::Kind::run:
      return "runs/s";
    case ComparedUnit::Kind::second:
      break;
  }
  return "";
}

/// `1,762`, `0.15`
std::string number(double value) {
  return value >= 99.5 ? format_count(static_cast<std::uint64_t>(std::llround(value))) : format_ratio(value);
}

std::string rate_text(double per_s, const ComparedUnit& unit) {
  return unit.kind == ComparedUnit::Kind::run ? fmt::format("a run takes {}", format_seconds(1 / per_s))
                                              : fmt::format("{} {}", number(per_s), unit_noun(unit.kind));
}

/// What one recording says first, in two parts: recordings of a side differ in the second.
std::pair<std::string, std::string> first_answer(const Findings& findings, const WrittenName& written) {
  const ActorNames names(findings, written);
  if (findings.progress.empty()) return {verdict_sentence(findings, names), ""};
  if (const std::string why = too_short_text(findings, names); !why.empty()) return {why, ""};
  const AnswersHeading heading = heading_of(findings);
  if (findings.answers.empty() || heading.what == AnswersHeading::What::unanswered) {
    return {answers_heading(findings, heading, names), ""};
  }
  const FoundAnswer& answer = findings.answers.front();
  return {change_text(answer, names), marked_gain_text(answer)};
}

/// The largest change of a list of rows, which are in order.
template <class Row>
const Row* first_changed(const std::vector<Row>& rows) {
  return !rows.empty() && rows.front().changed() ? &rows.front() : nullptr;
}

std::string verb(const ComparedAmount& amount) { return std::string(to_string(amount.change)); }

/// `shrank, from 5.12 ms to 2.00 ms per answer`; `is gone: it was 5.12 ms per answer`
std::string from_to(const ComparedAmount& amount, const ComparedUnit& unit) {
  if (amount.change == ComparedAmount::Change::went) {
    return fmt::format("is gone: it was {} {}", format_seconds(amount.before), per_unit(unit));
  }
  if (amount.change == ComparedAmount::Change::came) {
    return fmt::format("is new: {} {}", format_seconds(amount.after), per_unit(unit));
  }
  return fmt::format("{}, from {} to {} {}", verb(amount), format_seconds(amount.before),
                     format_seconds(amount.after), per_unit(unit));
}

/// `has fewer waits, 1,671 in place of 77,171 per second`
std::string in_place_of(const ComparedAmount& waits, const ComparedUnit& unit) {
  return fmt::format("has {} waits, {} in place of {} {}", waits.difference() < 0 ? "fewer" : "more",
                     number(waits.after), number(waits.before), per_unit(unit));
}

/// `77,171 → 1,671 waits (-98%, ±8,030)`
std::string waits_text(const ComparedAmount& waits) {
  const std::string change =
      waits.changed() ? fmt::format(" ({}, ±{})", part_text(waits), number(waits.spread)) : "";
  return fmt::format("{} → {} waits{}", number(waits.before), number(waits.after), change);
}

/// Whether `part` changed in the same direction as `whole`, by at least half as much.
bool is_most_of(const ComparedAmount& part, const ComparedAmount& whole) {
  return part.changed() && whole.difference() * part.difference() > 0 &&
         std::abs(part.difference()) >= 0.5 * std::abs(whole.difference());
}

/// `the lock of LRUCacheShard::Lookup`, `the lock LOCK_open+0x8 (mariadbd)`
std::string the_lock(const LockKey& key) {
  return (key.function.empty() ? "the lock " : "the ") + lock_text(key);
}

/// How a headline begins that names this change.
std::string_view largest(const ComparedAmount& amount, const Comparison& comparison) {
  if (!explains(amount, comparison.throughput)) return "The largest change";
  return amount.difference() < 0 ? "The largest saving" : "The largest cost";
}

std::string edge_headline(const Comparison& comparison, const ComparedEdge& edge, const ComparedLock* lock) {
  const ComparedUnit& unit = comparison.unit;
  // Locks are taken by threads: a device's edge has none.
  const bool may_be_lock = lock != nullptr && edge.from.kind == edge.to.kind;
  if (edge.weight.changed()) {
    std::string out = fmt::format("{}, by weight: {} {}.", largest(edge.weight, comparison), edge_text(edge),
                                  from_to(edge.weight, unit));
    if (may_be_lock && is_most_of(lock->wait, edge.wait))
      out += fmt::format(" With it, {} {}.", the_lock(lock->key), from_to(lock->wait, unit));
    return out;
  }
  std::string out = fmt::format("The largest change: {} {}, which took as long within the spread.",
                                edge_text(edge), in_place_of(edge.waits, unit));
  if (may_be_lock && is_most_of(lock->waits, edge.waits))
    out += fmt::format(" With it, {} {}.", the_lock(lock->key), in_place_of(lock->waits, unit));
  return out;
}

std::string lock_headline(const Comparison& comparison, const ComparedLock& lock) {
  const std::string what =
      lock.wait.changed() ? from_to(lock.wait, comparison.unit) : in_place_of(lock.waits, comparison.unit);
  return fmt::format("{}: {} {}.", largest(lock.wait, comparison), the_lock(lock.key), what);
}

/// `Cache::lookup ← get`; empty if there are none.
std::string callers_of(const ComparedFunction& function) {
  std::vector<std::string> callers;
  for (const Frame& caller : function.callers)
    callers.push_back(caller.function.empty() ? to_string(caller) : outline(caller.function));
  return fmt::format("{}", fmt::join(callers, " ← "));
}

/// `epoll_wait, called from serve, shrank, from 3.00 ms to 2.00 ms per answer`
std::string function_change(const ComparedFunction& function, const ComparedUnit& unit) {
  const std::string callers = callers_of(function);
  return fmt::format("{}{} {}", to_string(function.function),
                     callers.empty() ? "" : fmt::format(", called from {},", callers),
                     from_to(function.time, unit));
}

/// `time waiting for a CPU shrank, from 414 µs to 210 µs per answer`
std::string time_change(const ComparedTime& time, const ComparedUnit& unit) {
  const std::string_view lead = time.kind == TimeKind::cpu     ? ""
                                : time.kind == TimeKind::other ? "in "
                                                               : "waiting ";
  return fmt::format("time {}{} {}", lead, time_text(time.kind), from_to(time.time, unit));
}

std::string time_headline(const Comparison& comparison, const ComparedTime& time,
                          const ComparedFunction* function) {
  std::string out =
      fmt::format("{}: {}.", largest(time.time, comparison), time_change(time, comparison.unit));
  if (function != nullptr && is_most_of(function->time, time.time))
    out += fmt::format(" With it, {}.", function_change(*function, comparison.unit));
  return out;
}

void add_difference(std::vector<std::string>& out, std::string_view what,
                    const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const auto differ = std::set<std::string>(before.begin(), before.end()) !=
                      std::set<std::string>(after.begin(), after.end());
  if (!before.empty() && !after.empty() && differ)
    out.push_back(fmt::format("{}: {} before, {} after.", what, joined(before), joined(after)));
}

void add_unit_caveat(std::vector<std::string>& out, const ComparedUnit& unit) {
  constexpr std::string_view kPerSecond =
      "so all amounts are per second: a side that does more also waits "
      "more often";
  switch (unit.reason) {
    case ComparedUnit::Reason::none:
      return;
    case ComparedUnit::Reason::not_counted:
      out.push_back(fmt::format("No recording counts progress, {}.", kPerSecond));
      return;
    case ComparedUnit::Reason::not_before:
      out.push_back(fmt::format("Progress is counted after, but not before, {}.", kPerSecond));
      return;
    case ComparedUnit::Reason::not_after:
      out.push_back(fmt::format("Progress is counted before, but not after, {}.", kPerSecond));
      return;
    case ComparedUnit::Reason::in_some:
      out.push_back(fmt::format("Progress is counted in some recordings only, {}.", kPerSecond));
      return;
    case ComparedUnit::Reason::different:
      out.push_back(fmt::format("The recordings count different kinds of progress, {}.", kPerSecond));
      return;
  }
}

void add_losses(std::vector<std::string>& out, const ComparedSide& side, std::string_view which) {
  for (const ComparedRecording& one : side.recordings) {
    const std::uint64_t lost = total_lost(one.findings);
    // Few lost records do not change an amount.
    constexpr std::uint64_t kMany = 100;
    if (lost * kMany > one.findings.totals.waits)
      out.push_back(fmt::format("{} {}, {} of {} records were lost: its amounts are too small.", one.file,
                                which, format_count(lost), format_count(lost + one.findings.totals.waits)));
  }
}

}  // namespace

std::string per_unit(const ComparedUnit& unit) {
  return unit.kind == ComparedUnit::Kind::call && !unit.functions.empty()
             ? fmt::format("per call of {}", joined(unit.functions))
             : fmt::format("per {}", to_string(unit.kind));
}

std::string end_text(const ComparedEnd& end) {
  if (end.kind == EndKey::Kind::thread) return end.name.empty() ? "[no name]" : end.name;
  return end.name.empty() ? std::string(to_string(end.kind))
                          : fmt::format("{} {}", to_string(end.kind), end.name);
}

std::string edge_text(const ComparedEdge& edge) {
  return fmt::format("{} → {}", end_text(edge.from), end_text(edge.to));
}

std::string lock_text(const LockKey& key) {
  const std::string process = key.process.empty() ? "" : " of " + key.process;
  if (!key.function.empty()) return "lock of " + key.function;
  const std::string name = key.variable.empty() ? key.module : key.variable;
  const std::string offset = key.offset != 0 ? fmt::format("+{:#x}", key.offset) : "";
  const std::string module =
      key.variable.empty() || key.module.empty() ? "" : fmt::format(" ({})", key.module);
  return name + offset + module + process;
}

std::string_view time_text(TimeKind kind) {
  switch (kind) {
    case TimeKind::cpu:
      return "on CPUs";
    case TimeKind::io:
      return "for disks";
    case TimeKind::lock:
      return "for locks";
    case TimeKind::runnable:
      return "for a CPU";
    case TimeKind::other:
      return "other waits";
  }
  return "other waits";
}

std::string knot_text(const ComparedKnot& knot) {
  std::vector<std::string> members;
  for (const ComparedEnd& end : knot.members) members.push_back(end_text(end));
  if (members.size() == 1) return members.front() + " ↺";
  return members.size() == 2 ? fmt::format("{} ⇄ {}", members[0], members[1]) : joined(members);
}

std::string change_text(const ComparedAmount& amount) {
  const double difference = amount.difference();
  return (difference < 0 ? "-" : "+") + format_seconds(std::abs(difference));
}

std::string part_text(const ComparedAmount& amount) {
  if (amount.change == RowChange::came || amount.change == RowChange::went) return verb(amount);
  if (amount.before <= 0) return "";
  const double ratio = amount.after / amount.before;
  constexpr double kManifold = 3;
  return ratio >= kManifold ? fmt::format("×{}", format_ratio(ratio))
                            : fmt::format("{:+.0f}%", 100 * (ratio - 1));
}

std::string side_text(const ComparedSide& side, const ComparedUnit& unit) {
  std::vector<std::string> fields;
  fields.push_back(joined(different(side, target_name), 2));
  std::vector<double> windows;
  double sum = 0;
  for (const ComparedRecording& one : side.recordings) sum += one.findings.window_s;
  const auto count = static_cast<double>(side.recordings.size());
  fields.push_back(side.recordings.size() == 1
                       ? fmt::format("{}, {}", side.recordings.front().file, format_seconds(sum))
                       : fmt::format("{} of {} on average", recordings(side.recordings.size()),
                                     format_seconds(sum / count)));
  if (unit.kind != ComparedUnit::Kind::second) {
    double rates = 0;
    for (const ComparedRecording& one : side.recordings) rates += one.units_per_s.value_or(0);
    if (rates > 0) fields.push_back(rate_text(rates / count, unit));
  }
  std::erase(fields, "");
  return fmt::format("{}", fmt::join(fields, " · "));
}

std::vector<std::string> verdict_texts(const ComparedSide& side, const WrittenName& written) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;
  for (const ComparedRecording& one : side.recordings) {
    const auto first = first_answer(one.findings, written);
    auto found = std::find_if(said.begin(), said.end(),
                              [&first](const auto& other) { return other.first == first.first; });
    if (found == said.end()) found = said.insert(said.end(), {first.first, {}});
    found->second.push_back(first.second);
  }
  std::stable_sort(said.begin(), said.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::vector<std::string> out;
  for (const auto& [what, amounts] : said) {
    std::string text = what;
    std::vector<std::string> known = amounts;
    std::erase(known, "");
    if (!known.empty()) {
      const bool is_gain = known.front().front() != '[';
      text += (is_gain ? ": " : " ") + joined(known, 10);
    }
    if (said.size() > 1)
      text += fmt::format(" ({} of {} recordings)", amounts.size(), side.recordings.size());
    out.push_back(std::move(text));
  }
  return out;
}

std::string throughput_text(const Comparison& comparison) {
  if (!comparison.throughput || !(comparison.throughput->before > 0)) return "";
  const ComparedAmount& amount = *comparison.throughput;
  const double ratio = amount.after / amount.before;
  std::string out = fmt::format("{} before, {} after: ×{}", rate_text(amount.before, comparison.unit),
                                rate_text(amount.after, comparison.unit), format_ratio(ratio));
  if (comparison.spread_within) return out;
  const std::string spread = format_ratio(amount.spread / amount.before);
  return out + (amount.changed() ? fmt::format(" (±{})", spread)
                                 : fmt::format(", within the spread (±{})", spread));
}

std::string headline(const Comparison& comparison) {
  const ComparedEdge* const edge = first_changed(comparison.edges);
  const ComparedLock* const lock = first_changed(comparison.locks);
  const ComparedFunction* const function = first_changed(comparison.functions);
  const ComparedTime* const time = first_changed(comparison.times);
  const auto explained = [&comparison](const ComparedAmount& amount) {
    return explains(amount, comparison.throughput);
  };
  const bool by_edge = edge != nullptr && explained(edge->weight);
  const bool by_lock = lock != nullptr && explained(lock->wait);
  const bool by_function = function != nullptr && explained(function->time);
  const bool by_time = time != nullptr && explained(time->time);
  const bool by_none = !by_edge && !by_lock && !by_function && !by_time;
  const bool lock_is_first =
      lock != nullptr && lock->wait.changed() && !(edge != nullptr && edge->weight.changed());
  if (by_edge || (by_none && edge != nullptr && !lock_is_first))
    return edge_headline(comparison, *edge, lock);
  if (by_lock || (by_none && lock != nullptr)) return lock_headline(comparison, *lock);
  // A fix that adds a CPU or a disk shortens waits of many functions, and each is only a part.
  const bool time_is_first =
      by_time && time->kind != TimeKind::cpu &&
      (!by_function || std::abs(time->time.difference()) >= std::abs(function->time.difference()));
  if (time_is_first) return time_headline(comparison, *time, function);
  const bool waits_changed =
      edge != nullptr || lock != nullptr ||
      std::any_of(comparison.times.begin(), comparison.times.end(),
                  [](const auto& row) { return row.kind != TimeKind::cpu && row.changed(); });
  const std::string_view lead = waits_changed ? "" : "No wait changed beyond the spread. ";
  if (by_function || (by_none && function != nullptr))
    return fmt::format("{}{}: {}.", lead, largest(function->time, comparison),
                       function_change(*function, comparison.unit));
  if (by_time || (by_none && time != nullptr))
    return fmt::format("{}{}", lead, time_headline(comparison, *time, nullptr));
  if (comparison.amounts == 0)
    return "There is nothing to compare: no wait and no code fills 1% of a window.";
  return "No change: all differences are within the spread.";
}

std::string rule_text(const Comparison& comparison) {
  const std::string common = fmt::format(
      "Changes smaller than their ± are noise, with 95% for all of {} together (Welch, Bonferroni)",
      format_plural(comparison.amounts, "amount"));
  const bool has_runs = comparison.unit.kind == ComparedUnit::Kind::run;
  if (comparison.spread_within)
    return fmt::format(
        "{}{}. By how much {} of one program differ is not known with one a side, and taken as {}: give "
        "three "
        "a side.",
        common, has_runs ? "" : fmt::format(", from {} pieces of each recording", kPieces),
        has_runs ? "runs" : "recordings", format_percent(kRunToRun, 1));
  return common + ", from how the recordings of a side differ.";
}

std::vector<std::string> caveats(const Comparison& comparison) {
  std::vector<std::string> out;
  const ComparedSide& before = comparison.before;
  const ComparedSide& after = comparison.after;
  std::vector<std::string> common;
  std::set_intersection(before.programs.begin(), before.programs.end(), after.programs.begin(),
                        after.programs.end(), std::back_inserter(common));
  if (common.empty() && !before.programs.empty() && !after.programs.empty())
    out.push_back(
        fmt::format("Different programs: {} before, {} after. Their threads match nowhere: whatever they do "
                    "came or went.",
                    joined(before.programs), joined(after.programs)));
  add_unit_caveat(out, comparison.unit);
  const auto kernel = [](const Findings& findings) { return findings.recording.kernel; };
  const auto cpus = [](const Findings& findings) {
    return findings.recording.cpus > 0 ? format_plural(findings.recording.cpus, "CPU") : "";
  };
  const auto samples = [](const Findings& findings) {
    return findings.recording.sample_hz > 0 ? "CPU samples" : "no CPU samples";
  };
  add_difference(out, "Different kernels", different(before, kernel), different(after, kernel));
  add_difference(out, "Different machines", different(before, cpus), different(after, cpus));
  add_difference(out, "Recorded differently", different(before, samples), different(after, samples));
  if (!comparison.named_in_some.empty())
    out.push_back(
        fmt::format("Functions of {} have names in some of the recordings only, and their time is that of "
                    "their callers in the others: changes of functions, and of locks known by one, are not "
                    "told.",
                    joined(comparison.named_in_some)));
  add_losses(out, before, "(before)");
  add_losses(out, after, "(after)");
  return out;
}

std::string edge_details(const ComparedEdge& edge) {
  std::vector<std::string> classes;
  for (const auto& [wait_class, share] : classes_by_time(edge.classes)) {
    constexpr double kWorthNaming = 0.05;
    if (share >= kWorthNaming) classes.emplace_back(to_string(wait_class));
  }
  return fmt::format("waited {} → {}, {}{}{}", format_seconds(edge.wait.before),
                     format_seconds(edge.wait.after), waits_text(edge.waits), classes.empty() ? "" : "; ",
                     joined(classes));
}

std::string lock_details(const ComparedLock& lock) {
  return fmt::format("{} by {}", waits_text(lock.waits), joined(lock.waiters, 3));
}

std::string function_details(const ComparedFunction& function) {
  std::vector<std::pair<double, std::string>> parts;
  for (std::size_t i = 0; i < kTimeKinds; ++i) {
    const double change = function.after[i] - function.before[i];
    constexpr double kWorthNaming = 0.1;
    if (std::abs(change) < kWorthNaming * std::abs(function.time.difference()) || change == 0) continue;
    parts.emplace_back(-std::abs(change),
                       fmt::format("{} {}{}", time_text(static_cast<TimeKind>(i)), change < 0 ? "-" : "+",
                                   format_seconds(std::abs(change))));
  }
  std::sort(parts.begin(), parts.end());
  std::vector<std::string> texts;
  for (auto& [size, text] : parts) texts.push_back(std::move(text));
  std::string out = joined(texts, kTimeKinds);
  if (const std::string callers = callers_of(function); !callers.empty())
    out += fmt::format("{}from {}", out.empty() ? "" : "; ", callers);
  return out;
}

std::string knot_details(const Comparison& comparison, const ComparedKnot& knot) {
  const auto in = [](std::size_t count, std::size_t all) {
    return count == 0 ? fmt::format("in none of {}", all) : fmt::format("in {} of {}", count, all);
  };
  return fmt::format("limits {} before and {} after", in(knot.before, comparison.before.recordings.size()),
                     in(knot.after, comparison.after.recordings.size()));
}

}  // namespace offwait
