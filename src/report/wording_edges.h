// SPDX-License-Identifier: GPL-2.0-or-later
// Words about edges: what was waited for, when, what the other side did, and in which code. The strings
// may hold hostile bytes: the renderer escapes them and cuts them to width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings.h"
#include "report/names.h"

namespace offwait {

/// `B → disk vda`
std::string edge_text(const FoundEdge& edge, const ActorNames& names);

/// `disk`, `futex 75%, pipe 25%`, or `spare` of an edge from a device.
std::string classes_text(const FoundEdge& edge);

/// `1,404 waits of 1.00 ms`; the edge has waits.
std::string each_wait(const FoundEdge& edge);

/// What weights over the window, and those of groups, mean.
std::string_view weight_explained();

/// `81% of it within 1.20 s of 10.0 s: 2.00 s to 3.20 s after the beginning`
std::string phases_text(const FoundPhases& phases, double window_s);

/// `B ran 3.90 s, waited 4.00 s`: what the waker did while it was waited for; empty if that is not known.
std::string waker_text(const FoundEdge& edge, const ActorNames& names);

/// How much of its capacity the device of an idle edge used, and what the thread did meanwhile.
std::string spare_text(const Findings& findings, const FoundEdge& edge, const ActorNames& names);

/// `service 10.0.0.5:3306 ×312, client 10.0.0.9 ×40 (12 ports)`: the first `most` hosts; empty for none.
std::string peers_text(const FoundEdge& edge, std::size_t most);

/// `68% of the weight, 2 other stacks`; empty for an edge's only stack.
std::string part_of_weight(const FoundEdge& edge, const FoundStack& stack, bool verbose);

/// `…2 more`: frames of a stack.
std::string frames_left_out(std::size_t frames);

/// `85% of that in the kernel (write)`, `55% of that in its own code`: what a place's time is made of, as far
/// as it is most of it.
std::vector<std::string> parts_of_place(const FunctionPlace& place);

/// `spread over many functions below compile_file`; the samples are FoundSamples::spread.
std::string spread_text(const FoundSamples& samples);

/// `71% of 380 samples in`
std::string share_of_samples(double share, std::uint64_t samples);
/// `20% in`
std::string share_of_samples(double share);

}  // namespace offwait
