// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/elsewhere.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

namespace offwait {

namespace {

using Reason = ReportElsewhere::Reason;

constexpr std::uint32_t kNone = UINT32_MAX;

/// How each actor is related to the answers, which are numbered: knots by index, then sinks.
struct Standing {
  std::vector<std::uint32_t> leads_to;    ///< an answer that it is part of, or waits for, directly or not, by
                                          ///< edges that count
  std::vector<std::uint32_t> waited_for;  ///< an answer that it is part of, or that waits for it in any way
};

bool is_answer(const Report& report, const ReportKnot& knot) {
  return !knot.background || report.verdict.kind() == ReportVerdict::Kind::background;
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

/// By edge: the step of the search that set it aside, or kNone.
std::vector<std::uint32_t> removals(const Report& report) {
  std::vector<std::uint32_t> removed_in(report.edges.size(), kNone);
  for (std::uint32_t i = 0; i < report.refinement.size(); ++i) {
    if (report.refinement[i].edge && report.refinement[i].reason != ReportStep::Reason::kept) {
      removed_in[*report.refinement[i].edge] = i;
    }
  }
  return removed_in;
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

/// By actor: it is part of a knot or a sink, but none that limits.
std::vector<bool> background_actors(const Report& report) {
  std::vector<bool> background(report.actors.size(), false);
  for (const ReportKnot& knot : report.knots) {
    for (const ReportActorId actor : knot.actors) {
      background[actor] = !is_answer(report, knot);
    }
  }
  for (const ReportSink& sink : report.sinks) {
    background[sink.actor] = !sink.limits();
  }
  return background;
}

std::vector<bool> edges_of_answers(const Report& report) {
  std::vector<bool> in_answer(report.edges.size(), false);
  for (const ReportKnot& knot : report.knots) {
    for (const ReportEdgeId edge : knot.edges) {
      in_answer[edge] = in_answer[edge] || is_answer(report, knot);
    }
  }
  return in_answer;
}

Reason reason_of(ReportStep::Reason step) {
  switch (step) {
    case ReportStep::Reason::to_pseudo:
      return Reason::to_pseudo;
    case ReportStep::Reason::requests:
      return Reason::requests;
    case ReportStep::Reason::always_running:
      return Reason::saturated;
    case ReportStep::Reason::apart:
      return Reason::apart;
    case ReportStep::Reason::light:
      return Reason::light;
    case ReportStep::Reason::noise:
    case ReportStep::Reason::background_sink:
    case ReportStep::Reason::background_knot:
    case ReportStep::Reason::kept:
      break;
  }
  return Reason::noise;
}

/// `answer`: as Standing numbers them.
ReportElsewhere leads_to(const Report& report, ReportEdgeId edge, std::size_t answer, bool waited_for) {
  ReportElsewhere out{edge, Reason::leads_in};
  if (answer < report.knots.size()) {
    out.knot = answer;
    out.waited_for = waited_for;
  } else {
    out.sink = answer - report.knots.size();
  }
  return out;
}

/// The target's first, each longest wait first.
void put_in_order(const Report& report, std::vector<ReportElsewhere>& all) {
  const auto key = [&report](const ReportElsewhere& one) {
    const ReportEdge& edge = report.edges[one.edge];
    return std::tuple(report.actors[edge.from].outside, -edge.wait_s);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&key](const ReportElsewhere& a, const ReportElsewhere& b) { return key(a) < key(b); });
}

}  // namespace

std::vector<ReportElsewhere> long_waits_elsewhere(const Report& report) {
  const std::vector<bool> in_answer = edges_of_answers(report);
  const std::vector<bool> background = background_actors(report);
  const std::vector<std::uint32_t> removed_in = removals(report);
  const Standing standing = standing_of(report, removed_in);
  std::vector<ReportElsewhere> out;
  for (ReportEdgeId id = 0; id < report.edges.size(); ++id) {
    const ReportEdge& edge = report.edges[id];
    if (in_answer[id] || edge.idle || edge.waits == 0 || edge.wait_s < report.options.noise_s) {
      continue;
    }
    if (const std::uint32_t step = removed_in[id]; step != kNone) {
      out.push_back({id, reason_of(report.refinement[step].reason), step});
    } else if (background[edge.from] || background[edge.to]) {
      out.push_back({id, Reason::background, std::nullopt, background[edge.to] ? edge.to : edge.from});
    } else if (const std::uint32_t answer = standing.leads_to[edge.from]; answer != kNone) {
      out.push_back(leads_to(report, id, answer, standing.waited_for[edge.from] != kNone));
    } else {
      out.push_back({id, Reason::no_answer});
    }
  }
  put_in_order(report, out);
  return out;
}

}  // namespace offwait
