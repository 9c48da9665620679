// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/elsewhere.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "report/names.h"
#include "report/quantity.h"

namespace offwait {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// Where each actor stands to the answers: knots (by index), then sinks (knots + index).
struct Standing {
  std::vector<std::uint32_t> leads_to;    ///< an answer that it waits for, directly or not, by edges that
                                          ///< count; or that it is part of
  std::vector<std::uint32_t> waited_for;  ///< an answer that waits for it in any way, or that it is part of
};

bool is_answer(const Report& report, const ReportKnot& knot) {
  return !knot.background || report.verdict.kind == ReportVerdict::Kind::background;
}

/// Gives every vertex that can be reached the label of one it is reached from.
void spread(const std::vector<std::vector<std::uint32_t>>& next, std::vector<std::uint32_t>& labels) {
  std::deque<std::uint32_t> pending;
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != kNone) {
      pending.push_back(i);
    }
  }
  for (; !pending.empty(); pending.pop_front()) {
    for (const std::uint32_t neighbour : next[pending.front()]) {
      if (labels[neighbour] == kNone) {
        labels[neighbour] = labels[pending.front()];
        pending.push_back(neighbour);
      }
    }
  }
}

Standing standing_of(const Report& report, const std::vector<std::uint32_t>& removed_in) {
  const std::size_t actors = report.actors.size();
  std::vector<std::uint32_t> part_of(actors, kNone);
  for (std::uint32_t i = 0; i < report.knots.size(); ++i) {
    for (const ReportActorId actor : report.knots[i].actors) {
      part_of[actor] = is_answer(report, report.knots[i]) ? i : kNone;
    }
  }
  for (std::uint32_t i = 0; i < report.sinks.size(); ++i) {
    if (report.sinks[i].limits()) {
      part_of[report.sinks[i].actor] = static_cast<std::uint32_t>(report.knots.size()) + i;
    }
  }
  std::vector<std::vector<std::uint32_t>> in(actors);
  std::vector<std::vector<std::uint32_t>> out(actors);
  for (ReportEdgeId id = 0; id < report.edges.size(); ++id) {
    const ReportEdge& edge = report.edges[id];
    out[edge.from].push_back(edge.to);
    if (removed_in[id] == kNone) {
      in[edge.to].push_back(edge.from);
    }
  }
  Standing standing{part_of, part_of};
  spread(in, standing.leads_to);
  spread(out, standing.waited_for);
  return standing;
}

std::string is_background(const Report& report, ReportActorId actor, const ActorNames& names) {
  for (const ReportSink& sink : report.sinks) {
    if (sink.actor == actor) {
      return "In no knot: " + names.brief(actor) + " is busy only " +
             format_percent(sink.busy_s, report.window_s) + " of the window, so it does not limit.";
    }
  }
  return names.brief(actor) + " is background: its knot uses little CPU and no disk.";
}

/// A timed sleep may be a brake on somebody else's behalf (a write stall): who is at the end of its powers?
std::string saturated_meanwhile(const Report& report, const ActorNames& names) {
  std::string out;
  std::size_t named = 0;
  for (const ReportSink& sink : report.sinks) {
    if (sink.saturated && named++ < 3) {
      out += (out.empty() ? " Saturated meanwhile: " : ", ") + names.brief(sink.actor) + " (busy " +
             format_percent(sink.busy_s, report.window_s) + " of the window)";
    }
  }
  return out.empty() ? "" : out + ".";
}

ReportElsewhere set_aside(const Report& report, ReportEdgeId edge, std::uint32_t step,
                          const ActorNames& names) {
  switch (report.refinement[step].reason) {
    case ReportStep::Reason::to_pseudo:
      return {edge, ReportElsewhere::Reason::to_pseudo,
              report.actors[report.edges[edge].to].kind == ActorKind::timer
                  ? "In no knot: it waits for a time, not for somebody." + saturated_meanwhile(report, names)
                  : std::string("In no knot: woken by an interrupt; who caused it is not known.")};
    case ReportStep::Reason::requests:
      return {edge, ReportElsewhere::Reason::requests,
              "In no knot: it waits for requests from outside of the target."};
    case ReportStep::Reason::saturated:
      return {edge, ReportElsewhere::Reason::saturated,
              "In no knot: " + names.brief(report.edges[edge].from) +
                  " runs nearly all the time besides, so what it executes limits, not this wait."};
    case ReportStep::Reason::apart:
      return {edge, ReportElsewhere::Reason::apart, "Not the target's: nothing in the target waits for it."};
    case ReportStep::Reason::light:
      return {edge, ReportElsewhere::Reason::light,
              "Dropped from its knot in step " + std::to_string(step + 1) +
                  " (--explain): the other waits there weigh more."};
    default:
      return {edge, ReportElsewhere::Reason::noise, "Under the noise floor."};
  }
}

