// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/excluded_waits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

namespace offwait {

namespace {

using Reason = ExcludedWait::Reason;

constexpr std::uint32_t kUnset = UINT32_MAX;

/// How each actor is related to the answers. These are numbered: first the knots, then the sinks.
struct Standing {
  std::vector<std::uint32_t> leads_to;    ///< an answer that it is part of, or waits for, directly or not, by
                                          ///< edges that count
  std::vector<std::uint32_t> waited_for;  ///< an answer that it is part of, or that waits for it in any way
};

bool is_answer(const Findings& findings, const FoundKnot& knot) {
  return !knot.background || findings.verdict.kind() == Verdict::Kind::background;
}

/// Gives every vertex that can be reached the label of one it is reached from.
void spread(const std::vector<std::vector<std::uint32_t>>& next, std::vector<std::uint32_t>& labels) {
  std::deque<std::uint32_t> pending;
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != kUnset) {
      pending.push_back(i);
    }
  }
  for (; !pending.empty(); pending.pop_front()) {
    for (const std::uint32_t neighbour : next[pending.front()]) {
      if (labels[neighbour] == kUnset) {
        labels[neighbour] = labels[pending.front()];
        pending.push_back(neighbour);
      }
    }
  }
}

/// By edge: the step of the search that set the edge aside, or kUnset.
std::vector<std::uint32_t> removals(const Findings& findings) {
  std::vector<std::uint32_t> removed_in(findings.edges.size(), kUnset);
  for (std::uint32_t i = 0; i < findings.refinement.size(); ++i) {
    if (findings.refinement[i].edge && findings.refinement[i].reason != RefinementStep::Reason::kept) {
      removed_in[*findings.refinement[i].edge] = i;
    }
  }
  return removed_in;
}

Standing standing_of(const Findings& findings, const std::vector<std::uint32_t>& removed_in) {
  const std::size_t actors = findings.actors.size();
  std::vector<std::uint32_t> part_of(actors, kUnset);
  for (std::uint32_t i = 0; i < findings.knots.size(); ++i) {
    for (const FoundActorId actor : findings.knots[i].actors) {
      part_of[actor] = is_answer(findings, findings.knots[i]) ? i : kUnset;
    }
  }
  for (std::uint32_t i = 0; i < findings.sinks.size(); ++i) {
    if (findings.sinks[i].limits()) {
      part_of[findings.sinks[i].actor] = static_cast<std::uint32_t>(findings.knots.size()) + i;
    }
  }
  std::vector<std::vector<std::uint32_t>> in(actors);
  std::vector<std::vector<std::uint32_t>> out(actors);
  for (FoundEdgeId id = 0; id < findings.edges.size(); ++id) {
    const FoundEdge& edge = findings.edges[id];
    out[edge.from].push_back(edge.to);
    if (removed_in[id] == kUnset) {
      in[edge.to].push_back(edge.from);
    }
  }
  Standing standing{part_of, part_of};
  spread(in, standing.leads_to);
  spread(out, standing.waited_for);
  return standing;
}

/// By actor: whether it is part of a knot or a sink, but of none that limits.
std::vector<bool> background_actors(const Findings& findings) {
  std::vector<bool> background(findings.actors.size(), false);
  for (const FoundKnot& knot : findings.knots) {
    for (const FoundActorId actor : knot.actors) {
      background[actor] = !is_answer(findings, knot);
    }
  }
  for (const FoundSink& sink : findings.sinks) {
    background[sink.actor] = !sink.limits();
  }
  return background;
}

std::vector<bool> edges_of_answers(const Findings& findings) {
  std::vector<bool> in_answer(findings.edges.size(), false);
  for (const FoundKnot& knot : findings.knots) {
    for (const FoundEdgeId edge : knot.edges) {
      in_answer[edge] = in_answer[edge] || is_answer(findings, knot);
    }
  }
  return in_answer;
}

Reason reason_of(RefinementStep::Reason step) {
  switch (step) {
    case RefinementStep::Reason::to_pseudo:
      return Reason::to_pseudo;
    case RefinementStep::Reason::requests:
      return Reason::requests;
    case RefinementStep::Reason::always_running:
      return Reason::saturated;
    case RefinementStep::Reason::apart:
      return Reason::apart;
    case RefinementStep::Reason::light:
      return Reason::light;
    case RefinementStep::Reason::noise:
    case RefinementStep::Reason::background_sink:
    case RefinementStep::Reason::background_knot:
    case RefinementStep::Reason::kept:
      break;
  }
  return Reason::noise;
}

/// `answer`: as Standing numbers them.
ExcludedWait leads_to(const Findings& findings, FoundEdgeId edge, std::size_t answer, bool waited_for) {
  ExcludedWait out{edge, Reason::leads_in};
  if (answer < findings.knots.size()) {
    out.knot = answer;
    out.waited_for = waited_for;
  } else {
    out.sink = answer - findings.knots.size();
  }
  return out;
}

/// The target's first, each longest wait first.
void put_in_order(const Findings& findings, std::vector<ExcludedWait>& all) {
  const auto key = [&findings](const ExcludedWait& one) {
    const FoundEdge& edge = findings.edges[one.edge];
    return std::tuple(findings.actors[edge.from].outside, -edge.wait_s);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&key](const ExcludedWait& a, const ExcludedWait& b) { return key(a) < key(b); });
}

}  // namespace

std::vector<ExcludedWait> find_excluded_waits(const Findings& findings) {
  const std::vector<bool> in_answer = edges_of_answers(findings);
  const std::vector<bool> background = background_actors(findings);
  const std::vector<std::uint32_t> removed_in = removals(findings);
  const Standing standing = standing_of(findings, removed_in);
  std::vector<ExcludedWait> out;
  for (FoundEdgeId id = 0; id < findings.edges.size(); ++id) {
    const FoundEdge& edge = findings.edges[id];
    if (in_answer[id] || edge.idle || edge.waits == 0 || edge.wait_s < findings.options.noise_s) {
      continue;
    }
    if (const std::uint32_t step = removed_in[id]; step != kUnset) {
      out.push_back({id, reason_of(findings.refinement[step].reason), step});
    } else if (background[edge.from] || background[edge.to]) {
      out.push_back({id, Reason::background, std::nullopt, background[edge.to] ? edge.to : edge.from});
    } else if (const std::uint32_t answer = standing.leads_to[edge.from]; answer != kUnset) {
      out.push_back(leads_to(findings, id, answer, standing.waited_for[edge.from] != kUnset));
    } else {
      out.push_back({id, Reason::no_answer});
    }
  }
  put_in_order(findings, out);
  return out;
}

}  // namespace offwait
