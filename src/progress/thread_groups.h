// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that do the same work: one kind of worker is one part that a fix changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/thread_kinds.h"
#include "model/trace.h"

namespace offwait {

using GroupId = ThreadKind;  // index into ThreadGroups::groups
inline constexpr GroupId kNoGroup = kNoThreadKind;

struct ThreadGroup {
  std::string name;              ///< what the first member is called; hostile bytes
  std::vector<ActorId> members;  ///< one or more, in order of id
  bool outside = false;          ///< no part of the target
  bool kernel = false;           ///< kernel threads outside of the target
  bool recorder = false;         ///< of the offwait that recorded, or of what it started
};

struct ThreadGroups {
  std::vector<ThreadGroup> groups;
  std::vector<GroupId> group_of;  ///< by ActorId; kNoGroup for what is no thread
};

/// Threads of one kind (graph/thread_kinds.h) are a group.
ThreadGroups group_threads(const Trace& trace);

}  // namespace offwait
