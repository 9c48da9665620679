// SPDX-License-Identifier: GPL-2.0-or-later
// The wait graph in the language of Graphviz.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/findings.h"

namespace offwait {

inline constexpr std::size_t kMostDotEdges = 200;

/// A directed graph: an arrow from who waits to what it waits for, labelled with the class that took most of
/// the time, the time, and the weight. Each knot is a box. Only edges of at least the noise floor are drawn,
/// and of these the kMostDotEdges heaviest; the label says how many are not.
std::string to_dot(const Findings& findings);

}  // namespace offwait
