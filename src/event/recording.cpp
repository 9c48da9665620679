// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/recording.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

namespace offwait {

std::size_t record_size(std::uint8_t type) {
  switch (type) {
#define X(name, struct_name)  \
  case OFFWAIT_RECORD_##name: \
    return sizeof(struct_name);
    OFFWAIT_RECORD_KINDS(X)
#undef X
    default:
      return 0;
  }
}

static_assert(offsetof(offwait_wait, block_ns) == 8 && offsetof(offwait_wait, wake_ns) == 16 &&
                  offsetof(offwait_wait, run_ns) == 24 && sizeof(offwait_wait) == 72,
              "words 1 to 3 of a wait are its times, the others its key");
static_assert(
    offsetof(offwait_wait, object) == 56 && offsetof(offwait_wait, in_flight_ns) == 64 &&
        offsetof(offwait_wait, owner) == 64 && offsetof(offwait_wait, draw) == 68,
    "word 7 of a wait is its object; word 8 is in_flight_ns or owner, and above it how stacks were drawn");
static_assert(OFFWAIT_SHORT_WAIT == offsetof(offwait_wait, wait_user), "words 0 to 4 of a wait");
static_assert(offsetof(offwait_preemption, out_ns) == 8 && offsetof(offwait_preemption, run_ns) == 16 &&
                  sizeof(offwait_preemption) == 24,
              "words 1 and 2 of a preemption are its times");
static_assert(offsetof(offwait_sample, at_ns) == 8 && sizeof(offwait_sample) == 40,
              "word 1 of a sample is its time");
static_assert(offsetof(offwait_thread_record, tgid) == 8 && offsetof(offwait_thread_record, at_ns) == 16 &&
                  offsetof(offwait_thread_record, start_ns) == 24 &&
                  offsetof(offwait_thread_record, comm) == 32 && OFFWAIT_COMM_LEN == 16 &&
                  offsetof(offwait_thread_record, ns_tid) == 48 && sizeof(offwait_thread_record) == 56,
              "words 2 and 3 of a thread record are its times, 4 and 5 its name");
static_assert(std::endian::native == std::endian::little, "a number's low bytes come first");

namespace {

using WaitWords = std::array<std::uint64_t, 9>;
using PreemptionWords = std::array<std::uint64_t, 3>;
using SampleWords = std::array<std::uint64_t, 5>;
using ThreadWords = std::array<std::uint64_t, 7>;

/// The words one by one, for their products to be computed at the same time.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e,
                    std::uint64_t f) {
  const std::uint64_t sum = a * 0x9e3779b97f4a7c15ULL + b * 0xc2b2ae3d27d4eb4fULL +
                            c * 0x165667b19e3779f9ULL + d * 0xd6e8feb86659fd93ULL +
                            e * 0x27d4eb2f165667c5ULL + f * 0x2545f4914f6cdd1dULL;
  return sum ^ sum >> 32;
}

std::uint64_t word_of(std::span<const std::byte> record, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, record.data() + index * sizeof(word), sizeof(word));
  return word;
}

}  // namespace

std::size_t RecordBuffer::KeyHash::operator()(const RecordKey& key) const {
  const auto [a, b, c, d, e, f] = key;
  return mixed(a, b, c, d, e, f);
}

std::size_t RecordBuffer::KeyHash::operator()(const KeyOfThread& key) const {
  return mixed(key.common, key.tid, key.waker_id, 0, 0, 0);
}

std::optional<std::uint32_t> RecordBuffer::intern(const RecordKey& key, Recent& recent) {
  const bool may_add = may_add_keys();
  RecordKey common = key;
  common[0] &= UINT32_MAX;
  common[1] &= ~std::uint64_t{UINT32_MAX};
  const std::optional<std::uint32_t> number = commons_.number(common, may_add);
  if (!number) return std::nullopt;
  const auto tid = static_cast<std::uint32_t>(key[0] >> 32);
  const auto waker_id = static_cast<std::uint32_t>(key[1]);
  const std::optional<std::uint32_t> index = keys_.number({*number, tid, waker_id}, may_add);
  if (index) recent = {key, *index};
  return index;
}

RecordBuffer::RecordKey RecordBuffer::key(std::uint32_t index) const {
  const KeyOfThread& stored = keys_[index];
  RecordKey key = commons_[stored.common];
  key[0] |= std::uint64_t{stored.tid} << 32;
  key[1] |= stored.waker_id;
  return key;
}

void RecordBuffer::keep_in_memory(std::size_t bytes, std::string directory) {
  most_key_bytes_ = bytes / 4;
  blocks_.keep_in_memory(bytes - most_key_bytes_, std::move(directory));
}