std::string leads_in(const Report& report, const std::string& waiter, std::uint32_t answer, bool waited_for,
                     const ActorNames& names) {
  const bool knot = answer < report.knots.size();
  const std::string end = !knot ? names.brief(report.sinks[answer - report.knots.size()].actor)
                          : report.knots.size() == 1 ? std::string("the knot")
                                                     : "knot " + std::to_string(answer + 1);
  if (!knot && report.sinks[answer - report.knots.size()].limit == "remote-service") {
    return waiter +
           " waits for a service outside of this host, directly or not, whose answers come through " + end +
           ".";
  }
  if (!knot) {
    return waiter + " waits for " + end + ", directly or not, which " +
           (report.sinks[answer - report.knots.size()].saturated ? "is saturated."
                                                                 : "runs or sleeps all the time.");
  }
  return "Not in a knot: " + waiter + " waits for " + end + ", but " +
         (waited_for ? "what waits for it there is too short to count."
                     : "nothing there waits for " + waiter + ".");
}

}  // namespace

std::vector<ReportElsewhere> long_waits_elsewhere(const Report& report) {
  std::vector<ReportElsewhere> out;
  std::vector<bool> in_answer(report.edges.size(), false);
  std::vector<bool> background(report.actors.size(), false);
  for (const ReportKnot& knot : report.knots) {
    for (const ReportEdgeId edge : knot.edges) {
      in_answer[edge] = in_answer[edge] || is_answer(report, knot);
    }
    for (const ReportActorId actor : knot.actors) {
      background[actor] = !is_answer(report, knot);
    }
  }
  for (const ReportSink& sink : report.sinks) {
    background[sink.actor] = !sink.limits();
  }
  std::vector<std::uint32_t> removed_in(report.edges.size(), kNone);
  for (std::uint32_t i = 0; i < report.refinement.size(); ++i) {
    if (report.refinement[i].edge && report.refinement[i].reason != ReportStep::Reason::kept) {
      removed_in[*report.refinement[i].edge] = i;
    }
  }
  const Standing where = standing_of(report, removed_in);
  const ActorNames names(report);
  for (ReportEdgeId id = 0; id < report.edges.size(); ++id) {
    const ReportEdge& edge = report.edges[id];
    if (in_answer[id] || edge.idle || edge.waits == 0 || edge.wait_s < report.options.noise_s) {
      continue;
    }
    using Reason = ReportElsewhere::Reason;
    const std::string& from = names.brief(edge.from);
    if (const std::uint32_t step = removed_in[id]; step != kNone) {
      out.push_back(set_aside(report, id, step, names));
    } else if (background[edge.from] || background[edge.to]) {
      out.push_back(
          {id, Reason::background, is_background(report, background[edge.to] ? edge.to : edge.from, names)});
    } else if (const std::uint32_t answer = where.leads_to[edge.from]; answer != kNone) {
      out.push_back({id, Reason::leads_in,
                     leads_in(report, from, answer, where.waited_for[edge.from] != kNone, names)});
    } else {
      out.push_back({id, Reason::no_answer, "Leads to no knot and to no sink that limits."});
    }
  }
  std::stable_sort(out.begin(), out.end(), [&](const ReportElsewhere& a, const ReportElsewhere& b) {
    const ReportEdge& left = report.edges[a.edge];
    const ReportEdge& right = report.edges[b.edge];
    return std::tuple(report.actors[left.from].outside, -left.wait_s) <
           std::tuple(report.actors[right.from].outside, -right.wait_s);
  });
  return out;
}

}  // namespace offwait
