// SPDX-License-Identifier: GPL-2.0-or-later
// Traces for tests: by hand, and at random.
#pragma once

#include <cstdint>
#include <string>

#include "graph/sweep.h"
#include "model/trace.h"

namespace offwait::test {

/// A trace written down wait by wait. Sites are interned.
class TraceByHand {
 public:
  explicit TraceByHand(Nanos end, Nanos begin = 0) { trace.window = {begin, end}; }

  /// A thread of process 1 that lives throughout; its tid is 100 + its id.
  ActorId thread(const std::string& name = "t");
  ActorId device(ActorKind kind, const std::string& name);
  StackId stack(const std::string& leaf);
  /// How waits are added from here on.
  void in(WaitClass wait_class, StackId wait_stack = kNoStack, StackId waker_stack = kNoStack);
  /// `run` is `wake` unless given.
  SiteId wait(ActorId thread, ActorId waker, Nanos block, Nanos wake);
  SiteId wait(ActorId thread, ActorId waker, Nanos block, Nanos wake, Nanos run);

  Trace trace;

 private:
  WaitClass class_ = WaitClass::futex;
  StackId wait_stack_ = kNoStack;
  StackId waker_stack_ = kNoStack;
};

/// The id of an equal site, which is added if there is none.
SiteId intern(Trace& trace, const WaitSite& site);

/// What sweep() gives for a trace that is valid; fails the test if it is not, or there is no sweep.
Sweep swept(const Trace& trace);

/// A history that can have happened: threads that are born, run, block, are woken by a running thread or a
/// device, are preempted, lose records and die, as one simulated clock goes on; with chains, convoys and
/// barriers among it. Every eighth seed has a chain of 64 threads or more. Valid by construction.
Trace random_history(std::uint64_t seed);

}  // namespace offwait::test
