// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/locks.h"

#include <algorithm>

#include "code/roles.h"
#include "offwait/event.h"

namespace offwait {
namespace {

bool is_futex(std::uint8_t kind) {
  return kind == OFFWAIT_OBJECT_FUTEX || kind == OFFWAIT_OBJECT_SHARED_FUTEX;
}

}  // namespace

/// A stack without named user frames may be one of a condition variable.
bool Locks::is_condition_variable(StackId wait_stack) {
  if (wait_stack == kNoStack) return true;
  const auto [known, added] = condition_variables_.try_emplace(wait_stack, true);
  if (!added) return known->second;
  const Trace& trace = builder_.trace();
  bool named = false;
  for (const FrameId id : trace.stacks[wait_stack].frames) {
    const Frame& frame = trace.frames[id];
    if (frame.kind != Frame::Kind::user || frame.function.empty()) continue;
    if (roles_of(frame).c_condition) return true;
    named = true;
  }
  return known->second = !named;
}

ObjectId Locks::futex(std::uint64_t address, std::int32_t tgid, StackId wait_stack) {
  if (address == 0 || tgid <= 0) return kNoObject;
  constexpr std::uint64_t kPairOfWords = 8;
  Object object;
  object.tgid = tgid;
  object.address = is_condition_variable(wait_stack) ? address - address % kPairOfWords : address;
  return object.address == 0 ? kNoObject : builder_.object(object);
}

ObjectId Locks::object(std::uint8_t kind, std::uint64_t object, std::int32_t tgid, StackId wait_stack) {
  if (is_futex(kind)) return futex(object, tgid, wait_stack);
  if (object == 0) return kNoObject;
  Object lock;
  lock.kind = Object::Kind::kernel_lock;
  lock.address = object;
  switch (kind) {
    case OFFWAIT_OBJECT_KERNEL_LOCK:
      break;
    case OFFWAIT_OBJECT_MUTEX:
      lock.lock = KernelLock::mutex;
      break;
    case OFFWAIT_OBJECT_MMAP_LOCK:
      lock.tgid = std::max(tgid, 0);
      lock.symbol = "mmap_lock";
      lock.lock = KernelLock::rwsem;
      break;
    case OFFWAIT_OBJECT_RWSEM:
      lock.lock = KernelLock::rwsem;
      break;
    case OFFWAIT_OBJECT_PERCPU_RWSEM:
      lock.lock = KernelLock::percpu_rwsem;
      break;
    case OFFWAIT_OBJECT_RTMUTEX:
      lock.lock = KernelLock::rtmutex;
      break;
    default:
      return kNoObject;
  }
  return builder_.object(lock);
}

bool Locks::alive_at(ActorId thread, Nanos at) const {
  const Actor& actor = builder_.trace().actors[thread];
  return actor.start <= at && at < actor.exit;
}

ActorId Locks::holder(std::uint8_t kind, std::uint32_t owner, const Life& waiter, Nanos block) {
  const std::vector<Actor>& actors = builder_.trace().actors;
  const Nanos at = std::max(block, window_.begin);
  if (!is_futex(kind)) {
    const Life* const life = lives_.life_at(owner, at);
    return life != nullptr && alive_at(life->actor, at) ? life->actor : kNoActor;
  }
  if (by_own_tid_.empty()) {
    for (ActorId id = 0; id < actors.size(); ++id) {
      const Actor& actor = actors[id];
      if (actor.kind == ActorKind::thread)
        by_own_tid_[actor.ns_tid != 0 ? actor.ns_tid : actor.tid].push_back(id);
    }
  }
  const auto found = by_own_tid_.find(static_cast<std::int32_t>(owner));
  if (found == by_own_tid_.end()) return kNoActor;
  ActorId elsewhere = kNoActor;
  std::size_t others = 0;
  for (const ActorId id : found->second) {
    if (!alive_at(id, at)) continue;
    if (actors[id].tgid == actors[waiter.actor].tgid) return id;
    elsewhere = id;
    ++others;
  }
  return kind == OFFWAIT_OBJECT_SHARED_FUTEX && others == 1 ? elsewhere : kNoActor;
}

}  // namespace offwait
