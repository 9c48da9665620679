// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/lock_addresses.h"

#include <type_traits>
#include <utility>

namespace offwait {

void LockAddresses::add_wait(std::uint8_t kind, std::uint32_t tid, std::uint64_t object) {
  if (object == 0) return;
  switch (kind) {
    case OFFWAIT_OBJECT_FUTEX:
    case OFFWAIT_OBJECT_SHARED_FUTEX:
      if (futexes_.size() < kMostPlaces) futexes_.emplace(tid, object);
      break;
    case OFFWAIT_OBJECT_KERNEL_LOCK:
    case OFFWAIT_OBJECT_MUTEX:
    case OFFWAIT_OBJECT_RWSEM:
    case OFFWAIT_OBJECT_PERCPU_RWSEM:
    case OFFWAIT_OBJECT_RTMUTEX:
      if (places_.size() < kMostPlaces) places_.emplace(0, object);
      break;
    default:
      break;
  }
}

void LockAddresses::add_thread(std::uint32_t tid, std::uint32_t tgid) {
  processes_[tid].insert(static_cast<std::int32_t>(tgid));
}

void LockAddresses::add_exit(std::uint32_t tid, std::uint32_t tgid) {
  add_thread(tid, tgid);
  exited_.emplace_back(tid, static_cast<std::int32_t>(tgid));
}

/// A futex whose thread is not known yet stays: it is in the kernel's table of threads, or exits.
void LockAddresses::forget_exited() {
  add_futexes(places_);
  std::erase_if(futexes_, [this](const auto& futex) { return processes_.contains(futex.first); });
  for (const auto& [tid, tgid] : std::exchange(exited_, {})) {
    const auto processes = processes_.find(tid);
    if (processes == processes_.end()) continue;
    processes->second.erase(tgid);
    if (processes->second.empty()) processes_.erase(processes);
  }
}

void LockAddresses::add(const KernelRecording& recording) {
  recording.records.for_each_kind([this](const auto& record) {
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

void LockAddresses::add_futexes(std::set<Place>& places) const {
  constexpr std::uint64_t kPairOfWords = 8;
  for (const auto& [tid, address] : futexes_) {
    const auto processes = processes_.find(tid);
    if (processes == processes_.end() || places.size() >= kMostPlaces) continue;
    for (const std::int32_t tgid : processes->second) {
      places.emplace(tgid, address);
      // Both words of a condition variable are one object (Locks).
      places.emplace(tgid, address - address % kPairOfWords);
    }
  }
}

bool LockAddresses::is_in(std::int32_t tgid) const {
  const auto place = places_.lower_bound({tgid, 0});
  return place != places_.end() && place->first == tgid;
}

std::set<LockAddresses::Place> LockAddresses::places() const {
  std::set<Place> places = places_;
  add_futexes(places);
  return places;
}

}  // namespace offwait
