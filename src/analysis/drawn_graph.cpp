// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/drawn_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/held_up.h"
#include "analysis/wait_graph.h"

namespace offwait {

namespace {

/// Timers and interrupts are in no picture, because threads wait for them to let time pass; nor is what comes
/// with the recording.
bool is_drawn(const FoundActor& actor) {
  return (is_thread(actor.kind) && !actor.recorder) || is_device(actor.kind);
}

std::size_t threads_of(const Findings& findings, const DrawnBox& box) {
  std::size_t threads = 0;
  for (const FoundActorId actor : box.actors) threads += findings.actors[actor].members();
  return threads;
}

/// The boxes of all actors, in the actors' order.
struct Boxes {
  std::vector<DrawnBox> boxes;
  std::vector<std::size_t> of;  ///< by FoundActorId
};

Boxes boxes_of(const Findings& findings) {
  std::vector<std::optional<std::size_t>> knots(findings.actors.size());
  for (std::size_t i = findings.knots.size(); i-- > 0;) {
    if (findings.knots[i].background) continue;
    for (const FoundActorId actor : findings.knots[i].actors) knots[actor] = i;
  }
  Boxes out;
  std::map<std::pair<std::string, std::string>, std::size_t> alike;
  for (FoundActorId id = 0; id < findings.actors.size(); ++id) {
    const FoundActor& actor = findings.actors[id];
    const std::string begin = name_begin(actor.name);
    std::size_t box = out.boxes.size();
    if (actor.outside && is_thread(actor.kind) && !knots[id] && !begin.empty())
      box = alike.try_emplace({actor.program, begin}, box).first->second;
    if (box == out.boxes.size()) out.boxes.push_back({{}, knots[id], false});
    out.boxes[box].actors.push_back(id);
    out.of.push_back(box);
  }
  for (const FoundSink& sink : findings.sinks) {
    if (sink.limits()) out.boxes[out.of[sink.actor]].limits = true;
  }
  return out;
}

std::set<FoundEdgeId> knot_edges(const Findings& findings) {
  std::set<FoundEdgeId> out;
  for (const FoundKnot& knot : findings.knots) {
    if (!knot.background) out.insert(knot.edges.begin(), knot.edges.end());
  }
  return out;
}

std::vector<DrawnArrow> arrows_of(const Findings& findings, const Boxes& boxes) {
  const std::vector<bool> holds_up = edges_that_hold_up(findings);
  const std::set<FoundEdgeId> in_knots = knot_edges(findings);
  std::map<std::tuple<std::size_t, std::size_t, bool>, DrawnArrow> arrows;
  for (FoundEdgeId id = 0; id < findings.edges.size(); ++id) {
    const FoundEdge& edge = findings.edges[id];
    const bool in_knot = in_knots.count(id) > 0;
    if (edge.weight_s < findings.options.noise_s || (edge.idle && !in_knot)) continue;
    if (!is_drawn(findings.actors[edge.from]) || !is_drawn(findings.actors[edge.to])) continue;
    const std::size_t from = boxes.of[edge.from];
    DrawnArrow& arrow = arrows[{from, boxes.of[edge.to], edge.idle}];
    arrow.from = from;
    arrow.to = boxes.of[edge.to];
    arrow.edges.push_back(id);
    const auto members = static_cast<double>(findings.actors[edge.from].members());
    const double part = members / static_cast<double>(threads_of(findings, boxes.boxes[from]));
    arrow.weight_s += edge.weight_s * part;
    arrow.wait_s += edge.wait_s * part;
    arrow.waits += edge.waits;
    arrow.idle = edge.idle;
    arrow.in_knot = arrow.in_knot || in_knot;
    arrow.holds_up = arrow.holds_up || holds_up[id];
  }
  std::vector<DrawnArrow> out;
  for (auto& [ends, arrow] : arrows) out.push_back(std::move(arrow));
  return out;
}

/// Which arrows come first, whatever they weigh.
enum class Rank : std::uint8_t { knot, holds_up, outside, idle };

class Choice {
 public:
  explicit Choice(const Findings& findings) : findings_(findings), boxes_(boxes_of(findings)) {}