RecordBuffer::Interval RecordBuffer::unpack(const std::byte*& at, std::uint64_t previous_run_ns) const {
  const bool with_last = std::to_integer<std::uint8_t>(at[0]) == kPackedWithLast;
  const auto lengths = std::to_integer<unsigned>(at[1]);
  at += 2;
  PackedInterval packed{};
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const unsigned length = (lengths >> (6 - 2 * i) & 3U) + 1;
    std::memcpy(&packed[i], at, length);
    at += length;
  }
  std::uint32_t last = 0;
  if (with_last) {
    std::memcpy(&last, at, sizeof(last));
    at += sizeof(last);
  }
  const auto [index, zigzag, blocked, runnable] = packed;
  const std::int64_t since_previous = std::int64_t{zigzag >> 1} ^ -std::int64_t{zigzag & 1};
  const std::uint64_t run = previous_run_ns + static_cast<std::uint64_t>(since_previous);
  const std::uint64_t wake = run - runnable;
  return {key(index), wake - blocked, wake, run, last};
}

offwait_wait RecordBuffer::wait_of(const Interval& interval) {
  const RecordKey& words = interval.key;
  return std::bit_cast<offwait_wait>(WaitWords{words[0], interval.block_ns, interval.wake_ns, interval.run_ns,
                                               words[1], words[2], words[3], words[4],
                                               words[5] << 32 | interval.last});
}

offwait_preemption RecordBuffer::preemption_of(const Interval& interval) {
  return std::bit_cast<offwait_preemption>(
      PreemptionWords{interval.key[0], interval.block_ns, interval.run_ns});
}

offwait_sample RecordBuffer::sample_of(const Interval& interval) {
  const RecordKey& words = interval.key;
  return std::bit_cast<offwait_sample>(SampleWords{words[0], interval.run_ns, words[1], words[2], words[3]});
}

void RecordBuffer::append_whole(std::span<const std::byte> record) {
  Blocks::Block& block = blocks_.room(record.size());
  std::memcpy(block.data.get() + block.used, record.data(), record.size());
  block.used += record.size();
  bytes_ += record.size();
}

bool RecordBuffer::append(std::span<const std::byte> record) {
  if (record.empty()) return false;
  const auto type = static_cast<std::uint8_t>(record[0]);
  // The ring buffer rounds nothing: what is submitted is what arrives.
  const bool short_wait = type == OFFWAIT_RECORD_WAIT && record.size() == OFFWAIT_SHORT_WAIT;
  if (!short_wait && record.size() != record_size(type)) return false;
  ++counts_[type];
  const auto flags = static_cast<std::uint8_t>(record[offsetof(offwait_wait, flags)]);
  if (type == OFFWAIT_RECORD_WAIT && (flags & OFFWAIT_WAIT_SENT) != 0) ++sent_waits_;
  if (type == OFFWAIT_RECORD_WAIT && !short_wait && word_of(record, 8) >> 32 != 0) has_draws_ = true;
  const bool interval =
      type == OFFWAIT_RECORD_WAIT || type == OFFWAIT_RECORD_PREEMPTION || type == OFFWAIT_RECORD_SAMPLE;
  if (interval && append_packed(record)) return true;
  if (type == OFFWAIT_RECORD_THREAD && append_packed_thread(record)) return true;
  if (short_wait) {
    offwait_wait whole{};
    std::memcpy(&whole, record.data(), record.size());
    append_whole(std::as_bytes(std::span(&whole, 1)));
  } else {
    append_whole(record);
  }
  return true;
}

/// False for the rare record that does not fit: of an interval that began before the recording, or that is
/// longer than 4 s.
bool RecordBuffer::append_packed(std::span<const std::byte> record) {
  // These are numbers and not structs of numbers: copying a struct would wait until its parts are written.
  const auto word = [record](std::size_t index) { return word_of(record, index); };
  const std::uint64_t a = word(0);
  const std::uint64_t block_ns = word(1);
  std::uint64_t wake_ns = block_ns;
  std::uint64_t run_ns = word(2);
  std::uint64_t b = 0, c = 0, d = 0, e = 0, f = 0;
  std::uint32_t last = 0;
  if ((a & 0xff) == OFFWAIT_RECORD_SAMPLE) {
    b = run_ns;
    run_ns = block_ns;
    c = word(3);
    d = word(4);
  } else if (record.size() >= OFFWAIT_SHORT_WAIT) {
    wake_ns = run_ns;
    run_ns = word(3);
    b = word(4);
  }
  if (record.size() > OFFWAIT_SHORT_WAIT) {
    c = word(5);
    d = word(6);
    e = word(7);
    last = static_cast<std::uint32_t>(word(8));
    f = word(8) >> 32;
  }
  const auto since_previous = static_cast<std::int64_t>(run_ns - std::exchange(previous_run_ns_, run_ns));
  const auto zigzag = static_cast<std::uint64_t>(since_previous << 1 ^ since_previous >> 63);
  const std::uint64_t blocked = wake_ns - block_ns;
  const std::uint64_t runnable = run_ns - wake_ns;
  const std::uint64_t all = blocked | runnable | zigzag;
  if (all > UINT32_MAX) return false;

  Recent& recent = recent_[mixed(a, b, c, d, e, f) % recent_.size()];
  const RecordKey& known = recent.key;
  std::uint32_t index = recent.index;
  // No key is all zeros, because the type is part of it.
  if (((known[0] ^ a) | (known[1] ^ b) | (known[2] ^ c) | (known[3] ^ d) | (known[4] ^ e) | (known[5] ^ f)) !=
      0) {
    const std::optional<std::uint32_t> interned = intern({a, b, c, d, e, f}, recent);
    if (!interned) return false;
    index = *interned;
  }

  Blocks::Block& block = blocks_.room(kLongestPacked);
  std::byte* const begin = block.data.get() + block.used;
  std::byte* at = begin + 2;
  unsigned lengths = 0;
  if (all <= UINT16_MAX && index <= UINT8_MAX) {
    // The lengths that most have, all numbers at once.
    lengths = 0b00'01'01'01;
    const std::uint64_t numbers = index | zigzag << 8 | blocked << 24 | runnable << 40;
    std::memcpy(at, &numbers, sizeof(numbers));
    at += 7;
  } else {
    for (const std::uint32_t number :
         PackedInterval{index, static_cast<std::uint32_t>(zigzag), static_cast<std::uint32_t>(blocked),
                        static_cast<std::uint32_t>(runnable)}) {
      const auto less_one = static_cast<unsigned>(std::bit_width(number | 1U) - 1) / 8;
      lengths = lengths << 2 | less_one;
      std::memcpy(at, &number, sizeof(number));  // the next one overwrites what is too much
      at += less_one + 1;
    }
  }
  if (last != 0) {
    std::memcpy(at, &last, sizeof(last));
    at += sizeof(last);
  }
  begin[0] = std::byte{last != 0 ? kPackedWithLast : kPacked};
  begin[1] = static_cast<std::byte>(lengths);
  const auto size = static_cast<std::size_t>(at - begin);
  block.used += size;
  bytes_ += size;
  return true;
}

