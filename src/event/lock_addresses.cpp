// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/lock_addresses.h"

#include <type_traits>

namespace offwait {

void LockAddresses::add_wait(std::uint8_t kind, std::uint32_t tid, std::uint64_t object) {
  if (object == 0) return;
  switch (kind) {
    case OFFWAIT_OBJECT_FUTEX:
    case OFFWAIT_OBJECT_SHARED_FUTEX:
      futexes_.emplace(tid, object);
      break;
    case OFFWAIT_OBJECT_KERNEL_LOCK:
    case OFFWAIT_OBJECT_MUTEX:
    case OFFWAIT_OBJECT_RWSEM:
    case OFFWAIT_OBJECT_PERCPU_RWSEM:
    case OFFWAIT_OBJECT_RTMUTEX:
      kernel_locks_.insert(object);
      break;
    default:
      break;
  }
}

void LockAddresses::add_thread(std::uint32_t tid, std::uint32_t tgid) {
  processes_[tid].insert(static_cast<std::int32_t>(tgid));
}

void LockAddresses::add(const KernelRecording& recording) {
  recording.records.for_each([this](const auto& record) {
    using Record = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<Record, offwait_wait>)
      add_wait(record.flags >> OFFWAIT_OBJECT_SHIFT, record.tid, record.object);
    if constexpr (std::is_same_v<Record, offwait_thread_record>) add_thread(record.tid, record.tgid);
  });
  add_threads(recording);
}

void LockAddresses::add_threads(const KernelRecording& recording) {
  for (const auto& [tid, thread] : recording.threads) {
    add_thread(tid, thread.tgid);
    add_wait(thread.object_kind, tid, thread.object);
  }
}

std::set<LockAddresses::Place> LockAddresses::places() const {
  constexpr std::uint64_t kPairOfWords = 8;
  std::set<Place> places;
  for (const auto& [tid, address] : futexes_) {
    const auto processes = processes_.find(tid);
    if (processes == processes_.end()) continue;
    for (const std::int32_t tgid : processes->second) {
      places.emplace(tgid, address);
      // Both words of a condition variable are one object (Locks).
      places.emplace(tgid, address - address % kPairOfWords);
    }
  }
  for (const std::uint64_t address : kernel_locks_) places.emplace(0, address);
  return places;
}

}  // namespace offwait
