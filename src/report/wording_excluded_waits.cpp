// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_disks.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

/// A timed sleep may be a brake on behalf of somebody else (a write stall): which sink is saturated
/// meanwhile?
std::string saturated_meanwhile(const Findings& findings, const ActorNames& names) {
  constexpr std::size_t kMostNamed = 3;
  std::string out;
  std::size_t named = 0;
  for (const FoundSink& sink : findings.sinks) {
    if (sink.saturated && named++ < kMostNamed) {
      out += fmt::format(
          "{}{} ({})", out.empty() ? " Saturated meanwhile: " : ", ", names.brief(sink.actor),
          sink_share(findings, sink) + (sink.limit == SinkLimit::capacity ? "" : " of the window"));
    }
  }
  return out.empty() ? "" : out + ".";
}

std::string is_background(const Findings& findings, FoundActorId actor, const ActorNames& names) {
  const auto sink = std::find_if(findings.sinks.begin(), findings.sinks.end(),
                                 [actor](const FoundSink& candidate) { return candidate.actor == actor; });
  if (sink == findings.sinks.end()) {
    return fmt::format("{} is background: its knot uses little CPU and no disk.", names.brief(actor));
  }
  if (sink->limit == SinkLimit::capacity) {
    const FoundDisk* const disk = disk_of(findings, actor);
    return fmt::format("In no knot: {} {}.", names.brief(actor),
                       disk != nullptr ? unsaturated_text(findings, *disk)
                                       : fmt::format("used only {} of its capacity, so it does not limit",
                                                     format_percent(sink->busy_s, findings.window_s)));
  }
  return fmt::format("In no knot: {} is busy only {} of the window, so it does not limit.",
                     names.brief(actor), format_percent(sink->busy_s, findings.window_s));
}

std::string leads_to_sink(const FoundSink& sink, const std::string& waiter, const ActorNames& names) {
  if (sink.limit == SinkLimit::remote_service) {
    return fmt::format(
        "{} waits for a service outside of this host, directly or not, whose answers come through {}.",
        waiter, names.brief(sink.actor));
  }
  return fmt::format("{} waits for {}, directly or not, which {}.", waiter, names.brief(sink.actor),
                     sink.saturated ? "is saturated" : "runs or sleeps all the time");
}

std::string leads_in(const Findings& findings, const ExcludedWait& excluded, const ActorNames& names) {
  const std::string& waiter = names.brief(findings.edges[excluded.edge].from);
  if (excluded.sink) {
    return leads_to_sink(findings.sinks[*excluded.sink], waiter, names);
  }
  const std::string knot =
      findings.knots.size() == 1 ? "the knot" : fmt::format("knot {}", excluded.knot.value_or(0) + 1);
  return fmt::format("Not in a knot: {} waits for {}, but {}.", waiter, knot,
                     excluded.waited_for ? "what waits for it there is too short to count"
                                         : fmt::format("nothing there waits for {}", waiter));
}

}  // namespace

std::string excluded_wait_sentence(const Findings& findings, const ExcludedWait& excluded,
                                   const ActorNames& names) {
  const FoundEdge& edge = findings.edges[excluded.edge];
  switch (excluded.reason) {
    case ExcludedWait::Reason::leads_in:
      return leads_in(findings, excluded, names);
    case ExcludedWait::Reason::to_pseudo:
      return findings.actors[edge.to].kind == ActorKind::timer
                 ? "In no knot: it waits for a time, not for somebody." + saturated_meanwhile(findings, names)
                 : "In no knot: woken by an interrupt; who caused it is not known.";
    case ExcludedWait::Reason::requests:
      return "In no knot: it waits for requests from outside of the target.";
    case ExcludedWait::Reason::saturated:
      return fmt::format(
          "In no knot: {} runs nearly all the time besides, so what it executes limits, not this wait.",
          names.brief(edge.from));
    case ExcludedWait::Reason::apart:
      return "Not the target's: nothing in the target waits for it.";
    case ExcludedWait::Reason::light:
      return fmt::format("Dropped from its knot in step {} (--explain): the other waits there weigh more.",
                         excluded.step.value_or(0) + 1);
    case ExcludedWait::Reason::background:
      return is_background(findings, excluded.background.value_or(edge.to), names);
    case ExcludedWait::Reason::noise:
      return "Under the noise floor.";
    case ExcludedWait::Reason::no_answer:
      break;
  }
  return "Leads to no knot and to no sink that limits.";
}

}  // namespace offwait
