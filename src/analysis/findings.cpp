// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/findings.h"

#include <numeric>

namespace offwait {

std::string_view to_string(ReportVerdict::Kind kind) {
  switch (kind) {
    case ReportVerdict::Kind::knot:
      return "knot";
    case ReportVerdict::Kind::sink:
      return "sink";
    case ReportVerdict::Kind::background:
      return "background";
    case ReportVerdict::Kind::cpu:
      return "cpu";
    case ReportVerdict::Kind::idle:
      return "idle";
    case ReportVerdict::Kind::none:
      return "none";
  }
  return "";
}

std::string_view to_string(ReportStep::Reason reason) {
  switch (reason) {
    case ReportStep::Reason::noise:
      return "noise";
    case ReportStep::Reason::to_pseudo:
      return "to-pseudo";
    case ReportStep::Reason::requests:
      return "requests";
    case ReportStep::Reason::saturated:
      return "saturated";
    case ReportStep::Reason::apart:
      return "apart";
    case ReportStep::Reason::light:
      return "light";
    case ReportStep::Reason::background_sink:
      return "background-sink";
    case ReportStep::Reason::background_knot:
      return "background-knot";
    case ReportStep::Reason::kept:
      return "kept";
  }
  return "";
}

std::string_view to_string(ReportElsewhere::Reason reason) {
  switch (reason) {
    case ReportElsewhere::Reason::leads_in:
      return "leads-in";
    case ReportElsewhere::Reason::to_pseudo:
      return "to-pseudo";
    case ReportElsewhere::Reason::requests:
      return "requests";
    case ReportElsewhere::Reason::saturated:
      return "saturated";
    case ReportElsewhere::Reason::apart:
      return "apart";
    case ReportElsewhere::Reason::light:
      return "light";
    case ReportElsewhere::Reason::background:
      return "background";
    case ReportElsewhere::Reason::noise:
      return "noise";
    case ReportElsewhere::Reason::no_answer:
      return "no-answer";
  }
  return "";
}

std::optional<double> machine_busy(const Report& report) {
  const auto busy = static_cast<double>(report.recording.cpu_busy_ns);
  const double all = busy + static_cast<double>(report.recording.cpu_idle_ns);
  return all > 0 ? std::optional(busy / all) : std::nullopt;
}

std::uint64_t total_lost(const Report& report) {
  return std::accumulate(report.loss.begin(), report.loss.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& counter) { return sum + counter.second; });
}

}  // namespace offwait
