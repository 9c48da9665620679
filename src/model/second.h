// SPDX-License-Identifier: GPL-2.0-or-later
// What happened in about a second of a recording: sums that take no graph. `offwait top` shows them while it
// records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"

namespace offwait {

/// The time of one thread, or of several together, by what it did.
struct ThreadTimes {
  Nanos lived = 0;     ///< inside the part; the sum of all below and running()
  Nanos runnable = 0;  ///< ready to run, without a CPU
  Nanos unknown = 0;
  std::array<Nanos, kWaitClasses> blocked{};  ///< by class; a wait that is still open counts, too
  std::uint64_t waits = 0;                    ///< that ended in the part

  Nanos all_blocked() const;
  Nanos running() const;
  void add(const ThreadTimes& more);
};

struct ThreadSecond {
  std::int32_t tid = 0;
  std::int32_t tgid = 0;
  std::string name;  ///< hostile bytes
  bool outside = false;
  ThreadTimes times{};
};

/// What was counted in the part. A number that is not known is missing.
struct SecondCounts {
  std::optional<double> responses{};  ///< to clients
  std::optional<double> calls{};      ///< of the function that --progress-at names
  // Both are of all CPUs of the machine, whichever program used them; both are 0 if they are not known.
  Nanos cpu_busy = 0;  ///< includes what the hypervisor took
  Nanos cpu_idle = 0;
  Nanos cpu_steal = 0;
  std::uint64_t lost = 0;   ///< events
  Nanos programs_cost = 0;  ///< run time of offwait's programs in the kernel
  Nanos recorder_cost = 0;  ///< CPU time of the recorder's threads
  Nanos analysis_cost = 0;  ///< CPU time of what analyses meanwhile
  /// The counts are a share of those of a longer time, taken as even.
  bool even = false;
};

struct Second {
  Window window;
  std::vector<ThreadSecond> threads;  ///< those that lived in it, without the recorder's
  std::uint64_t waits = 0;            ///< that ended in it
  SecondCounts counts{};
};

/// The sums of a part of a valid trace; what was only counted over the recording is taken as even.
Second second_of(const Trace& trace, const Window& part);

}  // namespace offwait
