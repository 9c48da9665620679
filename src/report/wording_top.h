// SPDX-License-Identifier: GPL-2.0-or-later
// Words of `offwait top`. What is returned may be hostile as the names in it are: it is escaped where it goes
// out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/top_panels.h"
#include "report/top_screen.h"

namespace offwait {

/// A part of the first line.
struct TopHeadPart {
  std::string text;
  int worth = 0;  ///< where there is no room for all, those that are worth most stay
  CellRole role = CellRole::plain;
  bool joined = false;  ///< it goes on with what the part before says
};
std::vector<TopHeadPart> top_head(const TopModel& model, const TopView& view, const TopSums& sums);
/// `live`, `paused`, `replayed`, `ended`
std::string_view top_state(const TopModel& model, const TopView& view);
/// `costs 3.1%`: part of the time of all CPUs; empty where that is not known.
std::string cost_part(const TopSums& sums);
/// `(limit 5.0%)`; empty without one.
std::string limit_part(const TopModel& model);
/// `9,278 responses/s`, `1,200 waits/s`: what the sparkline shows.
std::string progress_rate(const TopSums& sums, double per_s);
/// The seconds that the analysis is of, and how old it is: `of 10 s, 4 s ago`.
std::string age_text(const TopModel& model, const TopAnalysis& analysis);
/// Why there are no answers yet.
std::string no_answers_text(const TopModel& model);
/// That the first answer was another one before; empty if it is steady.
std::string changing_text(const TopModel& model);
/// `98% busy: the target runs on 1.24 of 2, others on 0.70`; that it is not known, if it is not.
std::string cpus_text(const TopModel& model, const TopSums& sums);
/// `A → B: futex, 380 waits/s, 357 µs each`
std::string edge_text(const TopFindings& findings, const TopEdge& edge);
/// That the chosen row has no stack.
std::string_view top_no_stack();
/// How long: `12 s`, `3 min 12 s`, `2 h 5 min`.
std::string long_time(Nanos time);
/// What a panel without rows says.
std::string empty_panel_text(const TopModel& model, const TopView& view, TopPanel panel);
/// The keys of the last line, and what they do; the first ones matter most.
std::vector<std::pair<std::string_view, std::string_view>> top_key_names();
/// The screen that explains the keys and the columns, a line each.
std::vector<std::string> top_help();

}  // namespace offwait
