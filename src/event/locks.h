// SPDX-License-Identifier: GPL-2.0-or-later
// The locks that threads wait for, by their addresses in the kernel's records, and who had them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/nanos.h"
#include "event/thread_lives.h"
#include "model/trace_builder.h"

namespace offwait {

class Locks {
 public:
  /// The builder and the lives must outlive this. The builder has all threads.
  Locks(TraceBuilder& builder, const ThreadLives& lives, const Window& window)
      : builder_(builder), lives_(lives), window_(window) {}

  /// `kind` and `object` as in offwait_wait, of a wait in this process and stack; kNoObject if it is no lock.
  ObjectId object(std::uint8_t kind, std::uint64_t object, std::int32_t tgid, StackId wait_stack);

  /// The thread that offwait_wait::owner means in a wait of `waiter` that began at `block`. kNoActor if no
  /// such thread lived then, or if it is of another process and the futex is of one process only.
  ActorId holder(std::uint8_t kind, std::uint32_t owner, const Life& waiter, Nanos block);

 private:
  ObjectId futex(std::uint64_t address, std::int32_t tgid, StackId wait_stack);
  bool is_condition_variable(StackId wait_stack);
  bool alive_at(ActorId thread, Nanos at) const;

  TraceBuilder& builder_;
  const ThreadLives& lives_;
  const Window window_;
  std::unordered_map<StackId, bool> condition_variables_;
  /// Threads by their tids in their own PID namespaces; empty until the first is asked for.
  std::unordered_map<std::int32_t, std::vector<ActorId>> by_own_tid_;
};

}  // namespace offwait