  DrawnGraph make() {
    std::vector<DrawnArrow> all = arrows_of(findings_, boxes_);
    std::stable_sort(all.begin(), all.end(), [this](const DrawnArrow& a, const DrawnArrow& b) {
      return std::tuple(rank_of(a), a.idle, -a.weight_s) < std::tuple(rank_of(b), b.idle, -b.weight_s);
    });
    for (std::size_t i = kMostArrows; i < all.size(); ++i) out_.left_out += all[i].edges.size();
    if (all.size() > kMostArrows) all.resize(kMostArrows);
    // Where nothing holds anything up, what there is says more than an empty picture.
    const bool any = std::any_of(all.begin(), all.end(), [this](const DrawnArrow& a) { return is_first(a); });
    std::vector<DrawnArrow> later;
    for (DrawnArrow& arrow : all) {
      if ((!any || is_first(arrow)) && has_room(arrow)) {
        add(std::move(arrow));
      } else {
        later.push_back(std::move(arrow));
      }
    }
    out_.first_arrows = out_.arrows.size();
    out_.first_boxes = out_.boxes.size();
    for (DrawnArrow& arrow : later) add(std::move(arrow));
    return std::move(out_);
  }

 private:
  bool is_outside(std::size_t box) const {
    return std::all_of(boxes_.boxes[box].actors.begin(), boxes_.boxes[box].actors.end(),
                       [this](FoundActorId id) {
                         return findings_.actors[id].outside && is_thread(findings_.actors[id].kind);
                       });
  }

  Rank rank_of(const DrawnArrow& arrow) const {
    if (arrow.in_knot) return Rank::knot;
    if (!arrow.holds_up) return Rank::idle;
    return is_outside(arrow.from) && is_outside(arrow.to) ? Rank::outside : Rank::holds_up;
  }

  bool is_first(const DrawnArrow& arrow) const { return rank_of(arrow) <= Rank::holds_up; }

  bool has_room(const DrawnArrow& arrow) const {
    const std::set<std::size_t> ends = {arrow.from, arrow.to};
    const auto fresh =
        std::count_if(ends.begin(), ends.end(), [this](std::size_t box) { return places_.count(box) == 0; });
    return out_.arrows.size() < kFirstArrows &&
           out_.boxes.size() + static_cast<std::size_t>(fresh) <= kFirstBoxes;
  }

  std::size_t place_of(std::size_t box) {
    const auto [place, fresh] = places_.try_emplace(box, out_.boxes.size());
    if (fresh) out_.boxes.push_back(boxes_.boxes[box]);
    return place->second;
  }

  void add(DrawnArrow arrow) {
    arrow.from = place_of(arrow.from);
    arrow.to = place_of(arrow.to);
    out_.arrows.push_back(std::move(arrow));
  }

  const Findings& findings_;
  Boxes boxes_;
  std::map<std::size_t, std::size_t> places_;  ///< by index into boxes_
  DrawnGraph out_;
};

}  // namespace

std::vector<bool> edges_that_hold_up(const Findings& findings) {
  using Reason = ExcludedWait::Reason;
  const std::set<Reason> idle = {Reason::to_pseudo, Reason::requests, Reason::apart, Reason::background,
                                 Reason::noise};
  std::vector<bool> out(findings.edges.size(), true);
  for (const ExcludedWait& excluded : findings.excluded_waits) {
    if (idle.count(excluded.reason) > 0) out[excluded.edge] = false;
  }
  for (FoundEdgeId id = 0; id < findings.edges.size(); ++id) {
    const FoundActor& waits = findings.actors[findings.edges[id].from];
    const FoundActor& waker = findings.actors[findings.edges[id].to];
    // No kernel thread is a client.
    if (waits.outside && !waits.kernel && !waker.outside) out[id] = true;
    if (!is_drawn(waker)) out[id] = false;
  }
  for (const FoundEdgeId edge : knot_edges(findings)) out[edge] = true;
  return out;
}

std::string name_begin(const std::string& name) { return name.substr(0, name.find_first_of("0123456789*")); }

std::map<WaitClass, double> classes_of(const Findings& findings, const DrawnArrow& arrow) {
  std::map<WaitClass, double> out;
  for (const FoundEdgeId edge : arrow.edges) {
    for (const auto& [wait_class, wait_s] : findings.edges[edge].classes) out[wait_class] += wait_s;
  }
  return out;
}

DrawnGraph drawn_graph(const Findings& findings) { return Choice(findings).make(); }

}  // namespace offwait
