// SPDX-License-Identifier: GPL-2.0-or-later
// Data that a program has sent and TCP has not: a small packet stays until the one before it is acknowledged
// (Nagle's algorithm), and the other side acknowledges late (delayed ACK).
#pragma once

#include <optional>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// The threads that wait longest for such data, if they do so for a tenth of their lives. It is seen of
/// services on this host alone: their packets are sent by threads, except those that a timer let go. A wait
/// counts if it is as long as a delayed acknowledgement (40 to 200 ms) and a packet over loopback ended it
/// that no thread sent. What the target itself wrote is held back where the thread that answers it waited so
/// long, while the target waited for the answer, for such a packet, and for nothing else before it answered.
std::optional<HeldBack> find_held_back(const Prepared& prepared, const WaitGraph& graph);

}  // namespace offwait
