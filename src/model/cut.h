// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <optional>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"

namespace offwait {

/// A time by the wall clock, in the user's words.
struct WallTime {
  std::optional<std::chrono::year_month_day> date;  ///< none: that of the recording
  Nanos of_day = 0;                                 ///< since midnight
  bool utc = false;                                 ///< else in the time zone of the reader
};

/// A part of a recording, in the user's words: from one time to another, counted from the recording's start
/// or by the wall clock, or a length at its end. By default the whole.
struct TracePart {
  Nanos from = 0;
  std::optional<Nanos> to{};
  std::optional<WallTime> wall_from{};  ///< if set, `from` is not
  std::optional<WallTime> wall_to{};    ///< if set, `to` is not
  std::optional<Nanos> last{};          ///< if set, none of the others is
};

/// The window of a part of a recording that has this window; times by the wall clock have been counted from
/// its start. Fails, with a sentence for the user, where nothing of the part lies in the recording. A part
/// that reaches beyond its end ends there.
Result<Window> window_of(const TracePart& part, const Window& whole);

/// A valid trace as if only this window, which lies in its own, had been recorded. Waits that go on at its
/// end are open. What was only counted over a longer time (responses, calls of functions, the time of CPUs
/// and of other processes, quotas) is taken as even over that time; losses stay as they are.
Trace cut_to(Trace trace, const Window& window);

/// The same, but everything keeps its number, and what the part does not need stays. An open wait may have a
/// waker.
Trace narrowed_to(Trace trace, const Window& window);

}  // namespace offwait
