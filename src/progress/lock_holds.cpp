// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/lock_holds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/side_by_side.h"
#include "code/lock_words.h"
#include "code/roles.h"
#include "model/function_numbers.h"

namespace offwait {

namespace {

/// The innermost functions of the program in a stack that ends in the kernel: a system call, and from where
/// it is made. Empty for any other stack. By StackId.
std::vector<std::vector<std::uint32_t>> system_calls(const Trace& trace,
                                                     const std::vector<std::uint32_t>& function_of_frame) {
  constexpr std::size_t kFrames = 3;
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

/// The groups in order of their times, the longest first.
std::vector<GroupId> longest_first(const std::map<GroupId, Nanos>& times) {
  std::vector<std::pair<GroupId, Nanos>> sorted(times.begin(), times.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<GroupId> out;
  for (const auto& [group, ns] : sorted) out.push_back(group);
  return out;
}

/// The sum of Lock to which a wait of the lock's holder is added.
Nanos Lock::*part_of(const Trace& trace, const WaitKinds& kinds, SiteId id) {
  const WaitSite& site = trace.sites[id];
  switch (kinds.of_site[id]) {
    case WaitKind::timer:
      return &Lock::slept_ns;
    case WaitKind::disk:
    case WaitKind::below:
      return &Lock::disk_ns;
    case WaitKind::paused:
      return paused_above(trace, site) != kNoActor ? &Lock::disk_ns : &Lock::others_ns;
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
    case WaitKind::throttled:
    case WaitKind::stopped:
    case WaitKind::unknown:
      break;
  }
  return &Lock::others_ns;
}

/// Sorts waits by their ends. Those that did not end come last.
void sort_by_wake(const Trace& trace, std::vector<std::uint32_t>& waits) {
  std::vector<std::pair<Nanos, std::uint32_t>> ends;
  ends.reserve(waits.size());
  for (const std::uint32_t id : waits) ends.emplace_back(trace.waits[id].wake, id);
  std::sort(ends.begin(), ends.end());
  std::transform(ends.begin(), ends.end(), waits.begin(), [](const auto& end) { return end.second; });
}

/// The sum of a site that has no waits for the lock.
constexpr Nanos kNoWait = -1;

/// Adds the waits' times to `of_site`. Returns their sites in order.
std::vector<SiteId> add_up_by_site(const Trace& trace, const std::vector<std::uint32_t>& waits,
                                   std::vector<Nanos>& of_site) {
  std::vector<SiteId> out;
  for (const std::uint32_t id : waits) {
    const Wait& wait = trace.waits[id];
    Nanos& sum = of_site[wait.site];
    if (sum == kNoWait) {
      out.push_back(wait.site);
      sum = 0;
    }
    sum += clipped(wait.block, wait.wake, trace.window);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Sets Lock::site and Lock::waiting.
void describe_waits(const Trace& trace, const ThreadGroups& groups, const std::vector<SiteId>& sites,
                    const std::vector<Nanos>& of_site, Lock& lock) {
  std::map<GroupId, Nanos> waited;
  std::pair<bool, Nanos> most{false, kNoWait};  // waits of the holders' group count first
  for (const SiteId id : sites) {
    const GroupId group = groups.group_of[trace.sites[id].thread];
    waited[group] += of_site[id];
    const std::pair here{group == lock.holders, of_site[id]};
    if (here > most) {
      most = here;
      lock.site = id;
    }
  }
  lock.waiting = longest_first(waited);
}

/// The frame of the innermost function in which a lock is taken or let go, without the ways to do so. Not
/// known where that function has no name, and for locks of runtimes, which code takes that does much else.
std::optional<FrameId> taking_frame(const Trace& trace, const Stack& stack) {
  for (const FrameId id : stack.frames) {
    const Frame& frame = trace.frames[id];
    if (frame.kind != Frame::Kind::user) continue;
    const Roles roles = roles_of(frame);
    if (roles.manager != LockManager::none || roles.of_java) return std::nullopt;
    if (roles.noise != Noise::none) continue;
    if (frame.function.empty()) return std::nullopt;
    const bool is_way = is_about_locks(frame.function) || lets_a_lock_go(frame.function);
    if (!is_way && !is_nameless_body(frame.function)) return id;
  }
  return std::nullopt;
}

/// Samples of one group, all of them and some.
struct Samples {
  std::uint64_t all = 0;
  std::uint64_t some = 0;
  double part() const { return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all); }
};

/// The CPU samples of the group, and those whose stacks `is_of_lock`.
template <class IsOfLock>
Samples samples_of(const Trace& trace, const ThreadGroups& groups, GroupId group, IsOfLock is_of_lock) {
  Samples out;
  for (const CpuSample& sample : trace.cpu_samples) {
    if (groups.group_of[sample.thread] != group || group == kNoGroup) continue;
    ++out.all;
    out.some += sample.stack != kNoStack && is_of_lock(sample.stack) ? 1U : 0U;
  }
  return out;
}

/// Stacks in which threads wait at these sites, or end the waits.
std::set<StackId> stacks_of_sites(const Trace& trace, const std::vector<SiteId>& sites) {
  std::set<StackId> out;
  for (const SiteId id : sites) out.insert({trace.sites[id].wait_stack, trace.sites[id].waker_stack});
  out.erase(kNoStack);
  return out;
}

/// Lock::calls.
double part_in_calls(const Trace& trace, const ThreadGroups& groups,
                     const std::vector<std::vector<std::uint32_t>>& calls, const std::set<StackId>& stacks,
                     GroupId holders) {
  std::set<std::vector<std::uint32_t>> of_lock;
  for (const StackId stack : stacks) {
    if (!calls[stack].empty()) of_lock.insert(calls[stack]);
  }
  return samples_of(trace, groups, holders, [&](StackId stack) { return of_lock.contains(calls[stack]); })
      .part();
}

/// What Lock::section is of.
Samples samples_in_section(const Trace& trace, const ThreadGroups& groups,
                           const std::vector<std::uint32_t>& function_of_frame,
                           const std::set<StackId>& stacks, GroupId holders) {
  std::set<std::uint32_t> of_lock;
  for (const StackId stack : stacks) {
    const std::optional<FrameId> frame = taking_frame(trace, trace.stacks[stack]);
    if (frame) of_lock.insert(function_of_frame[*frame]);
  }
  std::map<StackId, bool> known;
  return samples_of(trace, groups, holders, [&](StackId id) {
    const auto [found, is_new] = known.try_emplace(id, false);
    if (is_new) {
      const std::vector<FrameId>& frames = trace.stacks[id].frames;
      found->second = std::any_of(frames.begin(), frames.end(),
                                  [&](FrameId frame) { return of_lock.contains(function_of_frame[frame]); });
    }
    return found->second;
  });
}

bool is_of_kernel(const Trace& trace, const Lock& lock) {
  return lock.object != kNoObject && trace.objects[lock.object].kind == Object::Kind::kernel_lock;
}

/// When each thread had the lock. `waits` are those for the lock, in order of their ends.
std::vector<std::pair<ActorId, Hold>> holds_of(const Trace& trace, const WaitKinds& kinds, LockId lock,
                                               const std::vector<std::uint32_t>& waits) {
  std::vector<std::pair<ActorId, Hold>> out;
  std::vector<Nanos> first_block(waits.size() + 1, kNever);  // of this wait and those that end later
  for (std::size_t i = waits.size(); i-- > 0;) {
    const bool ended = trace.waits[waits[i]].wake != kNever;
    first_block[i] = ended ? std::min(first_block[i + 1], kinds.time_outs.begin_of(waits[i], trace)) : kNever;
  }
  // By ActorId: when the thread last ran after a wait for the lock.
  std::vector<Nanos> got(trace.actors.size(), trace.window.begin);
  Nanos released = trace.window.begin;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const Wait& wait = trace.waits[waits[i]];
    const WaitSite& site = trace.sites[wait.site];
    if (wait.wake == kNever) break;
    const ActorId before = kinds.let_go_by(waits[i]);
    const ActorId holder = before != kNoActor ? before : site.waker;
    if (holder == kNoActor || trace.actors[holder].kind != ActorKind::thread) continue;
    const Nanos from = std::max({released, first_block[i], got[holder]});
    if (from < wait.wake) out.push_back({holder, {lock, from, wait.wake}});
    released = std::max(released, wait.wake);
    got[site.thread] = wait.run;
  }
  return out;
}

}  // namespace

LockHolds::LockHolds(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                     std::size_t most) {
  for (const ContendedLock& lock : kinds.locks.all) {
    if (locks_.size() == most) break;
    locks_.emplace_back();
    static_cast<ContendedLock&>(locks_.back()) = lock;
  }
  if (locks_.empty()) return;
  std::vector<Waits> waits(locks_.size());
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const LockId lock = lock_of(kinds, trace.waits[id]);
    if (lock != kNoLock) waits[lock].push_back(id);
  }
  std::vector<std::vector<std::pair<ActorId, Hold>>> holds(locks_.size());
  each_side_by_side(locks_.size(), [&](std::size_t lock) {
    sort_by_wake(trace, waits[lock]);
    holds[lock] = holds_of(trace, kinds, static_cast<LockId>(lock), waits[lock]);
  });
  holds_.resize(trace.actors.size());
  for (const auto& of_lock : holds) {
    for (const auto& [holder, hold] : of_lock) holds_[holder].push_back(hold);
  }
  make_disjoint();
  describe(trace, groups, waits);
  add_meanwhile(trace, kinds);
}

void LockHolds::make_disjoint() {
  for (std::vector<Hold>& holds : holds_) {
    std::sort(holds.begin(), holds.end(), [](const Hold& a, const Hold& b) {
      return std::pair(a.from, a.lock) < std::pair(b.from, b.lock);
    });
    for (std::size_t i = 1; i < holds.size(); ++i) {
      holds[i].from = std::max(holds[i].from, holds[i - 1].to);
      holds[i].to = std::max(holds[i].to, holds[i].from);
    }
  }
}

void LockHolds::describe(const Trace& trace, const ThreadGroups& groups, const std::vector<Waits>& waits) {
  std::vector<std::map<GroupId, Nanos>> held(locks_.size());
  for (ActorId id = 0; id < holds_.size(); ++id) {
    for (const Hold& hold : holds_[id]) {
      held[hold.lock][groups.group_of[id]] += hold.to - hold.from;
      locks_[hold.lock].held_ns += clipped(hold.from, hold.to, trace.window);
    }
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const std::vector<std::uint32_t> function_of_frame = functions_of_frames(trace);
  const std::vector<std::vector<std::uint32_t>> calls = system_calls(trace, function_of_frame);
  std::vector<Nanos> of_site(trace.sites.size(), kNoWait);
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    locks_[i].holding = longest_first(held[i]);
    if (!held[i].empty()) {
      locks_[i].holders = std::max_element(held[i].begin(), held[i].end(), by_time)->first;
    }
    const std::vector<SiteId> sites = add_up_by_site(trace, waits[i], of_site);
    describe_waits(trace, groups, sites, of_site, locks_[i]);
    const std::set<StackId> stacks = stacks_of_sites(trace, sites);
    locks_[i].calls = part_in_calls(trace, groups, calls, stacks, locks_[i].holders);
    if (!is_of_kernel(trace, locks_[i])) {
      const Samples section = samples_in_section(trace, groups, function_of_frame, stacks, locks_[i].holders);
      locks_[i].section = section.part();
      locks_[i].section_samples = section.some;
    }
    for (const SiteId site : sites) of_site[site] = kNoWait;
  }
}

void LockHolds::add_meanwhile(const Trace& trace, const WaitKinds& kinds) {
  for (Lock& lock : locks_) lock.ran_ns = lock.held_ns;
  const auto add = [&](ActorId thread, std::size_t hold, Nanos from, Nanos to, Nanos Lock::*part) {
    const std::vector<Hold>& holds = holds_[thread];
    for (; hold < holds.size() && holds[hold].from < to; ++hold) {
      const Nanos both =
          clipped(std::max(holds[hold].from, from), std::min(holds[hold].to, to), trace.window);
      Lock& lock = locks_[holds[hold].lock];
      lock.*part += both;
      lock.ran_ns -= both;
    }
  };
  std::vector<std::size_t> next(holds_.size());  // by ActorId: the first hold that is not over
  const auto go_to = [&](ActorId thread, Nanos from) {
    const std::vector<Hold>& holds = holds_[thread];
    while (next[thread] < holds.size() && holds[next[thread]].to <= from) ++next[thread];
    return next[thread];
  };
  for (const Wait& wait : trace.waits) {
    const ActorId thread = trace.sites[wait.site].thread;
    add(thread, go_to(thread, wait.block), wait.block, wait.wake, part_of(trace, kinds, wait.site));
    if (wait.wake != kNever) {
      add(thread, go_to(thread, wait.wake), wait.wake, wait.run, &Lock::queued_ns);
    }
  }
  next.assign(holds_.size(), 0);
  for (const Preemption& preemption : trace.preemptions) {
    const std::size_t hold = go_to(preemption.thread, preemption.out);
    add(preemption.thread, hold, preemption.out, preemption.run, &Lock::queued_ns);
  }
}

}  // namespace offwait
