// SPDX-License-Identifier: GPL-2.0-or-later
// Edges in the text report.
#pragma once

#include <cstddef>
#include <vector>

#include "report/text_page.h"

namespace offwait {

/// `B → disk vda` in at most `columns`: the shorter of the two names keeps what it needs.
void put_edge(const TextPage& page, const FoundEdge& edge, int columns);

/// When the waits of an edge happened if they are bunched, what the waker did meanwhile, and peers.
void put_edge_details(const TextPage& page, const FoundEdge& edge);

/// A table of edges, each with its details and stacks below it; `most` of them unless more is asked for.
void put_edges(const TextPage& page, const std::vector<FoundEdgeId>& edges, std::size_t most);

/// Whether the weights of these edges need an explanation, because one exceeds the window or is a group's.
bool weights_need_a_word(const Findings& findings, const std::vector<FoundEdgeId>& edges);

}  // namespace offwait
