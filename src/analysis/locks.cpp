// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/locks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/actors.h"
#include "analysis/code_uses.h"
#include "analysis/lock_names.h"
#include "analysis/samples.h"
#include "model/activity.h"
#include "model/by_thread.h"

namespace offwait {

namespace {

constexpr std::size_t kMostPlaces = 3;
constexpr std::size_t kMostLooks = 20'000;

/// The waits for one lock, or for an object that is not a lock, as indices.
struct Waits {
  LockId lock = kNoLock;
  ObjectId object = kNoObject;
  std::vector<std::uint32_t> ids;
  Nanos wait_ns = 0;
};

using Stretch = std::pair<Nanos, Nanos>;

class LockTable {
 public:
  LockTable(const Trace& trace, const Facts& facts, const std::vector<std::string>& names,
            const CodeUses& uses)
      : trace_(trace),
        groups_(facts.groups),
        kinds_(facts.kinds),
        uses_(uses),
        activity_(trace),
        samples_(trace.actors.size(), trace.cpu_samples,
                 [](const CpuSample& sample) { return sample.thread; }),
        code_(sampled_code(trace)),
        names_(names) {}

  FoundLocks run() {
    FoundLocks out;
    std::vector<Waits> all = waits_by_lock(out);
    for (const Waits& waits : all) {
      const bool lock = waits.lock != kNoLock;
      ++(lock ? out.locks : out.queues);
      (lock ? out.wait_s : out.queues_s) += to_seconds(waits.wait_ns);
    }
    if (all.size() > kMostLockRows) all.resize(kMostLockRows);
    for (const Waits& waits : all) out.rows.push_back(row(waits));
    std::stable_partition(out.rows.begin(), out.rows.end(),
                          [](const FoundLockRow& row) { return is_lock(row.kind); });
    number(out.rows);
    return out;
  }

 private:
  std::vector<Waits> waits_by_lock(FoundLocks& sums) const {
    std::map<std::pair<LockId, ObjectId>, Waits> found;
    for (std::uint32_t id = 0; id < trace_.waits.size(); ++id) {
      const Wait& wait = trace_.waits[id];
      const WaitSite& site = trace_.sites[wait.site];
      const LockId lock = kinds_.locks.of(wait);
      const ObjectId object = lock == kNoLock ? wait.object : kinds_.locks.all[lock].object;
      const bool has_lock = lock != kNoLock || (object != kNoObject && !is_stored(trace_.objects[object]));
      const bool of_lock = site.wait_class == WaitClass::futex || site.wait_class == WaitClass::lock;
      if (trace_.actors[site.thread].outside || (!has_lock && !of_lock)) continue;
      const Nanos wait_ns = clipped(wait.block, wait.wake, trace_.window);
      if (uses_.requests[wait.site]) {
        sums.requests_s += to_seconds(wait_ns);
      } else if (!uses_.counts[groups_.group_of[site.thread]]) {
        sums.apart_s += to_seconds(wait_ns);
      } else if (holder_of(wait) == kNoActor) {
        sums.not_let_go_s += to_seconds(wait_ns);
      } else if (!has_lock) {
        sums.unknown_s += to_seconds(wait_ns);
      } else {
        Waits& waits = found[{lock, object}];
        waits.lock = lock;
        waits.object = object;
        waits.ids.push_back(id);
        waits.wait_ns += wait_ns;
      }
    }
    std::vector<Waits> out;
    for (auto& [key, waits] : found) out.push_back(std::move(waits));
    std::stable_sort(out.begin(), out.end(),
                     [](const Waits& a, const Waits& b) { return a.wait_ns > b.wait_ns; });
    return out;
  }

  Nanos length_of(const Wait& wait) const { return clipped(wait.block, wait.wake, trace_.window); }

  /// The thread that had the lock; kNoActor if neither the lock nor its release tells.
  ActorId holder_of(const Wait& wait) const {
    if (wait.holder != kNoActor) return wait.holder;
    const ActorId waker = trace_.sites[wait.site].waker;
    return waker != kNoActor && trace_.actors[waker].kind == ActorKind::thread ? waker : kNoActor;
  }

  FoundLockRow row(const Waits& waits) {
    FoundLockRow out;
    if (waits.object != kNoObject) out.object = trace_.objects[waits.object];
    if (waits.lock != kNoLock) out.evidence = kinds_.locks.all[waits.lock].evidence;
    out.waits = waits.ids.size();
    out.wait_s = to_seconds(waits.wait_ns);
    out.mean_line = out.wait_s / to_seconds(trace_.window.length());
    out.longest_line = longest_line(waits);
    add_places(waits, out);
    add_holders(waits, out);
    add_meanwhile(waits, out);
    return out;
  }

