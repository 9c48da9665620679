// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ring_reader.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include <linux/bpf.h>

#include "offwait/event.h"

namespace offwait {
namespace {

/// A ring buffer with one writer, which puts into it what the kernel would.
class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  RingMemory memory() { return {&consumed_, &produced_, data_.data(), kBytes}; }

  template <class Record>
  void put(const Record& record) {
    const std::uint64_t at = reserve(sizeof(record));
    copy(at + BPF_RINGBUF_HDR_SZ, &record, sizeof(record));
    submit(at);
  }

  /// Returns its place.
  std::uint64_t reserve(std::uint32_t bytes) {
    const std::uint64_t at = produced_;
    const std::uint32_t header = bytes | BPF_RINGBUF_BUSY_BIT;
    copy(at, &header, sizeof(header));
    produced_ += (BPF_RINGBUF_HDR_SZ + bytes + 7) / 8 * 8;
    return at;
  }

  void submit(std::uint64_t at, std::uint32_t flag = 0) {
    std::uint32_t header = 0;
    std::memcpy(&header, data_.data() + at % kBytes, sizeof(header));
    header = (header & ~BPF_RINGBUF_BUSY_BIT) | flag;
    copy(at, &header, sizeof(header));
  }

  std::uint64_t unread() const { return produced_ - consumed_; }

 private:
  static constexpr std::size_t kBytes = 4096;

  void copy(std::uint64_t at, const void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t place = (at + i) % kBytes;
      data_[place] = data_[place + kBytes] = static_cast<const std::byte*>(from)[i];
    }
  }

  std::uint64_t consumed_ = 0;
  std::uint64_t produced_ = 0;
  alignas(8) std::array<std::byte, 2 * kBytes> data_{};
};

offwait_preemption preemption(std::uint32_t tid, std::uint64_t run_ns) {
  offwait_preemption record{};
  record.type = OFFWAIT_RECORD_PREEMPTION;
  record.tid = tid;
  record.run_ns = run_ns;
  return record;
}

offwait_thread_record birth(std::uint32_t tid, std::uint64_t at_ns) {
  offwait_thread_record record{};
  record.type = OFFWAIT_RECORD_THREAD;
  record.tid = tid;
  record.at_ns = at_ns;
  return record;
}

/// Several rings and what was taken from them: the tids.
class Rings {
 public:
  explicit Rings(std::size_t count) : rings_(count) {
    for (Ring& ring : rings_) readers_.emplace_back(ring.memory());
  }

  Ring& operator[](std::size_t at) { return rings_[at]; }

  std::vector<std::uint32_t> take(Nanos until) {
    std::vector<std::uint32_t> tids;
    take_in_order(
        readers_, until,
        [](void* context, std::span<const std::byte> bytes) {
          offwait_record record{};
          std::memcpy(&record, bytes.data(), sizeof(record));
          static_cast<std::vector<std::uint32_t>*>(context)->push_back(record.tid);
        },
        &tids);
    return tids;
  }

 private:
  std::deque<Ring> rings_;
  std::vector<RingReader> readers_;
};

using Tids = std::vector<std::uint32_t>;

TEST_CASE("records of several rings come in order of time") {
  Rings rings(3);
  rings[0].put(birth(1, 100));
  rings[0].put(birth(4, 400));
  rings[1].put(preemption(2, 200));
  rings[1].put(preemption(3, 300));
  rings[2].put(preemption(5, 500));
  CHECK(rings.take(1000) == Tids{1, 2, 3, 4, 5});
  CHECK(rings[0].unread() + rings[1].unread() + rings[2].unread() == 0);
  CHECK(rings.take(1000).empty());
}

TEST_CASE("of one time, what becomes of threads comes first") {
  Rings rings(2);
  rings[1].put(preemption(2, 100));
  rings[0].put(birth(1, 100));
  CHECK(rings.take(100) == Tids{1, 2});
}

TEST_CASE("what is later than the clock was stays, and so does what lies behind it") {
  Rings rings(2);
  rings[0].put(preemption(1, 100));
  rings[0].put(preemption(3, 300));
  rings[0].put(preemption(4, 250));  // ends an interval that it was noticed after
  rings[1].put(preemption(2, 200));
  CHECK(rings.take(280) == Tids{1, 2});
  rings[1].put(preemption(5, 290));
  CHECK(rings.take(400) == Tids{5, 3, 4});
}

TEST_CASE("a record without a time of its own has that of the one before it") {
  Rings rings(2);
  rings[0].put(preemption(1, 300));
  offwait_record unknown{};
  unknown.type = 255;
  unknown.tid = 2;
  rings[0].put(unknown);
  rings[1].put(preemption(3, 301));
  CHECK(rings.take(400) == Tids{1, 2, 3});
}

TEST_CASE("nothing later is taken than what a writer has not finished") {
  Rings rings(2);
  rings[0].put(preemption(1, 100));
  const std::uint64_t place = rings[0].reserve(sizeof(offwait_preemption));
  rings[0].put(preemption(3, 150));
  rings[1].put(preemption(2, 120));
  rings[1].put(preemption(4, 200));
  CHECK(rings.take(300) == Tids{1});
  rings[0].submit(place, BPF_RINGBUF_DISCARD_BIT);
  CHECK(rings.take(300) == Tids{2, 3, 4});
  CHECK(rings[0].unread() == 0);
}

TEST_CASE("the records of threads that move between CPUs stay in order, through many rounds of the rings") {
  std::mt19937 random(9);
  constexpr std::size_t kCpus = 4;
  Rings rings(kCpus);
  std::vector<std::uint32_t> emitted;
  std::vector<std::uint32_t> taken;
  std::uint64_t now = 0;
  for (int round = 0; round < 500; ++round) {
    for (std::uint64_t i = random() % 40; i > 0; --i) {
      now += 1 + random() % 3;
      emitted.push_back(static_cast<std::uint32_t>(emitted.size()));
      rings[random() % kCpus].put(preemption(emitted.back(), now));
    }
    const Tids part = rings.take(static_cast<Nanos>(now - random() % 10));
    taken.insert(taken.end(), part.begin(), part.end());
  }
  const Tids rest = rings.take(static_cast<Nanos>(now));
  taken.insert(taken.end(), rest.begin(), rest.end());
  CHECK(emitted.size() > 5000);
  CHECK(taken == emitted);
}

}  // namespace
}  // namespace offwait
