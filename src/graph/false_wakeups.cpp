// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/false_wakeups.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "model/by_thread.h"
#include "model/histories.h"

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
    first_of_.push_back(0);
    for (ActorId thread = 0; thread < trace_.actors.size(); ++thread) {
      const Indices waits = histories_.of(thread).waits;
      for (std::size_t at = 0; at + 1 < waits.size();) {
        Nanos ran = 0;
        const std::size_t again =
            declared(thread, waits, at, ran) ? at + 1 : waits_again(thread, waits, at, ran);
        if (again != at) candidates_.push_back({waits[at], waits[again], ran});
        at = std::max(again, at + 1);
      }
      first_of_.push_back(candidates_.size());
    }
    rejected_.resize(candidates_.size(), false);
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

  /// The position in `waits` at which the thread waits again after the wakeup from the wait at `at`; `at`
  /// itself if the thread's own records show that the wakeup was not false.
  std::size_t waits_again(ActorId thread, Indices waits, std::size_t at, Nanos& ran) const {
    const Wait& first = trace_.waits[waits[at]];
    const ActorId waker = site(first).waker;
    if (first.object == kNoObject || site(first).wait_class != WaitClass::futex || waker == kNoActor ||
        trace_.actors[waker].kind != ActorKind::thread || first.run == kNever)
      return at;
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
  std::uint32_t candidate_at(ActorId thread, Nanos time) const {
    if (thread == kNoActor) return kNoWait;
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(first_of_[thread]);
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(first_of_[thread + 1]);
    const auto at = std::partition_point(
        begin, end, [&](const FalseWakeup& one) { return trace_.waits[one.again].block < time; });
    if (at == end || trace_.waits[at->first].wake > time) return kNoWait;
    return static_cast<std::uint32_t>(at - candidates_.begin());
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
  std::vector<std::size_t> first_of_;  ///< by thread: its first candidate; then the number of candidates
  std::vector<bool> rejected_;
  std::vector<std::uint32_t> newly_rejected_;
};

}  // namespace

std::vector<FalseWakeup> find_false_wakeups(const Trace& trace) { return Finder(trace).find(); }

Trace without_false_wakeups(const Trace& trace, const std::vector<FalseWakeup>& false_wakeups) {
  Trace out = trace;
  // The wakeups of a thread are in order of time, so that a wait with several false wakeups grows step by
  // step.
  struct Span {
    ActorId thread;
    Nanos from;
    Nanos to;
  };
  std::vector<Span> spans;
  spans.reserve(false_wakeups.size());
  for (const FalseWakeup& one : false_wakeups) {
    spans.push_back({trace.sites[trace.waits[one.first].site].thread, trace.waits[one.first].block,
                     trace.waits[one.again].block});
    out.waits[one.again].block = out.waits[one.first].block;
    out.waits[one.again].holder = out.waits[one.first].holder;
  }
  const auto taken = [&spans](ActorId thread, Nanos at) {
    const auto after = std::partition_point(spans.begin(), spans.end(), [&](const Span& span) {
      return std::pair(span.thread, span.to) <= std::pair(thread, at);
    });
    return after != spans.end() && after->thread == thread && after->from <= at;
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < trace.waits.size(); ++i) {
    if (!taken(trace.sites[trace.waits[i].site].thread, trace.waits[i].block))
      out.waits[kept++] = out.waits[i];
  }
  out.waits.resize(kept);
  std::erase_if(out.preemptions, [&](const Preemption& one) { return taken(one.thread, one.out); });
  return out;
}

}  // namespace offwait
