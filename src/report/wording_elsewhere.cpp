// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/wording.h"

namespace offwait {

namespace {

/// A timed sleep may be a brake on behalf of somebody else (a write stall): which sink is saturated
/// meanwhile?
std::string saturated_meanwhile(const Report& report, const ActorNames& names) {
  constexpr std::size_t kMostNamed = 3;
  std::string out;
  std::size_t named = 0;
  for (const ReportSink& sink : report.sinks) {
    if (sink.saturated && named++ < kMostNamed) {
      out += fmt::format("{}{} (busy {} of the window)", out.empty() ? " Saturated meanwhile: " : ", ",
                         names.brief(sink.actor), format_percent(sink.busy_s, report.window_s));
    }
  }
  return out.empty() ? "" : out + ".";
}

std::string is_background(const Report& report, ReportActorId actor, const ActorNames& names) {
  const auto sink = std::find_if(report.sinks.begin(), report.sinks.end(),
                                 [actor](const ReportSink& candidate) { return candidate.actor == actor; });
  if (sink == report.sinks.end()) {
    return fmt::format("{} is background: its knot uses little CPU and no disk.", names.brief(actor));
  }
  return fmt::format("In no knot: {} is busy only {} of the window, so it does not limit.",
                     names.brief(actor), format_percent(sink->busy_s, report.window_s));
}

std::string leads_to_sink(const ReportSink& sink, const std::string& waiter, const ActorNames& names) {
  if (sink.limit == SinkLimit::remote_service) {
    return fmt::format(
        "{} waits for a service outside of this host, directly or not, whose answers come through {}.",
        waiter, names.brief(sink.actor));
  }
  return fmt::format("{} waits for {}, directly or not, which {}.", waiter, names.brief(sink.actor),
                     sink.saturated ? "is saturated" : "runs or sleeps all the time");
}

std::string leads_in(const Report& report, const ReportElsewhere& elsewhere, const ActorNames& names) {
  const std::string& waiter = names.brief(report.edges[elsewhere.edge].from);
  if (elsewhere.sink) {
    return leads_to_sink(report.sinks[*elsewhere.sink], waiter, names);
  }
  const std::string knot =
      report.knots.size() == 1 ? "the knot" : fmt::format("knot {}", elsewhere.knot.value_or(0) + 1);
  return fmt::format("Not in a knot: {} waits for {}, but {}.", waiter, knot,
                     elsewhere.waited_for ? "what waits for it there is too short to count"
                                          : fmt::format("nothing there waits for {}", waiter));
}

}  // namespace

std::string elsewhere_sentence(const Report& report, const ReportElsewhere& elsewhere,
                               const ActorNames& names) {
  const ReportEdge& edge = report.edges[elsewhere.edge];
  switch (elsewhere.reason) {
    case ReportElsewhere::Reason::leads_in:
      return leads_in(report, elsewhere, names);
    case ReportElsewhere::Reason::to_pseudo:
      return report.actors[edge.to].kind == ActorKind::timer
                 ? "In no knot: it waits for a time, not for somebody." + saturated_meanwhile(report, names)
                 : "In no knot: woken by an interrupt; who caused it is not known.";
    case ReportElsewhere::Reason::requests:
      return "In no knot: it waits for requests from outside of the target.";
    case ReportElsewhere::Reason::saturated:
      return fmt::format(
          "In no knot: {} runs nearly all the time besides, so what it executes limits, not this wait.",
          names.brief(edge.from));
    case ReportElsewhere::Reason::apart:
      return "Not the target's: nothing in the target waits for it.";
    case ReportElsewhere::Reason::light:
      return fmt::format("Dropped from its knot in step {} (--explain): the other waits there weigh more.",
                         elsewhere.step.value_or(0) + 1);
    case ReportElsewhere::Reason::background:
      return is_background(report, elsewhere.background.value_or(edge.to), names);
    case ReportElsewhere::Reason::noise:
      return "Under the noise floor.";
    case ReportElsewhere::Reason::no_answer:
      break;
  }
  return "Leads to no knot and to no sink that limits.";
}

}  // namespace offwait
