// SPDX-License-Identifier: GPL-2.0-or-later
// Functions as parts of a program that a change can make faster: what of the threads' work and waits is in
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/nanos.h"
#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"

namespace offwait {

using CodeId = std::uint32_t;  // index into Code::parts
inline constexpr CodeId kNoCode = UINT32_MAX;
using PlaceId = std::uint32_t;  // index into Code::groups

/// By how much, as a part of it, a time that rests on so many samples is off, in 9 of 10 recordings.
double error_of_samples(std::uint64_t samples);

/// The stacks that call a function, by StackId.
using CodeStacks = std::vector<bool>;

/// One function, with all that it calls.
struct CodePart {
  CodeStacks stacks;        ///< waits with these stacks are in the function
  std::vector<double> cpu;  ///< by PlaceId: the part of the work there that is in the function, 0 to 1
  /// By GroupId: the part of the group's requests to disks that the function makes, 0 to 1, by the time that
  /// threads wait for them. Threads below the devices make requests for those that wait for them.
  std::vector<double> requests;
  std::uint64_t samples = 0;  ///< that cpu rests on
  double cpu_ns = 0;          ///< of all threads' running time in the function, as the samples have it
  Nanos wait_ns = 0;          ///< in the function's own waits: for disks, times and remote services
  /// The error of what a change saves on CPUs, as a part of it, in 9 of 10 recordings; and of what it saves
  /// in all, if the function's waits change as well.
  double error_of_cpu() const;
  double error() const;
};

/// A thread's work between two waits depends on what it waited for before: after a request came it handles
/// that, after a lock it does what the lock protects. So the samples are kept apart by the stack of the wait
/// that comes before them, where these are enough.
struct Code {
  /// By PlaceId: whose work it is. The first places are the groups', of all their work; each of the others is
  /// the work of one group after its waits with one stack.
  std::vector<GroupId> groups;
  std::vector<PlaceId> place_after;  ///< by SiteId: the place of the work that follows a wait there
  std::vector<CodePart> parts;
};

/// Samples outside of the window do not count, nor do those that were taken in busy waiting. Empty without
/// `parts`.
Code code_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
             const std::vector<CodeStacks>& parts);

}  // namespace offwait
