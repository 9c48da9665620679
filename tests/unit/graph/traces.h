// SPDX-License-Identifier: GPL-2.0-or-later
// Traces for tests: written by hand, and random ones.
#pragma once

#include <cstdint>
#include <string>

#include "graph/sweep.h"
#include "model/trace.h"

namespace offwait::test {

/// A trace that a test writes wait by wait. Sites are interned.
class TraceByHand {
 public:
  explicit TraceByHand(Nanos end, Nanos begin = 0) { trace.window = {begin, end}; }

  /// A thread of process 1 that lives throughout; its tid is 100 + its id.
  ActorId thread(const std::string& name = "t");
  ActorId device(ActorKind kind, const std::string& name);
  StackId stack(const std::string& leaf);
  /// Sets the class and stacks of the waits that are added from here on.
  void in(WaitClass wait_class, StackId wait_stack = kNoStack, StackId waker_stack = kNoStack);
  /// Adds a wait; without `run` that is `wake`.
  SiteId wait(ActorId thread, ActorId waker, Nanos block, Nanos wake);
  SiteId wait(ActorId thread, ActorId waker, Nanos block, Nanos wake, Nanos run);

  Trace trace;

 private:
  WaitClass class_ = WaitClass::futex;
  StackId wait_stack_ = kNoStack;
  StackId waker_stack_ = kNoStack;
};

/// A chain of waits of which each site's weight fits Nanos, and their sum does not.
TraceByHand too_heavy_chain();

/// The id of an equal site, which is added if there is none.
SiteId intern(Trace& trace, const WaitSite& site);

/// The result of sweep(). Fails the test if the trace is not valid or the sweep fails.
Sweep swept(const Trace& trace);

/// A random history that is possible, and valid by construction. Along one simulated clock, threads are born,
/// run, block, are woken by a running thread or a device, are preempted, lose records and exit. There are
/// chains, convoys and barriers, and every eighth seed has a chain of 64 threads or more.
Trace random_history(std::uint64_t seed);

}  // namespace offwait::test
