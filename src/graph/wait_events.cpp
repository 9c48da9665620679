// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/wait_events.h"

#include <algorithm>
#include <cstddef>

#include "base/radix_sort.h"

namespace offwait {

namespace {

/// A batch and the waits that it reads fit a second-level cache.
constexpr std::size_t kWaitsInBatch = 4096;
/// One wait of this many is looked at to choose the bounds of batches.
constexpr std::size_t kSampled = 64;
/// The waits of one thread lie far from each other. They are fetched from memory this many in advance.
constexpr std::size_t kAhead = 8;

}  // namespace

std::vector<Nanos> some_begins(const Trace& trace) {
  const Window& window = trace.window;
  std::vector<Nanos> begins;
  for (std::size_t i = 0; i < trace.waits.size(); i += kSampled) {
    const Nanos block = trace.waits[i].block;
    if (block > window.begin && block < window.end) begins.push_back(block);
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

WaitEvents::WaitEvents(const Trace& trace, const Histories& histories, std::span<const Nanos> begins,
                       const Window& part)
    : trace_(trace) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const std::span<const std::uint32_t> waits = histories.of(id).waits;
    if (waits.empty()) continue;
    threads_.push_back({id, trace.actors[id].exit, waits, false, {}, 0});
    if (part.begin > trace.window.begin) skip(threads_.back(), part.begin);
  }
  find_bounds(begins, part);
}

void WaitEvents::find_bounds(std::span<const Nanos> begins, const Window& part) {
  bounds_.push_back(key(part.begin));
  // A batch looks at each thread once.
  const auto step = static_cast<std::ptrdiff_t>(std::max(kWaitsInBatch, threads_.size()) / kSampled);
  const auto end = std::lower_bound(begins.begin(), begins.end(), part.end);
  auto at = std::upper_bound(begins.begin(), end, part.begin);
  for (; end - at > step; at += step) {
    bounds_.push_back(key(at[step]));
  }
  bounds_.push_back(key(part.end) + (part.end == trace_.window.end ? 2 : 0));
  bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
}

/// Passes over the waits that began before `begin`.
void WaitEvents::skip(Thread& thread, Nanos begin) {
  const std::size_t begun = begun_before(trace_, thread.waits, begin);
  if (begun == 0) return;
  const std::uint32_t last = thread.waits[begun - 1];
  thread.waits = thread.waits.subspan(begun);
  const Nanos until = std::min(trace_.waits[last].wake, thread.exit);
  if (until < begin) return;
  open_.push_back({last, thread.id});
  if (until > trace_.window.end) {
    thread.waits = {};
    return;
  }
  thread.end = {key(until), last, thread.id};
  thread.next = thread.end.key;
  thread.in_wait = true;
}

std::span<const WaitEvent> WaitEvents::next() {
  events_.clear();
  while (events_.empty() && batch_ + 1 < bounds_.size()) {
    const std::uint64_t from = bounds_[batch_];
    const std::uint64_t to = bounds_[++batch_];
    for (Thread& thread : threads_) {
      if (thread.next < to) collect(thread, to);
    }
    std::erase_if(threads_, [](const Thread& thread) { return !thread.in_wait && thread.waits.empty(); });
    radix_sort(events_, scratch_, from, to, [](const WaitEvent& event) { return event.key; });
  }
  return events_;
}

/// Appends the thread's events before the key `before`.
void WaitEvents::collect(Thread& thread, std::uint64_t before) {
  const Window& window = trace_.window;
  if (thread.in_wait) {
    events_.push_back(thread.end);
    thread.in_wait = false;
  }
  for (; !thread.waits.empty(); thread.waits = thread.waits.subspan(1)) {
    const std::uint32_t index = thread.waits.front();
    if (thread.waits.size() > kAhead) __builtin_prefetch(&trace_.waits[thread.waits[kAhead]]);
    const Wait& wait = trace_.waits[index];
    if (wait.block >= window.end) {
      thread.waits = {};
      return;
    }
    const bool empty = wait.block == wait.wake;
    const Nanos until = std::min(wait.wake, thread.exit);
    if (empty ? wait.block < window.begin : until <= window.begin) continue;
    const std::uint64_t begin = key(std::max(wait.block, window.begin)) + 1;
    if (begin >= before) {
      thread.next = begin;
      return;
    }
    events_.push_back({begin, index, thread.id});
    if (empty) continue;
    if (until > window.end) {
      thread.waits = {};
      return;
    }
    // A thread can exit at the instant at which its last wait begins.
    const WaitEvent end{std::max(key(until), begin), index, thread.id};
    if (end.key >= before) {
      thread.end = end;
      thread.next = end.key;
      thread.in_wait = true;
      thread.waits = thread.waits.subspan(1);
      return;
    }
    events_.push_back(end);
  }
}

}  // namespace offwait
