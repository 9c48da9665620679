// SPDX-License-Identifier: GPL-2.0-or-later
// The panels of `offwait top`: their rows, each with a key by which it stays chosen when others move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/cells.h"
#include "report/top_screen.h"

namespace offwait {

/// Threads that have a row together: an actor of the graph or, before there is one, those called alike.
struct TopGroup {
  std::string name;  ///< as ActorNames::brief(); hostile bytes
  bool outside = false;
  bool in_knot = false;
  std::size_t threads = 0;  ///< that lived in the last second of it
  ThreadTimes times{};
};

/// The last seconds that the view sums up.
struct TopSums {
  double window_s = 0;
  std::uint64_t waits = 0;
  SecondCounts counts{};
  ThreadTimes target{};
  std::vector<TopGroup> groups{};
};
TopSums sums_of(const TopModel& model, const TopView& view);

struct TopRow {
  std::string key;
  CellRow row{};
};

struct TopRows {
  std::vector<CellRow> heads{};  ///< the panel's heading, and its columns
  std::vector<TopRow> rows{};
  std::string empty{};  ///< what is said in place of rows
};

/// The rows that pass the filter, in their order.
TopRows panel_rows(const TopModel& model, const TopView& view, TopPanel panel, int width);
/// top_chosen() of a panel with these rows.
std::string chosen_of(const TopRows& content, const TopView& view, TopPanel panel);

/// The edge whose stacks belong to the chosen row; nullptr without one.
const TopEdge* chosen_edge(const TopModel& model, const TopView& view);
/// The lock or file that is chosen; nullptr without one.
const TopObject* chosen_object(const TopModel& model, const TopView& view);

/// `A → B`: also the key of the edge.
std::string edge_name(const TopFindings& findings, const TopEdge& edge);

/// A stack in one row: `kernel ┆ leaf ← caller`, as far as it fits.
CellRow stack_row(const std::string& label, const TopStack& stack, int width, Charset charset);
/// A frame a row.
std::vector<CellRow> stack_rows(const std::string& label, const TopStack& stack, int width, Charset charset);

}  // namespace offwait
