// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/recording.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "recordings.h"

namespace offwait {
namespace {

using test::bytes_of;

struct Seen {
  int type = 0;
  std::uint64_t number = 0;  ///< the tid of a record, as the tests number them
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> seen(const RecordBuffer& records) {
  std::vector<Seen> all;
  records.for_each([&all](const auto& record) { all.push_back({record.type, record.tid}); });
  return all;
}

/// A record of any of the five types, every other byte of it set.
template <class Record>
Record numbered(offwait_record_type type, std::uint32_t number) {
  Record record;
  std::memset(&record, 0x5a, sizeof(record));
  record.type = static_cast<std::uint8_t>(type);
  record.tid = number;
  return record;
}

bool append_numbered(RecordBuffer& records, int type, std::uint32_t number) {
  switch (type) {
    case OFFWAIT_RECORD_WAIT:
      return records.append(bytes_of(numbered<offwait_wait>(OFFWAIT_RECORD_WAIT, number)));
    case OFFWAIT_RECORD_PREEMPTION:
      return records.append(bytes_of(numbered<offwait_preemption>(OFFWAIT_RECORD_PREEMPTION, number)));
    case OFFWAIT_RECORD_GAP:
      return records.append(bytes_of(numbered<offwait_gap>(OFFWAIT_RECORD_GAP, number)));
    case OFFWAIT_RECORD_THREAD:
      return records.append(bytes_of(numbered<offwait_thread_record>(OFFWAIT_RECORD_THREAD, number)));
    default:
      return records.append(bytes_of(numbered<offwait_io>(OFFWAIT_RECORD_IO, number)));
  }
}

TEST_CASE("a record's size follows from its first byte") {
  CHECK(record_size(OFFWAIT_RECORD_WAIT) == sizeof(offwait_wait));
  CHECK(record_size(OFFWAIT_RECORD_PREEMPTION) == sizeof(offwait_preemption));
  CHECK(record_size(OFFWAIT_RECORD_GAP) == sizeof(offwait_gap));
  CHECK(record_size(OFFWAIT_RECORD_THREAD) == sizeof(offwait_thread_record));
  CHECK(record_size(OFFWAIT_RECORD_IO) == sizeof(offwait_io));
  CHECK(record_size(0) == 0);
  CHECK(record_size(OFFWAIT_RECORD_IO + 1) == 0);
  CHECK(record_size(255) == 0);
}

TEST_CASE("what is no whole record is not taken") {
  RecordBuffer records;
  std::array<std::byte, 256> bytes{};
  CHECK_FALSE(records.append({}));
  for (const int type : {0, 1, 2, 3, 4, 5, 6, 255}) {
    bytes[0] = static_cast<std::byte>(type);
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
      const bool whole = size == record_size(static_cast<std::uint8_t>(type));
      RecordBuffer fresh;
      CHECK(fresh.append(std::span(bytes).first(size)) == whole);
      if (!whole) CHECK_FALSE(records.append(std::span(bytes).first(size)));
    }
  }
  CHECK(records.bytes() == 0);
  CHECK(seen(records).empty());
  for (int type = OFFWAIT_RECORD_WAIT; type <= OFFWAIT_RECORD_IO; ++type) {
    CHECK(records.count(static_cast<offwait_record_type>(type)) == 0);
  }
}

TEST_CASE("records come back in order, complete, and are counted by type") {
  RecordBuffer records;
  std::vector<Seen> expected;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const int type = 1 + static_cast<int>(i * 7 % 5);
    REQUIRE(append_numbered(records, type, i));
    expected.push_back({type, i});
    // What is refused leaves no trace among the others.
    REQUIRE_FALSE(records.append(std::array{std::byte{9}}));
  }
  CHECK(seen(records) == expected);
  CHECK(records.count(OFFWAIT_RECORD_WAIT) == 2);
  CHECK(records.count(OFFWAIT_RECORD_IO) == 2);
  CHECK(records.bytes() == 2 * (sizeof(offwait_wait) + sizeof(offwait_preemption) + sizeof(offwait_gap) +
                                sizeof(offwait_thread_record) + sizeof(offwait_io)));

  offwait_wait got{};
  records.for_each([&got](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) got = record;
  });
  CHECK(got.block_ns == 0x5a5a5a5a5a5a5a5a);
  CHECK(got.waker_kernel == 0x5a5a5a5a);
}

TEST_CASE("records are neither lost nor torn at block boundaries, nor moved") {
  RecordBuffer records;
  REQUIRE(append_numbered(records, OFFWAIT_RECORD_WAIT, 0));
  std::vector<const void*> first;
  records.for_each([&first](const auto& record) { first.push_back(&record); });

  const auto type_of = [](std::uint32_t i) { return 1 + static_cast<int>((i ^ i >> 3) % 5); };
  // 3.6 MB: several blocks of 1 MiB, which no record size divides.
  constexpr std::uint32_t kRecords = 100'000;
  std::size_t bytes = sizeof(offwait_wait);
  for (std::uint32_t i = 1; i < kRecords; ++i) {
    REQUIRE(append_numbered(records, type_of(i), i));
    bytes += record_size(static_cast<std::uint8_t>(type_of(i)));
  }
  CHECK(records.bytes() == bytes);
  CHECK(bytes > 3'000'000);

  std::uint32_t next = 0;
  std::uint64_t wrong = 0;
  const void* now_first = nullptr;
  records.for_each([&](const auto& record) {
    if (next == 0) now_first = &record;
    const auto same =
        numbered<std::decay_t<decltype(record)>>(static_cast<offwait_record_type>(type_of(next)), next);
    if (std::memcmp(&same, &record, sizeof(same)) != 0) ++wrong;
    ++next;
  });
  CHECK(next == kRecords);
  CHECK(wrong == 0);
  CHECK(now_first == first.at(0));
}

}  // namespace
}  // namespace offwait
