// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ring_reader.h"

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstring>
#include <utility>

#include <linux/bpf.h>

#include "offwait/event.h"

namespace offwait {
namespace {

/// Where the time of this kind of record is: when the program that emitted it began, or, of some that end an
/// interval, earlier. 0: it has none.
std::size_t offset_of_time(std::byte type) {
  switch (static_cast<std::uint8_t>(type)) {
    case OFFWAIT_RECORD_WAIT:
      return offsetof(offwait_wait, run_ns);
    case OFFWAIT_RECORD_WAIT_STACKS:
      return offsetof(offwait_wait_stacks, run_ns);
    case OFFWAIT_RECORD_PREEMPTION:
      return offsetof(offwait_preemption, run_ns);
    case OFFWAIT_RECORD_GAP:
      return offsetof(offwait_gap, to_ns);
    case OFFWAIT_RECORD_THREAD:
      return offsetof(offwait_thread_record, at_ns);
    case OFFWAIT_RECORD_IO:
      return offsetof(offwait_io, complete_ns);
    case OFFWAIT_RECORD_SPIN:
      return offsetof(offwait_spin, end_ns);
    case OFFWAIT_RECORD_FALSE_MARK:
      return offsetof(offwait_false_mark, at_ns);
    case OFFWAIT_RECORD_SAMPLE:
      return offsetof(offwait_sample, at_ns);
    case OFFWAIT_RECORD_FILE:
      return offsetof(offwait_file, at_ns);
    default:
      return 0;
  }
}

Nanos time_of(std::span<const std::byte> record) {
  const std::size_t offset = record.empty() ? 0 : offset_of_time(record[0]);
  std::uint64_t time = 0;
  if (offset == 0 || record.size() < offset + sizeof(time)) return 0;
  std::memcpy(&time, record.data() + offset, sizeof(time));
  return static_cast<Nanos>(time);
}

/// The next record of a ring.
struct Head {
  Nanos time;
  std::size_t ring;  ///< its index

  auto operator<=>(const Head&) const = default;
};

}  // namespace

RingReader::RingReader(const RingMemory& memory) : memory_(memory), at_(*memory.consumed), end_(at_) {}

void RingReader::begin() {
  // The kernel writes it; atomic_ref takes no constants before C++26.
  end_ = std::atomic_ref(const_cast<std::uint64_t&>(*memory_.produced)).load(std::memory_order_acquire);
}

RingReader::Next RingReader::look() {
  constexpr int kPatience = 1000;
  while (at_ < end_) {
    const std::byte* header = memory_.data + (at_ & (memory_.bytes - 1));
    auto& word = *reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(header));
    const std::atomic_ref length(word);
    std::uint32_t bytes = length.load(std::memory_order_acquire);
    for (int i = 0; (bytes & BPF_RINGBUF_BUSY_BIT) != 0; ++i) {
      if (i == kPatience) return Next::unfinished;
      bytes = length.load(std::memory_order_acquire);
    }
    record_ = {header + BPF_RINGBUF_HDR_SZ, bytes & ~BPF_RINGBUF_DISCARD_BIT};
    if ((bytes & BPF_RINGBUF_DISCARD_BIT) == 0) {
      time_ = std::max(time_, time_of(record_));
      return Next::record;
    }
    pass();
  }
  return Next::none;
}

void RingReader::pass() {
  constexpr std::uint64_t kAlignment = 8;
  at_ += (BPF_RINGBUF_HDR_SZ + record_.size() + kAlignment - 1) / kAlignment * kAlignment;
}

void RingReader::release() {
  if (*memory_.consumed != at_) std::atomic_ref(*memory_.consumed).store(at_, std::memory_order_release);
}

void take_in_order(std::span<RingReader> rings, Nanos until, RecordTaker taker, void* context) {
  std::vector<Head> heads;  // a heap, the earliest first
  const auto add_head = [&](std::size_t ring) {
    const RingReader::Next next = rings[ring].look();
    if (next == RingReader::Next::record) {
      heads.push_back({rings[ring].time(), ring});
      std::ranges::push_heap(heads, std::ranges::greater());
    }
    return next != RingReader::Next::unfinished;
  };
  for (RingReader& ring : rings) ring.begin();
  bool all_known = true;
  for (std::size_t ring = 0; ring < rings.size(); ++ring) all_known = add_head(ring) && all_known;
  while (all_known && !heads.empty()) {
    std::ranges::pop_heap(heads, std::ranges::greater());
    const Head head = heads.back();
    heads.pop_back();
    if (head.time > until) break;
    // As long as no other ring's record comes first.
    RingReader& ring = rings[head.ring];
    RingReader::Next next = RingReader::Next::record;
    while (next == RingReader::Next::record && ring.time() <= until &&
           (heads.empty() || Head{ring.time(), head.ring} < heads.front())) {
      taker(context, ring.record());
      ring.pass();
      next = ring.look();
    }
    all_known = next != RingReader::Next::unfinished;
    ring.release();
    if (next == RingReader::Next::record) all_known = add_head(head.ring);
  }
  for (RingReader& ring : rings) ring.release();
}

}  // namespace offwait
