// SPDX-License-Identifier: GPL-2.0-or-later
// The part of the wait graph that a picture shows. What is drawn is decided here once, so that every picture
// of a recording (HTML, Graphviz) shows the same boxes and arrows. Where they lie is up to the picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// One actor, or several outside of the target whose names are the same up to their first digit: the 32
/// clients of a server are one box. Actors of knots that limit have boxes of their own.
struct DrawnBox {
  std::vector<FoundActorId> actors;   ///< ascending
  std::optional<std::size_t> knot{};  ///< index into Findings::knots, of one that limits
  bool limits = false;                ///< one of the actors is a sink that limits
};

/// All edges from one box to another. Seconds of a box of several actors are divided by its threads, as those
/// of a group are.
struct DrawnArrow {
  std::size_t from = 0;  ///< indices into DrawnGraph::boxes
  std::size_t to = 0;
  std::vector<FoundEdgeId> edges{};  ///< heaviest first
  double weight_s = 0;
  double wait_s = 0;
  std::uint64_t waits = 0;
  bool idle = false;     ///< as FoundEdge::idle
  bool in_knot = false;  ///< it is part of a knot that limits
  /// If not, its waits are idle time, or nothing waits behind them. Waits of clients for the target are no
  /// idle time.
  bool holds_up = false;
};

/// Arrows come in the order in which they are to be drawn if there is room for more, and boxes in the order
/// in which arrows need them.
struct DrawnGraph {
  std::vector<DrawnBox> boxes;
  std::vector<DrawnArrow> arrows;  ///< at most kMostArrows
  std::size_t first_boxes = 0;     ///< what is drawn unless more is asked for: at most kFirstBoxes,
  std::size_t first_arrows = 0;    ///< and the arrows between them that hold something up
  std::size_t left_out = 0;        ///< edges of at least the noise floor that are in no arrow
};
inline constexpr std::size_t kFirstBoxes = 15;
inline constexpr std::size_t kFirstArrows = 30;
inline constexpr std::size_t kMostArrows = 200;

/// A function of the findings alone. Edges below the noise floor, those of timers, interrupts and the
/// recorder, and idle edges outside of knots are in no arrow. A knot that limits is always drawn, as far as
/// there is room.
DrawnGraph drawn_graph(const Findings& findings);

/// The part of a name that actors of one box have in common: up to its first digit.
std::string name_begin(const std::string& name);
/// FoundEdge::classes of all of the arrow's edges together.
std::map<WaitClass, double> classes_of(const Findings& findings, const DrawnArrow& arrow);

}  // namespace offwait
