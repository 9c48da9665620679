// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/lock_holds.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/function_numbers.h"

namespace offwait {

namespace {

/// The innermost functions of the program in a stack that ends in the kernel: a system call, and from where
/// it is made. Empty for any other stack. By StackId.
std::vector<std::vector<std::uint32_t>> system_calls(const Trace& trace) {
  constexpr std::size_t kFrames = 3;
  const std::vector<std::uint32_t> function_of_frame = functions_of_frames(trace);
  std::vector<std::vector<std::uint32_t>> out;
  for (const Stack& stack : trace.stacks) {
    std::vector<std::uint32_t> call;
    for (const FrameId id : stack.frames) {
      const bool in_kernel = trace.frames[stack.frames.front()].kind == Frame::Kind::kernel;
      if (!in_kernel || call.size() == kFrames) break;
      if (trace.frames[id].kind == Frame::Kind::user) call.push_back(function_of_frame[id]);
    }
    out.push_back(std::move(call));
  }
  return out;
}

/// The one with most time first.
std::vector<GroupId> longest_first(const std::map<GroupId, Nanos>& times) {
  std::vector<std::pair<GroupId, Nanos>> sorted(times.begin(), times.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<GroupId> out;
  for (const auto& [group, ns] : sorted) out.push_back(group);
  return out;
}

/// Where a wait of a lock's holder counts.
Nanos Lock::*part_of(const Trace& trace, const WaitKinds& kinds, SiteId id) {
  const WaitSite& site = trace.sites[id];
  switch (kinds.of_site[id]) {
    case WaitKind::timer:
      return &Lock::slept_ns;
    case WaitKind::disk:
    case WaitKind::below:
      return &Lock::disk_ns;
    case WaitKind::remote:
      return &Lock::remote_ns;
    case WaitKind::handover:
    case WaitKind::transit: {
      if (kinds.services.of_site[id] != kNoService) return &Lock::remote_ns;
      const bool outside = trace.actors[site.waker].outside || kinds.of_site[id] == WaitKind::transit;
      return outside && site.wait_class != WaitClass::futex ? &Lock::client_ns : &Lock::others_ns;
    }
    case WaitKind::lock:
    case WaitKind::looked:
    case WaitKind::stopped:
    case WaitKind::unknown:
      break;
  }
  return &Lock::others_ns;
}

}  // namespace

LockHolds::LockHolds(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                     std::size_t most) {
  for (const ContendedLock& lock : kinds.locks.all) {
    if (locks_.size() == most) break;
    locks_.emplace_back();
    static_cast<ContendedLock&>(locks_.back()) = lock;
  }
  std::vector<std::vector<std::uint32_t>> waits(locks_.size());
  for (std::uint32_t id = 0; !locks_.empty() && id < trace.waits.size(); ++id) {
    const LockId lock = lock_of(kinds, trace.waits[id]);
    if (lock != kNoLock && trace.waits[id].wake != kNever) waits[lock].push_back(id);
  }
  for (LockId lock = 0; lock < locks_.size(); ++lock) {
    add_holds(trace, kinds, lock, std::move(waits[lock]));
  }
  sort_holds(trace.actors.size());
  describe(trace, groups, kinds);
  add_meanwhile(trace, kinds);
}

void LockHolds::add_holds(const Trace& trace, const WaitKinds& kinds, LockId lock,
                          std::vector<std::uint32_t> waits) {
  std::sort(waits.begin(), waits.end(), [&trace](std::uint32_t a, std::uint32_t b) {
    return std::pair(trace.waits[a].wake, a) < std::pair(trace.waits[b].wake, b);
  });
  std::vector<Nanos> first_block(waits.size() + 1, kNever);  // of this wait and those that end later
  for (std::size_t i = waits.size(); i-- > 0;) {
    first_block[i] = std::min(first_block[i + 1], kinds.time_outs.begin_of(waits[i], trace));
  }
  std::unordered_map<ActorId, Nanos> got;  // when the thread last ran after a wait for the lock
  Nanos released = trace.window.begin;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const Wait& wait = trace.waits[waits[i]];
    const WaitSite& site = trace.sites[wait.site];
    const ActorId before = kinds.let_go_by(waits[i]);
    const ActorId holder = before != kNoActor ? before : site.waker;
    if (holder == kNoActor || trace.actors[holder].kind != ActorKind::thread) continue;
    const auto own = got.find(holder);
    const Nanos from =
        std::max({released, first_block[i], own == got.end() ? trace.window.begin : own->second});
    if (from < wait.wake) holds_.push_back({holder, lock, from, wait.wake});
    released = std::max(released, wait.wake);
    got[site.thread] = wait.run;
  }
}

void LockHolds::sort_holds(std::size_t actors) {
  std::sort(holds_.begin(), holds_.end(), [](const Hold& a, const Hold& b) {
    return std::tuple(a.thread, a.from, a.lock) < std::tuple(b.thread, b.from, b.lock);
  });
  for (std::size_t i = 1; i < holds_.size(); ++i) {
    Hold& hold = holds_[i];
    const Hold& before = holds_[i - 1];
    if (hold.thread == before.thread) {
      hold.from = std::max(hold.from, before.to);
      hold.to = std::max(hold.to, hold.from);
    }
  }
  starts_.assign(actors + 1, 0);
  for (const Hold& hold : holds_) ++starts_[hold.thread + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
}

void LockHolds::describe(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds) {
  std::vector<std::map<GroupId, Nanos>> held(locks_.size());
  for (const Hold& hold : holds_) {
    held[hold.lock][groups.group_of[hold.thread]] += hold.to - hold.from;
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::vector<std::map<GroupId, Nanos>> waited(locks_.size());
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    locks_[i].holding = longest_first(held[i]);
    if (!held[i].empty()) {
      locks_[i].holders = std::max_element(held[i].begin(), held[i].end(), by_time)->first;
    }
  }
  // Waits of the holders' group count first.
  std::vector<std::map<SiteId, std::pair<bool, Nanos>>> sites(locks_.size());
  const std::vector<std::vector<std::uint32_t>> calls = system_calls(trace);
  std::vector<std::set<std::vector<std::uint32_t>>> of_lock(locks_.size());
  for (const Wait& wait : trace.waits) {
    const SiteId id = wait.site;
    const GroupId group = groups.group_of[trace.sites[id].thread];
    const LockId lock = lock_of(kinds, wait);
    if (lock == kNoLock) continue;
    const auto [at, added] = sites[lock].try_emplace(id);
    at->second.first = group == locks_[lock].holders;
    at->second.second += clipped(wait.block, wait.wake, trace.window);
    waited[lock][group] += clipped(wait.block, wait.wake, trace.window);
    if (!added) continue;
    for (const StackId stack : {trace.sites[id].wait_stack, trace.sites[id].waker_stack}) {
      if (stack != kNoStack && !calls[stack].empty()) of_lock[lock].insert(calls[stack]);
    }
  }
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    Lock& lock = locks_[i];
    lock.waiting = longest_first(waited[i]);
    lock.site = std::max_element(sites[i].begin(), sites[i].end(), by_time)->first;
    std::size_t samples = 0;
    std::size_t in_calls = 0;
    for (const CpuSample& sample : trace.cpu_samples) {
      if (groups.group_of[sample.thread] != lock.holders || lock.holders == kNoGroup) continue;
      ++samples;
      in_calls += sample.stack != kNoStack && of_lock[i].contains(calls[sample.stack]) ? 1U : 0U;
    }
    lock.calls = samples == 0 ? 0 : static_cast<double>(in_calls) / static_cast<double>(samples);
  }
}

void LockHolds::add_meanwhile(const Trace& trace, const WaitKinds& kinds) {
  for (const Hold& hold : holds_) {
    locks_[hold.lock].held_ns += clipped(hold.from, hold.to, trace.window);
    locks_[hold.lock].ran_ns += clipped(hold.from, hold.to, trace.window);
  }
  const auto add = [&](ActorId thread, Nanos from, Nanos to, Nanos Lock::*part) {
    const std::span<const Hold> holds = of(thread);
    auto hold =
        std::partition_point(holds.begin(), holds.end(), [from](const Hold& one) { return one.to <= from; });
    for (; hold != holds.end() && hold->from < to; ++hold) {
      const Nanos both = clipped(std::max(hold->from, from), std::min(hold->to, to), trace.window);
      Lock& lock = locks_[hold->lock];
      lock.*part += both;
      lock.ran_ns -= both;
    }
  };
  for (const Wait& wait : trace.waits) {
    const ActorId thread = trace.sites[wait.site].thread;
    add(thread, wait.block, wait.wake, part_of(trace, kinds, wait.site));
    add(thread, wait.wake, wait.run, &Lock::queued_ns);
  }
  for (const Preemption& preemption : trace.preemptions) {
    add(preemption.thread, preemption.out, preemption.run, &Lock::queued_ns);
  }
}

}  // namespace offwait
