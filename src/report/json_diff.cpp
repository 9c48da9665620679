// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>
#include <utility>

#include "report/diff.h"
#include "report/json_values.h"
#include "report/wording.h"
#include "report/wording_answers.h"
#include "report/wording_diff.h"

namespace offwait {

namespace {

Json values_json(const std::vector<double>& values, bool in_seconds) {
  return array_of(values,
                  [in_seconds](double value) { return in_seconds ? seconds(value) : rounded(value); });
}

Json amount_json(const ComparedAmount& amount, bool in_seconds = true) {
  const auto number = [in_seconds](double value) { return in_seconds ? seconds(value) : rounded(value); };
  return {{"before", number(amount.before)},
          {"after", number(amount.after)},
          {"difference", number(amount.difference())},
          {"spread", number(amount.spread)},
          {"change", to_string(amount.change)},
          {"each_before", values_json(amount.each_before, in_seconds)},
          {"each_after", values_json(amount.each_after, in_seconds)}};
}

Json end_json(const ComparedEnd& end) { return {{"kind", to_string(end.kind)}, {"name", text(end.name)}}; }

Json classes_json(const std::map<WaitClass, double>& classes) {
  Json out = Json::object();
  for (const auto& [wait_class, share] : classes) out[std::string(to_string(wait_class))] = rounded(share);
  return out;
}

Json edge_json(const ComparedEdge& edge) {
  return {{"from", end_json(edge.from)},
          {"to", end_json(edge.to)},
          {"weight", amount_json(edge.weight)},
          {"wait_before", seconds(edge.wait.before)},
          {"wait_after", seconds(edge.wait.after)},
          {"waits", amount_json(edge.waits, false)},
          {"classes", classes_json(edge.classes)},
          {"stack", frames(edge.stack)}};
}

Json lock_json(const ComparedLock& lock) {
  return {{"name", text(lock_text(lock.key))},       {"kernel", lock.key.kind == Object::Kind::kernel_lock},
          {"waiters", array_of(lock.waiters, text)}, {"wait", amount_json(lock.wait)},
          {"waits", amount_json(lock.waits, false)}, {"stack", frames(lock.stack)}};
}

Json kinds_json(const std::array<double, kTimeKinds>& times) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kTimeKinds; ++i)
    out[std::string(to_string(static_cast<TimeKind>(i)))] = seconds(times[i]);
  return out;
}

Json function_json(const ComparedFunction& row) {
  return {{"function", row.function.function.empty() ? Json(nullptr) : text(row.function.function)},
          {"module", text(row.function.module)},
          {"time", amount_json(row.time)},
          {"before", kinds_json(row.before)},
          {"after", kinds_json(row.after)},
          {"callers", array_of(row.callers, [](const Frame& caller) { return text(to_string(caller)); })}};
}

Json knot_json(const ComparedKnot& knot) {
  return {{"members", array_of(knot.members, end_json)},
          {"weight", amount_json(knot.weight)},
          {"limits_before", knot.before},
          {"limits_after", knot.after}};
}

Json answer_json(const Findings& findings, const ActorNames& names) {
  if (findings.answers.empty()) return nullptr;
  const FoundAnswer& answer = findings.answers.front();
  return {{"change", text(change_text(answer, names))},
          {"gain", rounded(answer.gain)},
          {"low", rounded_or_null(answer.low)},
          {"high", rounded_or_null(answer.high)},
          {"certainty", to_string(answer.certainty)}};
}

Json recording_json(const ComparedSide::Recording& recording) {
  const Findings& findings = recording.findings;
  const ActorNames names(findings, [](std::string_view name) { return escape(name); });
  return {
      {"file", text(recording.file)},
      {"target", text(findings.recording.target)},
      {"start_time", text(findings.recording.start_time)},
      {"window_s", seconds(findings.window_s)},
      {"kernel", text(findings.recording.kernel)},
      {"cpus", findings.recording.cpus},
      {"threads", findings.totals.threads},
      {"waits", findings.totals.waits},
      {"lost", total_lost(findings)},
      {"units_per_s", rounded_or_null(recording.units_per_s)},
      {"verdict",
       {{"kind", to_string(findings.verdict.kind())}, {"sentence", text(verdict_sentence(findings, names))}}},
      {"answer", answer_json(findings, names)}};
}

Json side_json(const ComparedSide& side) {
  return {{"recordings", array_of(side.recordings, recording_json)},
          {"programs", array_of(side.programs, text)}};
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json out = {
      {"schema", "offwait-diff/1"},
      {"before", side_json(comparison.before)},
      {"after", side_json(comparison.after)},
      {"unit",
       {{"per", to_string(comparison.unit.kind)}, {"functions", array_of(comparison.unit.functions, text)}}},
      {"throughput", comparison.throughput ? amount_json(*comparison.throughput, false) : Json(nullptr)},
      {"headline", text(headline(comparison))},
      {"caveats", array_of(caveats(comparison), text)},
      {"amounts", comparison.amounts},
      {"spread_from", comparison.spread_within ? "pieces" : "recordings"},
  };
  out["times"] = array_of(comparison.times, [](const ComparedTime& row) -> Json {
    return {{"kind", to_string(row.kind)}, {"time", amount_json(row.time)}};
  });
  out["edges"] = array_of(comparison.edges, edge_json);
  out["locks"] = array_of(comparison.locks, lock_json);
  out["functions"] = array_of(comparison.functions, function_json);
  out["knots"] = array_of(comparison.knots, knot_json);
  return out.dump(1).append("\n");
}

}  // namespace offwait
