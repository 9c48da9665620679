// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/curves.h"

#include <optional>

#include <fmt/format.h>

#include "analysis/options.h"
#include "analysis/screen.h"
#include "analysis/what_if_gains.h"
#include "replay/what_if.h"

namespace offwait::html {

namespace {

/// The part of the answer, as a question names it; nothing if none can.
std::optional<NamedChange> named(const Findings& findings, const FoundAnswer& answer) {
  NamedChange out;
  out.resource = answer.what;
  switch (answer.what) {
    case Resource::cpus:
      return out;
    case Resource::disk:
      if (!answer.device) return std::nullopt;
      out.disk = findings.actors[*answer.device].name;
      return out;
    case Resource::cpu:
    case Resource::sleep:
      // One of its threads stands for the group.
      if (answer.evidence.tid == 0 || answer.evidence.name.empty()) return std::nullopt;
      out.threads = fmt::format("{}/{}", answer.evidence.name, answer.evidence.tid);
      return out;
    case Resource::remote:
      if (!answer.service || answer.service->peers.empty()) return std::nullopt;
      out.service = to_string(answer.service->peers.front());
      return out;
    default:
      return std::nullopt;
  }
}

}  // namespace

Curves curves_of(const Findings& findings, const Trace& trace, const ProgressOptions& progress) {
  AnalysisOptions options;
  options.progress = progress;
  std::vector<std::size_t> answers;
  for (const ShownAnswer& shown : screen_of(findings).answers) {
    const FoundAnswer& answer = findings.answers[shown.answer];
    if (answer.certainty == Certainty::rough || answer.certainty == Certainty::split) continue;
    const std::optional<NamedChange> part = named(findings, answer);
    if (!part) continue;
    answers.push_back(shown.answer);
    for (const double factor : kCurveFactors) {
      NamedChange change = *part;
      change.factor = 1 / factor;
      if (factor != 2) options.what_ifs.push_back({"", {change}});
    }
  }
  Curves out(findings.answers.size());
  const std::vector<std::optional<Gain>> gains = what_if_gains(trace, options);
  std::size_t next = 0;
  for (const std::size_t answer : answers) {
    std::vector<Gain> curve;
    for (const double factor : kCurveFactors) {
      const std::optional<Gain> gain = factor == 2 ? findings.answers[answer] : gains[next++];
      if (gain && gain->certainty != Certainty::rough) curve.push_back(*gain);
    }
    if (curve.size() == kCurveFactors.size()) out[answer] = std::move(curve);
  }
  return out;
}

}  // namespace offwait::html
