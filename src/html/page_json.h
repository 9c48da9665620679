// SPDX-License-Identifier: GPL-2.0-or-later
// What a page shows of the findings. A page and its script are written by one program, so this form may
// change.
#pragma once

#include <vector>

#include "analysis/drawn_graph.h"
#include "analysis/findings.h"
#include "html/arrow_waits.h"
#include "html/curves.h"
#include "html/stack_table.h"
#include "report/json_values.h"
#include "report/names.h"

namespace offwait::html {

/// Sentences, answers, actors, the tables of locks, files and functions, and sums of stacks. Strings are
/// escaped, times in seconds.
Json findings_json(const Findings& findings, const Curves& curves, const ActorNames& names,
                   StackTable& stacks);

/// The boxes and arrows, with what is behind each arrow. `waits` is of the same arrows.
Json graph_json(const Findings& findings, const DrawnGraph& graph, const std::vector<ArrowWaits>& waits,
                const Window& window, const ActorNames& names, StackTable& stacks);

}  // namespace offwait::html
