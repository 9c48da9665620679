// SPDX-License-Identifier: GPL-2.0-or-later
// The timeline from afar: what part of each of many equal bins of the window each thread was in each state.
// Its size depends on the number of threads only, and not on how often they waited.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "html/rows.h"
#include "html/stretches.h"
#include "model/trace.h"

namespace offwait::html {

struct StateMap {
  std::size_t bins = 0;
  /// For each row the states that it has, as a number of 16 bits, the low byte first (bit 0 is state 0), and
  /// for each of these states, in order, one byte for each bin: 255 is all of the bin. What rounding takes
  /// from a bin the next one gets, so that the sum over the bins is that of the thread.
  std::string bytes;
  // Mean numbers of the target's threads in a state, by bin:
  std::vector<double> running;
  std::vector<double> runnable;
};

StateMap state_map(const Trace& trace, const Histories& histories, const Rows& rows);

/// How many requests each disk had under way, on average, in each of `bins` bins: by ActorId, and none for an
/// actor without requests.
std::vector<std::vector<double>> requests_under_way(const Trace& trace, std::size_t bins);

}  // namespace offwait::html
