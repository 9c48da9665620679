// SPDX-License-Identifier: GPL-2.0-or-later
// The wait graph in the language of Graphviz.
#pragma once

#include <string>

#include "analysis/findings.h"

namespace offwait {

/// A directed graph: an arrow from what waits to what it waits for, labelled with the class that took most of
/// the time, the time, and the weight. Each knot that limits is a box around its actors. It has the boxes and
/// arrows that drawn_graph() draws first; the label says how many arrows are left out.
std::string to_dot(const Findings& findings);

}  // namespace offwait