/// False for a record of a thread that is older than 4 s.
bool RecordBuffer::append_packed_thread(std::span<const std::byte> record) {
  ThreadWords words{};
  std::memcpy(words.data(), record.data(), sizeof(words));
  const std::uint64_t age = words[2] - words[3];
  if (age > UINT32_MAX) return false;
  const auto low = [&words](std::size_t index) { return static_cast<std::uint32_t>(words[index]); };
  const auto high = [&words](std::size_t index) { return static_cast<std::uint32_t>(words[index] >> 32); };
  const std::uint32_t tid = high(0);
  // A main thread has its own number as its tgid. So that main threads of several processes have this in
  // common, 0 is stored, and a mark.
  const std::uint64_t leads = tid == low(1) ? 1 : 0;
  const RecordKey common = {low(0), leads != 0 ? 0 : low(1), words[4], words[5], high(6), leads};
  const std::optional<std::uint32_t> number = commons_.number(common, may_add_keys());
  if (!number) return false;
  Blocks::Block& block = blocks_.room(kLongestPackedThread);
  std::byte* const begin = block.data.get() + block.used;
  begin[0] = std::byte{kPackedThread};
  std::byte* at = begin + 1;
  std::memcpy(at, &words[2], sizeof(words[2]));
  at += sizeof(words[2]);
  std::byte* const lengths_at = at;
  at += sizeof(std::uint16_t);
  std::uint16_t lengths = 0;
  for (const std::uint32_t value :
       PackedThread{*number, tid, high(1), low(6), static_cast<std::uint32_t>(age)}) {
    const auto less_one = static_cast<unsigned>(std::bit_width(value | 1U) - 1) / 8;
    lengths = static_cast<std::uint16_t>(unsigned{lengths} << 2U | less_one);
    std::memcpy(at, &value, sizeof(value));  // the next one overwrites what is too much
    at += less_one + 1;
  }
  std::memcpy(lengths_at, &lengths, sizeof(lengths));
  const auto size = static_cast<std::size_t>(at - begin);
  block.used += size;
  bytes_ += size;
  return true;
}

offwait_thread_record RecordBuffer::unpack_thread(const std::byte*& at) const {
  ++at;
  std::uint64_t at_ns = 0;
  std::memcpy(&at_ns, at, sizeof(at_ns));
  at += sizeof(at_ns);
  std::uint16_t lengths = 0;
  std::memcpy(&lengths, at, sizeof(lengths));
  at += sizeof(lengths);
  PackedThread packed{};
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const unsigned length = (unsigned{lengths} >> (2 * (packed.size() - 1 - i)) & 3U) + 1;
    std::memcpy(&packed[i], at, length);
    at += length;
  }
  const auto [number, tid, parent, ns_tid, age] = packed;
  const RecordKey& common = commons_[number];
  const std::uint64_t tgid = common[5] != 0 ? tid : common[1];
  return std::bit_cast<offwait_thread_record>(
      ThreadWords{common[0] | std::uint64_t{tid} << 32, tgid | std::uint64_t{parent} << 32, at_ns,
                  at_ns - age, common[2], common[3], ns_tid | common[4] << 32});
}

std::uint64_t RecordBuffer::count(offwait_record_type type) const { return counts_[type]; }

}  // namespace offwait
