// SPDX-License-Identifier: GPL-2.0-or-later
// For the tests of assemble(): recordings written by hand, and the lines of their traces.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "event/assemble.h"
#include "graph/sweep.h"
#include "model/validate.h"
#include "recordings.h"

namespace offwait::test {

using Lines = std::vector<std::string>;

inline constexpr std::uint32_t kVda = 254 << 20;

/// The trace's lines, after the analysis has accepted it.
inline Lines trace_of(const RecordingByHand& recording) {
  const Trace trace = recording.trace();
  const Status valid = validate(trace);
  if (!valid.ok()) FAIL(valid.error().message);
  const Result<Sweep> swept = sweep(trace);
  if (!swept.ok()) FAIL(swept.error().message);
  return lines(trace);
}

/// The lines that begin with `word`.
inline Lines only(const char* word, const Lines& all) {
  Lines some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [word](const std::string& line) { return line.rfind(word, 0) == 0; });
  return some;
}

/// A recording with the window [1000, 2000). Threads 11 and 12 live and run throughout, except for what a
/// test adds.
inline RecordingByHand two_threads() {
  RecordingByHand recording(1000, 2000);
  recording.seen(11, 500, 900, "main");
  recording.seen(12, 600, 900, "peer");
  recording.left(11, 500, OFFWAIT_STATE_RUNNING, 900);
  recording.left(12, 600, OFFWAIT_STATE_RUNNING, 900);
  return recording;
}

/// The same recording, with another state of thread 11 at the end.
inline RecordingByHand found_at_the_end(offwait_state state, std::uint64_t since) {
  RecordingByHand recording(1000, 2000);
  recording.seen(11, 500, 900);
  recording.seen(12, 600, 900);
  recording.left(12, 600, OFFWAIT_STATE_RUNNING, 900);
  recording.left(11, 500, state, since);
  return recording;
}

}  // namespace offwait::test
