// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/false_wakeups.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "model/by_thread.h"
#include "model/histories.h"
#include "model/partition_near.h"

namespace offwait {

namespace {

using Indices = std::span<const std::uint32_t>;

constexpr std::uint32_t kNoWait = UINT32_MAX;

class Finder {
 public:
  explicit Finder(const Trace& trace)
      : trace_(trace),
        histories_(trace),
        marks_(trace.actors.size(), trace.false_marks, [](const FalseMark& mark) { return mark.thread; }) {}

  std::vector<FalseWakeup> find() {
    find_candidates();
    if (candidates_.empty()) return {};
    for (const DiskIo& io : trace_.disk_ios) {
      const std::uint32_t candidate = candidate_at(io.thread, io.issue);
      if (candidate != kNoWait && !is_declared(candidate)) reject(candidate);
    }
    for (const Actor& made : trace_.actors) {
      const std::uint32_t candidate = candidate_at(made.parent, made.start);
      if (candidate != kNoWait && !is_declared(candidate)) reject(candidate);
    }
    reject_wakers_of_work();
    std::vector<FalseWakeup> found;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!rejected_[i]) found.push_back(candidates_[i]);
    }
    return found;
  }

 private:
  const WaitSite& site(const Wait& wait) const { return trace_.sites[wait.site]; }

  /// The thread was woken before it blocked. It did not wait again, and the thread that woke it may have been
  /// blocked itself by then: such a wait cannot be the end of a longer one.
  static bool is_empty(const Wait& wait) { return wait.block == wait.wake; }

  void find_candidates() {
    const std::vector<bool> for_futex = ended_waits_for_futex();
    first_of_.push_back(0);
    for (ActorId thread = 0; thread < trace_.actors.size(); ++thread) {
      const Indices waits = histories_.of(thread).waits;
      const bool has_marks = !marks_.of(thread).empty();
      for (std::size_t at = 0; at + 1 < waits.size();) {
        Nanos ran = 0;
        std::size_t again = at;
        if (has_marks && declared(thread, waits, at, ran)) {
          again = at + 1;
        } else if (for_futex[waits[at]]) {
          again = waits_again(thread, waits, at, ran);
        }
        if (again != at) candidates_.push_back({waits[at], waits[again], ran});
        at = std::max(again, at + 1);
      }
      first_of_.push_back(candidates_.size());
    }
    rejected_.resize(candidates_.size(), false);
    over_by_last_.resize(trace_.actors.size());
  }

  bool marked(ActorId thread, Nanos from, Nanos to) const {
    const Indices marks = marks_.of(thread);
    const auto mark = std::partition_point(marks.begin(), marks.end(),
                                           [&](std::uint32_t i) { return trace_.false_marks[i].at < from; });
    return mark != marks.end() && trace_.false_marks[*mark].at <= to;
  }

  /// Whether a mark of the thread lies between the wait at `at` and the next one; `ran` is then the running
  /// time there.
  bool declared(ActorId thread, Indices waits, std::size_t at, Nanos& ran) const {
    const Wait& first = trace_.waits[waits[at]];
    const Nanos block = trace_.waits[waits[at + 1]].block;
    if (first.run == kNever || is_empty(trace_.waits[waits[at + 1]]) || !marked(thread, first.run, block))
      return false;
    ran = block - first.run - preempted(thread, first.run, block);
    return true;
  }
  bool is_declared(std::uint32_t candidate) const {
    const FalseWakeup& one = candidates_[candidate];
    const Wait& first = trace_.waits[one.first];
    return marked(site(first).thread, first.run, trace_.waits[one.again].block);
  }