  std::size_t longest_line(const Waits& waits) const {
    std::vector<std::pair<Nanos, int>> steps;
    for (const std::uint32_t id : waits.ids) {
      steps.emplace_back(trace_.waits[id].block, 1);
      steps.emplace_back(trace_.waits[id].wake, -1);
    }
    std::sort(steps.begin(), steps.end());
    int now = 0;
    int most = 0;
    for (const auto& [at, step] : steps) most = std::max(most, now += step);
    return static_cast<std::size_t>(most);
  }

  /// The places where threads wait for the object and let it go. They also tell what the object is, and what
  /// it is called.
  void add_places(const Waits& waits, FoundLockRow& out) const {
    std::map<StackId, Nanos> stacks;
    std::map<StackId, Nanos> releases;
    std::map<LockKind, Nanos> told;
    Nanos by_name = 0;
    for (const std::uint32_t id : waits.ids) {
      const Wait& wait = trace_.waits[id];
      const WaitSite& site = trace_.sites[wait.site];
      const Nanos length = length_of(wait);
      out.longest_s = std::max(out.longest_s, to_seconds(length));
      if (site.wait_stack != kNoStack) stacks[site.wait_stack] += length;
      if (site.waker_stack != kNoStack) releases[site.waker_stack] += length;
    }
    for (const auto& [stack, wait_ns] : stacks) {
      if (const auto kind = lock_kind(trace_, trace_.stacks[stack])) {
        told[*kind] += wait_ns;
        by_name += wait_ns;
      }
    }
    const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    if (out.object.kind == Object::Kind::kernel_lock) {
      out.kind = LockKind::kernel_lock;
    } else if (2 * by_name >= waits.wait_ns && !told.empty()) {
      out.kind = std::max_element(told.begin(), told.end(), less)->first;
    } else {
      out.kind = LockKind::queue;
    }
    // Names are evidence; the one judgement is that of the replay.
    if (is_lock(out.kind) != (waits.lock != kNoLock)) {
      out.kind = waits.lock != kNoLock ? LockKind::lock : LockKind::queue;
    }
    std::vector<std::pair<StackId, Nanos>> longest(stacks.begin(), stacks.end());
    std::stable_sort(longest.begin(), longest.end(),
                     [&](const auto& a, const auto& b) { return less(b, a); });
    if (longest.size() > kMostPlaces) longest.resize(kMostPlaces);
    for (const auto& [stack, wait_ns] : longest) {
      out.places.push_back({to_seconds(wait_ns), backtrace_of(trace_, stack)});
    }
    if (const auto most = std::max_element(releases.begin(), releases.end(), less); most != releases.end()) {
      out.let_go = backtrace_of(trace_, most->first);
      out.let_go_s = to_seconds(most->second);
    }
    out.name = waits.lock != kNoLock ? names_[waits.lock] : own_name(out.object);
    if (out.name.empty() && !longest.empty()) {
      out.name = taken_in(trace_, trace_.stacks[longest.front().first], out.object);
    }
  }

  void add_holders(const Waits& waits, FoundLockRow& out) const {
    std::map<GroupId, std::pair<Nanos, std::set<ActorId>>> holders;
    for (const std::uint32_t id : waits.ids) {
      const Wait& wait = trace_.waits[id];
      const ActorId holder = holder_of(wait);
      if (holder == kNoActor || groups_.group_of[holder] == kNoGroup) continue;
      auto& [wait_ns, threads] = holders[groups_.group_of[holder]];
      wait_ns += length_of(wait);
      threads.insert(holder);
      out.owner_s += wait.holder == kNoActor ? 0 : to_seconds(length_of(wait));
    }
    for (const auto& [group, held] : holders) {
      const auto& [wait_ns, threads] = held;
      out.holders.push_back(
          {common_name(trace_, {threads.begin(), threads.end()}), threads.size(), to_seconds(wait_ns)});
    }
    std::stable_sort(
        out.holders.begin(), out.holders.end(),
        [](const FoundLockRow::Holder& a, const FoundLockRow::Holder& b) { return a.wait_s > b.wait_s; });
  }

  void add_meanwhile(const Waits& waits, FoundLockRow& out) const {
    std::map<ActorId, Nanos> disks;
    std::map<ActorId, std::vector<Stretch>> held;
    const std::size_t step = waits.ids.size() / kMostLooks + 1;
    FoundLockRow::Meanwhile& sums = out.meanwhile;
    for (std::size_t i = 0; i < waits.ids.size(); i += step) {
      const Wait& wait = trace_.waits[waits.ids[i]];
      const ActorId holder = holder_of(wait);
      if (holder == kNoActor) continue;
      Nanos from = std::max(wait.block, trace_.window.begin);
      const Nanos to = std::min(wait.wake, trace_.window.end);
      if (from >= to) continue;
      if (wait.holder == kNoActor) {
        // The thread that let go of the lock may have waited for it as well. It then had the lock only after
        // its own wait.
        (void)activity_.look(holder, from, to, [&](std::uint32_t id, Nanos, Nanos end) {
          if (is_for(trace_.waits[id], waits)) from = std::max(from, end);
        });
      }
      const Activity::Times times =
          activity_.look(holder, from, to, [&](std::uint32_t id, Nanos begin, Nanos end) {
            add_wait(trace_.waits[id], end - begin, sums, disks);
          });
      sums.looked_s += to_seconds(to - from);
      sums.ran_s += to_seconds(times.ran_ns);
      sums.runnable_s += to_seconds(times.runnable_ns);
      sums.unknown_s += to_seconds(times.unknown_ns);
      held[holder].emplace_back(from, to);
    }
    const auto most = std::max_element(disks.begin(), disks.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != disks.end()) out.disk = trace_.actors[most->first].name;
    out.held = samples_in(held);
  }

