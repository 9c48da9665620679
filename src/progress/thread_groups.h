// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that do the same work: one kind of worker is one part that a fix changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace offwait {

using GroupId = std::uint32_t;  // index into ThreadGroups::groups
inline constexpr GroupId kNoGroup = UINT32_MAX;

struct ThreadGroup {
  std::string name;              ///< of the first member; hostile bytes
  std::vector<ActorId> members;  ///< one or more, in order of id
  bool outside = false;          ///< no part of the target
  bool kernel = false;           ///< kernel threads outside of the target
};

struct ThreadGroups {
  std::vector<ThreadGroup> groups;
  std::vector<GroupId> group_of;  ///< by ActorId; kNoGroup for what is no thread
};

/// Threads are of one group when their processes are called alike, they are called alike, they start in the
/// same function, and all or none are outside of the target (and likewise kernel threads). Names are alike
/// when they differ in digits only. A process is called as its main thread is; where that thread was not
/// recorded, the process stands for itself. The start function is the outermost frame of the thread's first
/// complete user stack; a thread without one starts in a function of its own, which all such threads share.
ThreadGroups group_threads(const Trace& trace);

}  // namespace offwait