  /// By wait: whether it was for a futex, and a thread ended it. Others are not looked at thread by thread,
  /// which is slow because a thread's waits lie far apart in memory.
  std::vector<bool> ended_waits_for_futex() const {
    std::vector<bool> by_site;
    by_site.reserve(trace_.sites.size());
    for (const WaitSite& one : trace_.sites) {
      by_site.push_back(one.wait_class == WaitClass::futex && one.waker != kNoActor &&
                        trace_.actors[one.waker].kind == ActorKind::thread);
    }
    std::vector<bool> out(trace_.waits.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Wait& wait = trace_.waits[i];
      out[i] = wait.object != kNoObject && wait.run != kNever && by_site[wait.site];
    }
    return out;
  }

  /// The position in `waits` at which the thread waits again after the wakeup from the wait for a futex at
  /// `at`; `at` itself if the thread's own records show that the wakeup was not false.
  std::size_t waits_again(ActorId thread, Indices waits, std::size_t at, Nanos& ran) const {
    const Wait& first = trace_.waits[waits[at]];
    Nanos since = first.run;
    const std::size_t last = std::min(waits.size() - 1, at + 1 + kMostLockWaits);
    for (std::size_t next = at + 1; next <= last; ++next) {
      const Wait& wait = trace_.waits[waits[next]];
      ran += wait.block - since - preempted(thread, since, wait.block);
      if (site(wait).wait_class != WaitClass::futex || wait.object == kNoObject || ran > kLongestFalseRun)
        return at;
      if (wait.object == first.object && !is_empty(wait)) {
        if (site(wait).wait_stack != site(first).wait_stack) return at;
        const Nanos between = wait.block - first.run;
        const Nanos waited = first.wake - first.block + std::min(wait.wake, trace_.window.end) - wait.block;
        if (between > waited / kWaitsPerFalseRun || lost(thread, first.wake, wait.block)) return at;
        return next;
      }
      if (wait.run == kNever) return at;
      since = wait.run;
    }
    return at;
  }

  Nanos preempted(ActorId thread, Nanos from, Nanos to) const {
    const Indices all = histories_.of(thread).preemptions;
    Nanos sum = 0;
    for (auto at = std::partition_point(all.begin(), all.end(),
                                        [&](std::uint32_t i) { return trace_.preemptions[i].out < from; });
         at != all.end() && trace_.preemptions[*at].out < to; ++at) {
      sum += trace_.preemptions[*at].run - trace_.preemptions[*at].out;
    }
    return sum;
  }

  bool lost(ActorId thread, Nanos from, Nanos to) const {
    const Indices all = histories_.of(thread).gaps;
    const auto at = std::partition_point(all.begin(), all.end(),
                                         [&](std::uint32_t i) { return trace_.gaps[i].to < from; });
    return at != all.end() && trace_.gaps[*at].from < to;
  }

  /// The candidate that the thread was in at this time: between its two waits, ends included.
  std::uint32_t candidate_at(ActorId thread, Nanos time) {
    if (thread == kNoActor) return kNoWait;
    const std::size_t first = first_of_[thread];
    const auto all = std::span<const FalseWakeup>(candidates_).subspan(first, first_of_[thread + 1] - first);
    std::size_t& over = over_by_last_[thread];
    over = partition_near(all, over,
                          [&](const FalseWakeup& one) { return trace_.waits[one.again].block < time; });
    if (over == all.size() || trace_.waits[all[over].first].wake > time) return kNoWait;
    return static_cast<std::uint32_t>(first + over);
  }

  /// A candidate that woke another thread depends on that thread's candidate: if the woken thread did work,
  /// then so did its waker, and the waker's waker, and so on.
  void reject_wakers_of_work() {
    const std::vector<std::uint32_t> ends_in = candidates_of_waits();
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        depends_on;  // (the woken thread's candidate, the waker's)
    for (std::uint32_t i = 0; i < trace_.waits.size(); ++i) {
      const Wait& wait = trace_.waits[i];
      const std::uint32_t waker = candidate_at(site(wait).waker, wait.wake);
      if (waker == kNoWait) continue;
      if (ends_in[i] == kNoWait) {
        reject(waker);
      } else {
        depends_on.emplace_back(ends_in[i], waker);
      }
    }
    std::sort(depends_on.begin(), depends_on.end());
    while (!newly_rejected_.empty()) {
      const std::uint32_t woken = newly_rejected_.back();
      newly_rejected_.pop_back();
      for (auto at =
               std::lower_bound(depends_on.begin(), depends_on.end(), std::pair(woken, std::uint32_t{0}));
           at != depends_on.end() && at->first == woken; ++at) {
        reject(at->second);
      }
    }
  }

