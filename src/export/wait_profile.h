// SPDX-License-Identifier: GPL-2.0-or-later
// Waits as a profile: time by stack, with what tells equal stacks apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/stack_sums.h"
#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"
#include "progress/progress.h"

namespace offwait {

/// The waits of the target's threads that are equal in all of this but the amounts. Names are hostile bytes.
struct StackWaits {
  std::string thread;  ///< what its threads are called; may be empty
  StackId stack = kNoStack;
  WaitClass wait_class = WaitClass::other;
  std::string waker;  ///< what ended them: `redis-server`, `disk vda`, `timer`; empty: not known
  /// They do not hold up what counts as progress: waits for requests from outside of the target, and waits
  /// of threads that the progress does not depend on.
  bool idle = false;
  std::string
      object;  ///< the lock or file, as flame graphs name it (ObjectNames::in_stack()); empty: not known
  Nanos wait_ns = 0;
  Nanos weight_ns = 0;  ///< with the time that others waited behind them (SiteSum::weight_ns)
  std::uint64_t waits = 0;
};

struct WaitProfile {
  Recording recording;
  Window window;
  std::string program;  ///< file name of the executable of the target's first thread; empty: not known
  std::vector<Frame> frames;
  std::vector<Stack> stacks;      ///< the trace's own, of these frames
  std::vector<StackWaits> waits;  ///< in order of their fields; no two differ in their amounts alone
  std::vector<StackSum> samples;  ///< sampled_stacks()
};

/// Similar threads are not merged and short-lived ones have no stand-ins, so that sums add up to the time of
/// single threads. False wakeups are removed unless they are to be kept. The trace must satisfy validate().
/// Fails with the errors of prepare().
Result<WaitProfile> wait_profile(Trace trace, const ProgressOptions& progress, bool keep_false_wakeups);

}  // namespace offwait
