// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/late_stacks.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>

#include <bpf/bpf.h>
#include <sys/syscall.h>

#include "base/monotonic.h"
#include "capture/mutex_owner.h"
#include "process/process_memory.h"
#include "process/threads.h"
#include "unwind/walk.h"

namespace offwait {

namespace {

/// Each takes a kilobyte, and a file holds no more stacks beside the kernel's (kMostStacks).
constexpr std::size_t kMostFound = 65536;

}  // namespace

struct LateStacks::Unwalked {
  std::uint32_t tid = 0;
  offwait_blocked at{};
  std::int16_t syscall = OFFWAIT_NO_SYSCALL;

  WaitBegin wait() const { return {tid, at.since_ns}; }
};

std::vector<LateStacks::Unwalked> LateStacks::read_unwalked() const {
  constexpr std::size_t kMost =
      65536;  // bounds the loop: the map changes meanwhile, and the walk may begin anew
  std::vector<Unwalked> all;
  std::uint32_t tid = 0;
  for (const std::uint32_t* previous = nullptr;
       all.size() < kMost && bpf_map_get_next_key(maps_.unwalked, previous, &tid) == 0; previous = &tid) {
    Unwalked one;
    one.tid = tid;
    if (bpf_map_lookup_elem(maps_.unwalked, &tid, &one.at) == 0) all.push_back(one);
  }
  return all;
}

/// Whether the thread is still in the same wait. If so, its registers and its stack have not changed either.
bool LateStacks::still_blocked(std::uint32_t tid, std::uint64_t start_ns, std::uint64_t since_ns,
                               offwait_thread& thread) const {
  if (bpf_map_lookup_elem(maps_.threads, &tid, &thread) != 0 || thread.start_ns != start_ns ||
      thread.wake_ns != 0)
    return false;
  if (since_ns == 0) return thread.state == OFFWAIT_STATE_UNKNOWN && thread.seeded == OFFWAIT_STATE_BLOCKED;
  return thread.state == OFFWAIT_STATE_BLOCKED && thread.since_ns == since_ns;
}

std::set<std::int32_t> LateStacks::look(UnwindTables& tables) {
  // Reading such a large map takes its time even if it is empty.
  const __u64 added = std::atomic_ref(*maps_.added).load(std::memory_order_acquire);
  if (added == seen_added_ && tried_.empty()) return {};
  seen_added_ = added;
  std::map<std::int32_t, std::vector<Unwalked>> processes;
  std::set<std::int32_t> again;
  offwait_thread thread{};
  for (Unwalked& one : read_unwalked()) {
    if (still_blocked(one.tid, one.at.start_ns, one.at.since_ns, thread)) {
      one.syscall = thread.syscall;
      processes[static_cast<std::int32_t>(thread.tgid)].push_back(one);
    } else {
      bpf_map_delete_elem(maps_.unwalked, &one.tid);
      tried_.erase(one.wait());
    }
  }
  for (const auto& [tgid, threads] : processes) {
    const FindCode rules = tables.rules_of(tgid);
    ProcessMemory memory(tgid);
    std::map<std::int32_t, std::int32_t>
        holders;  // tids by their numbers in the process; 0: of another process
    const ReadWord read_word = [&memory](std::uint64_t address) { return memory.word(address); };
    for (const Unwalked& one : threads) {
      const offwait_blocked& at = one.at;
      memory.forget();
      const UserStack walked = walk_stack(kHostArchitecture, {at.pc, at.sp, at.fp, at.lr}, rules, read_word);
      if (walked.end == OFFWAIT_STACK_NO_MAPPING && tried_.insert(one.wait()).second) {
        again.insert(tgid);
        continue;
      }
      bpf_map_delete_elem(maps_.unwalked, &one.tid);
      tried_.erase(one.wait());
      BlockedThread found{at.start_ns, 0, 0};
      if (at.since_ns == 0 && one.syscall == SYS_futex) {
        const auto owner = mutex_owner({at.arguments[0], at.arguments[1], at.arguments[2]}, read_word);
        if (owner) {
          const auto [holder, is_new] = holders.try_emplace(*owner);
          if (is_new) holder->second = thread_of_process(tgid, *owner).value_or(0);
          found.mutex_owner = static_cast<std::uint32_t>(holder->second);
        }
      }
      if (found_.size() == kMostFound) {
        ++left_out_;
        continue;
      }
      // What was read is valid only if the thread is still in the same wait.
      if (!still_blocked(one.tid, one.at.start_ns, one.at.since_ns, thread)) continue;
      offwait_stack stack{};
      stack.tgid = thread.tgid;
      stack.end = static_cast<std::uint16_t>(walked.end);
      stack.frames = static_cast<std::uint16_t>(walked.pcs.size());
      std::copy(walked.pcs.begin(), walked.pcs.end(), std::begin(stack.pc));
      processes_.insert(tgid);
      found_.push_back({one.wait(), found, stack});
    }
  }
  return again;
}

void LateStacks::add_to(KernelRecording& recording) const {
  std::uint32_t id = 1;
  for (Found found : found_) {
    while (!recording.stacks.emplace(id, found.stack).second) ++id;
    found.thread.wait_user = id;
    recording.blocked.insert_or_assign(found.wait, found.thread);
  }
}

void LateStacks::forget_before(Nanos begin) {
  offwait_thread thread{};
  std::erase_if(found_, [&](Found& found) {
    if (found.over_at) return *found.over_at < begin;
    if (!still_blocked(found.wait.tid, found.thread.start_ns, found.wait.block_ns, thread))
      found.over_at = monotonic_now();
    return false;
  });
}

}  // namespace offwait
