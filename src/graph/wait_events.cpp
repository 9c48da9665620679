// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/wait_events.h"

#include <algorithm>
#include <array>

namespace offwait {

namespace {

/// A batch and the waits that it reads fit a second-level cache.
constexpr std::size_t kWaitsInBatch = 4096;
/// One wait of this many is looked at to choose the bounds of batches.
constexpr std::size_t kSampled = 64;
/// The waits of one thread lie far from each other. They are fetched from memory this many in advance.
constexpr std::size_t kAhead = 8;

/// Bounds between which about equally many waits begin.
std::vector<std::uint64_t> bounds(const Trace& trace, std::size_t threads) {
  const Window& window = trace.window;
  std::vector<Nanos> begins;
  for (std::size_t i = 0; i < trace.waits.size(); i += kSampled) {
    const Nanos block = trace.waits[i].block;
    if (block > window.begin && block < window.end) begins.push_back(block - window.begin);
  }
  std::sort(begins.begin(), begins.end());
  std::vector<std::uint64_t> result;
  // A batch looks at each thread once.
  const std::size_t step = std::max(kWaitsInBatch, threads) / kSampled;
  for (std::size_t i = step; i < begins.size(); i += step) {
    result.push_back(static_cast<std::uint64_t>(begins[i]) * 2);
  }
  result.erase(std::unique(result.begin(), result.end()), result.end());
  result.push_back(static_cast<std::uint64_t>(window.length()) * 2 + 2);
  return result;
}

}  // namespace

WaitEvents::WaitEvents(const Trace& trace, const Histories& histories) : trace_(trace) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const std::span<const std::uint32_t> waits = histories.of(id).waits;
    if (!waits.empty()) threads_.push_back({id, trace.actors[id].exit, waits, false, {}, 0});
  }
  bounds_ = bounds(trace, threads_.size());
}

std::span<const WaitEvent> WaitEvents::next() {
  events_.clear();
  while (events_.empty() && batch_ < bounds_.size()) {
    const std::uint64_t from = batch_ == 0 ? 0 : bounds_[batch_ - 1];
    const std::uint64_t to = bounds_[batch_++];
    for (Thread& thread : threads_) {
      if (thread.next < to) collect(thread, to);
    }
    std::erase_if(threads_, [](const Thread& thread) { return !thread.in_wait && thread.waits.empty(); });
    sort(from, to);
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
  const auto key = [&window](Nanos time) { return static_cast<std::uint64_t>(time - window.begin) * 2; };
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

/// Sorts events with keys in [from, to) by key and keeps the order of equal ones: a radix sort.
void WaitEvents::sort(std::uint64_t from, std::uint64_t to) {
  constexpr unsigned kDigit = 11;
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigit;
  scratch_.resize(events_.size());
  for (unsigned shift = 0; shift < 64 && (to - 1 - from) >> shift > 0; shift += kDigit) {
    const auto digit = [&](const WaitEvent& event) { return ((event.key - from) >> shift) % kDigits; };
    std::array<std::uint32_t, kDigits> ends{};
    for (const WaitEvent& event : events_) {
      ++ends[digit(event)];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& end : ends) {
      const std::uint32_t count = end;
      end = sum;
      sum += count;
    }
    for (const WaitEvent& event : events_) {
      scratch_[ends[digit(event)]++] = event;
    }
    events_.swap(scratch_);
  }
}

}  // namespace offwait