  bool is_for(const Wait& wait, const Waits& waits) const {
    return waits.lock != kNoLock ? kinds_.locks.of(wait) == waits.lock : wait.object == waits.object;
  }

  /// A wait of the holder.
  void add_wait(const Wait& wait, Nanos length, FoundLockRow::Meanwhile& sums,
                std::map<ActorId, Nanos>& disks) const {
    const WaitKind kind = kinds_.of_site[wait.site];
    if (kind == WaitKind::disk || kind == WaitKind::below) {
      sums.at_disks_s += to_seconds(length);
      if (kind == WaitKind::disk) disks[trace_.sites[wait.site].waker] += length;
    } else if (kind == WaitKind::lock) {
      sums.other_locks_s += to_seconds(length);
    } else {
      sums.others_s += to_seconds(length);
    }
  }

  /// Where the threads ran in these stretches, which may overlap.
  FoundSamples samples_in(std::map<ActorId, std::vector<Stretch>>& held) const {
    std::map<StackId, std::uint64_t> stacks;
    for (auto& [thread, stretches] : held) {
      std::sort(stretches.begin(), stretches.end());
      std::vector<Stretch> joined;
      for (const Stretch& stretch : stretches) {
        if (!joined.empty() && stretch.first <= joined.back().second) {
          joined.back().second = std::max(joined.back().second, stretch.second);
        } else {
          joined.push_back(stretch);
        }
      }
      for (const std::uint32_t id : samples_.of(thread)) {
        const CpuSample& sample = trace_.cpu_samples[id];
        const auto after = std::upper_bound(joined.begin(), joined.end(), Stretch{sample.at, kNever});
        if (after != joined.begin() && sample.at < std::prev(after)->second) ++stacks[sample.stack];
      }
    }
    std::vector<StackSamples> counted;
    for (const auto& [stack, count] : stacks) counted.push_back({stack, count, count});
    return sum_places(trace_, code_, counted);
  }

  /// Numbers the conditions and queues whose only name is the function that waits for them.
  static void number(std::vector<FoundLockRow>& rows) {
    const auto is_named = [](const FoundLockRow& row) {
      return is_lock(row.kind) || !own_name(row.object).empty();
    };
    std::map<std::string, std::size_t> taken;
    for (const FoundLockRow& row : rows) taken[row.name] += is_named(row) ? 0U : 1U;
    std::map<std::string, std::size_t> numbers;
    for (FoundLockRow& row : rows) {
      if (is_named(row)) continue;
      const std::string where = row.name.empty() ? "" : " of " + row.name;
      row.name = "lock" + (taken[row.name] > 1 ? " #" + std::to_string(++numbers[row.name]) : "") + where;
    }
  }

  const Trace& trace_;
  const ThreadGroups& groups_;
  const WaitKinds& kinds_;
  const CodeUses& uses_;
  Activity activity_;
  ByThread samples_;
  SampledCode code_;
  const std::vector<std::string>& names_;  ///< by LockId
};

}  // namespace

std::string_view to_string(LockKind kind) {
  switch (kind) {
    case LockKind::mutex:
      return "mutex";
    case LockKind::rwlock:
      return "rwlock";
    case LockKind::semaphore:
      return "semaphore";
    case LockKind::condition:
      return "condition";
    case LockKind::barrier:
      return "barrier";
    case LockKind::join:
      return "join";
    case LockKind::parker:
      return "parker";
    case LockKind::kernel_lock:
      return "kernel";
    case LockKind::lock:
      return "lock";
    case LockKind::queue:
      return "queue?";
  }
  return "lock";
}

bool is_lock(LockKind kind) {
  return kind == LockKind::mutex || kind == LockKind::rwlock || kind == LockKind::kernel_lock ||
         kind == LockKind::lock;
}

FoundLocks locks_of(const Trace& trace, const Facts& facts, const std::vector<std::string>& names,
                    const CodeUses& uses) {
  return LockTable(trace, facts, names, uses).run();
}

}  // namespace offwait