  /// By wait: the candidate in which the wait ends.
  std::vector<std::uint32_t> candidates_of_waits() const {
    std::vector<std::uint32_t> out(trace_.waits.size(), kNoWait);
    std::size_t next = 0;
    for (ActorId thread = 0; thread < trace_.actors.size(); ++thread) {
      std::uint32_t inside = kNoWait;
      for (const std::uint32_t wait : histories_.of(thread).waits) {
        if (inside != kNoWait && wait == candidates_[inside].again) inside = kNoWait;
        if (next < candidates_.size() && wait == candidates_[next].first)
          inside = static_cast<std::uint32_t>(next++);
        out[wait] = inside;
      }
    }
    return out;
  }

  void reject(std::uint32_t candidate) {
    if (rejected_[candidate]) return;
    rejected_[candidate] = true;
    newly_rejected_.push_back(candidate);
  }

  const Trace& trace_;
  Histories histories_;
  ByThread marks_;
  std::vector<FalseWakeup> candidates_;
  std::vector<std::size_t> first_of_;      ///< by thread: its first candidate; then the number of candidates
  std::vector<std::size_t> over_by_last_;  ///< by thread: its candidates that were over when last asked for
  std::vector<bool> rejected_;
  std::vector<std::uint32_t> newly_rejected_;
};

}  // namespace

std::vector<FalseWakeup> find_false_wakeups(const Trace& trace) { return Finder(trace).find(); }

Trace without_false_wakeups(Trace trace, const std::vector<FalseWakeup>& false_wakeups) {
  // The wakeups of a thread are in order of time, so that a wait with several false wakeups grows step by
  // step.
  struct Span {
    Nanos from;
    Nanos to;
  };
  std::vector<Span> spans;
  std::vector<std::size_t> first_of(trace.actors.size() + 1);
  spans.reserve(false_wakeups.size());
  for (const FalseWakeup& one : false_wakeups) {
    ++first_of[trace.sites[trace.waits[one.first].site].thread + 1];
    spans.push_back({trace.waits[one.first].block, trace.waits[one.again].block});
  }
  std::partial_sum(first_of.begin(), first_of.end(), first_of.begin());
  std::vector<std::size_t> over_by_last(trace.actors.size());
  const auto taken = [&](ActorId thread, Nanos at) {
    const std::size_t first = first_of[thread];
    const auto all = std::span<const Span>(spans).subspan(first, first_of[thread + 1] - first);
    std::size_t& over = over_by_last[thread];
    over = partition_near(all, over, [&](const Span& span) { return span.to <= at; });
    return over != all.size() && all[over].from <= at;
  };
  std::vector<bool> gone(trace.waits.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    gone[i] = taken(trace.sites[trace.waits[i].site].thread, trace.waits[i].block);
  }
  for (const FalseWakeup& one : false_wakeups) {
    trace.waits[one.again].block = trace.waits[one.first].block;
    trace.waits[one.again].holder = trace.waits[one.first].holder;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) trace.waits[kept++] = trace.waits[i];
  }
  trace.waits.resize(kept);
  std::erase_if(trace.preemptions, [&](const Preemption& one) { return taken(one.thread, one.out); });
  return trace;
}

Trace without_false_wakeups(Trace trace) {
  const std::vector<FalseWakeup> found = find_false_wakeups(trace);
  return found.empty() ? trace : without_false_wakeups(std::move(trace), found);
}

}  // namespace offwait
