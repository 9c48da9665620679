// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/recording.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <random>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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

/// A record of one of the types, with every byte set but for padding.
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
  CHECK(record_size(OFFWAIT_RECORD_SAMPLE) == sizeof(offwait_sample));
  CHECK(record_size(OFFWAIT_RECORD_FILE) == sizeof(offwait_file));
  CHECK(record_size(OFFWAIT_RECORD_FILE + 1) == 0);
  CHECK(record_size(255) == 0);
}

TEST_CASE("bytes that are no whole record are refused") {
  RecordBuffer records;
  std::array<std::byte, 256> bytes{};
  CHECK_FALSE(records.append({}));
  for (const int type : {0, 1, 2, 3, 4, 5, 6, 8, 255}) {
    bytes[0] = static_cast<std::byte>(type);
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
      const bool whole = size == record_size(static_cast<std::uint8_t>(type)) ||
                         (type == OFFWAIT_RECORD_WAIT && size == OFFWAIT_SHORT_WAIT);
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
    // Refused bytes do not change the other records.
    REQUIRE_FALSE(records.append(std::array{std::byte{9}}));
  }
  CHECK(seen(records) == expected);
  CHECK(records.count(OFFWAIT_RECORD_WAIT) == 2);
  CHECK(records.count(OFFWAIT_RECORD_IO) == 2);
  offwait_wait got{};
  records.for_each([&got](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) got = record;
  });
  CHECK(got.block_ns == 0x5a5a5a5a5a5a5a5a);
  CHECK(got.waker_kernel == 0x5a5a5a5a);
}

TEST_CASE("a wait that was cut short comes back with zeros, packed or not") {
  offwait_wait wait{};
  wait.type = OFFWAIT_RECORD_WAIT;
  wait.waker_kind = OFFWAIT_WAKER_THREAD;
  wait.tid = 11;
  wait.waker_id = 12;
  wait.syscall = -1;
  wait.task_state = 0x102;
  const std::array<std::array<std::uint64_t, 3>, 3> times{{{1'000'000, 1'000'700, 1'000'900},
                                                           {0, 5'000'000'000, 5'000'000'001},
                                                           {5'000'000'100, 5'000'400'000, 5'001'000'000}}};
  RecordBuffer records;
  std::vector<offwait_wait> expected;
  for (const auto& [block, wake, run] : times) {
    wait.block_ns = block;
    wait.wake_ns = wake;
    wait.run_ns = run;
    REQUIRE(records.append(bytes_of(wait).first(OFFWAIT_SHORT_WAIT)));
    REQUIRE(records.append(bytes_of(wait)));
    expected.insert(expected.end(), 2, wait);
  }
  std::size_t next = 0;
  records.for_each([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
      REQUIRE(next < expected.size());
      CHECK(std::memcmp(&record, &expected[next++], sizeof(record)) == 0);
    }
  });
  CHECK(next == expected.size());
}

TEST_CASE("records are neither lost nor torn at block boundaries") {
  RecordBuffer records;
  const auto type_of = [](std::uint32_t i) { return 1 + static_cast<int>((i ^ i >> 3) % 5); };
  // Several blocks of 1 MiB, which the records' sizes do not divide.
  constexpr std::uint32_t kRecords = 200'000;
  for (std::uint32_t i = 0; i < kRecords; ++i) REQUIRE(append_numbered(records, type_of(i), i));
  CHECK(records.bytes() > 4'000'000);

  std::uint32_t next = 0;
  std::uint64_t wrong = 0;
  records.for_each([&](const auto& record) {
    const auto same =
        numbered<std::decay_t<decltype(record)>>(static_cast<offwait_record_type>(type_of(next)), next);
    if (std::memcmp(&same, &record, sizeof(same)) != 0) ++wrong;
    ++next;
  });
  CHECK(next == kRecords);
  CHECK(wrong == 0);
}

offwait_wait wait_at(std::uint32_t tid, std::uint64_t block, std::uint64_t wake, std::uint64_t run) {
  auto wait = numbered<offwait_wait>(OFFWAIT_RECORD_WAIT, tid);
  wait.block_ns = block;
  wait.wake_ns = wake;
  wait.run_ns = run;
  wait.in_flight_ns = 0;
  return wait;
}

TEST_CASE("waits come back to the nanosecond, whatever their times") {
  constexpr std::uint64_t kMost = UINT32_MAX;
  constexpr std::uint64_t kForward = INT32_MAX;
  constexpr std::uint64_t kBack = std::uint64_t{1} << 31;
  constexpr std::uint64_t kNow = 1'000'000'000'000;
  const std::vector<offwait_wait> waits = {
      wait_at(1, kNow, kNow + 1, kNow + 2),
      wait_at(2, kNow, kNow, kNow),                                  // empty, and earlier than the one before
      wait_at(3, 0, kNow, kNow),                                     // since before the recording
      wait_at(4, kNow + 5 - kMost, kNow + 5, kNow + 5),              // the longest that is packed
      wait_at(5, kNow + 4 - kMost, kNow + 5, kNow + 5),              // one more
      wait_at(6, kNow, kNow + 5, kNow + 5 + kMost),                  // runnable just as long
      wait_at(7, kNow, kNow + 5, kNow + 6 + kMost),                  // and one more
      wait_at(8, kNow, kNow, kNow + 6 + kMost - kBack),              // back in time as far as it goes
      wait_at(9, kNow, kNow, kNow + 6 + kMost - kBack - kBack - 1),  // and farther
      wait_at(9, kNow, kNow, kNow + 5 + kMost - kBack - kBack + kForward),  // forth
      wait_at(9, kNow, kNow, kNow + 6 + kMost - kBack + 2 * kForward),
      wait_at(10, kNow + 7, kNow + 6, kNow + 5),  // nonsense stays what it is
      wait_at(11, 0, 0, 0),
      wait_at(12, UINT64_MAX, UINT64_MAX, UINT64_MAX),
  };
  RecordBuffer records;
  for (const offwait_wait& wait : waits) REQUIRE(records.append(bytes_of(wait)));
  std::vector<offwait_wait> got;
  records.for_each([&got](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) got.push_back(record);
  });
  REQUIRE(got.size() == waits.size());
  for (std::size_t i = 0; i < waits.size(); ++i) {
    INFO("wait " << i);
    CHECK(std::memcmp(&got[i], &waits[i], sizeof(offwait_wait)) == 0);
  }
}

TEST_CASE("in_flight_ns or the owner comes back with its wait, and does not change the next one") {
  RecordBuffer records;
  offwait_wait sent = wait_at(1, 1000, 2000, 3000);
  sent.object = 2;
  sent.in_flight_ns = GENERATE(1U, 256U, UINT32_MAX);
  const offwait_wait after = wait_at(1, 3500, 4000, 5000);
  REQUIRE(records.append(bytes_of(sent)));
  REQUIRE(records.append(bytes_of(after)));
  std::vector<offwait_wait> got;
  records.for_each([&got](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) got.push_back(record);
  });
  REQUIRE(got.size() == 2);
  CHECK(std::memcmp(&got[0], &sent, sizeof(sent)) == 0);
  CHECK(std::memcmp(&got[1], &after, sizeof(after)) == 0);
}

TEST_CASE("preemptions come back to the nanosecond among the waits") {
  constexpr std::uint64_t kNow = 1'000'000'000'000;
  RecordBuffer records;
  std::vector<offwait_preemption> preemptions;
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{255}, std::uint64_t{256}, std::uint64_t{1} << 16,
        std::uint64_t{1} << 24, std::uint64_t{1} << 32, kNow}) {
    auto preemption = numbered<offwait_preemption>(OFFWAIT_RECORD_PREEMPTION, 7);
    preemption.run_ns = kNow + preemptions.size() * 300;
    preemption.out_ns = preemption.run_ns - length;
    preemptions.push_back(preemption);
    REQUIRE(records.append(bytes_of(preemption)));
    REQUIRE(records.append(bytes_of(wait_at(8, kNow, kNow, preemption.run_ns + 100))));
  }
  std::size_t next = 0;
  records.for_each([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_preemption>) {
      CHECK(std::memcmp(&record, &preemptions.at(next), sizeof(record)) == 0);
      ++next;
    } else if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
      CHECK(record.run_ns == preemptions.at(next - 1).run_ns + 100);
    }
  });
  CHECK(next == preemptions.size());
}

TEST_CASE("samples come back to the nanosecond among the waits, some 7 bytes each") {
  constexpr std::uint64_t kNow = 1'000'000'000'000;
  constexpr std::uint32_t kSamples = 100'000;
  RecordBuffer records;
  const auto sample_at = [](std::uint32_t i) {
    auto sample = numbered<offwait_sample>(OFFWAIT_RECORD_SAMPLE, 7 + i % 2);
    sample.at_ns = kNow + i * 1'000'000ULL;
    sample.user = 100 + i % 50;
    sample.kernel = i % 3;
    return sample;
  };
  for (std::uint32_t i = 0; i < kSamples; ++i) REQUIRE(records.append(bytes_of(sample_at(i))));
  CHECK(records.bytes() <= kSamples * 9 + 300 * 40);
  CHECK(records.count(OFFWAIT_RECORD_SAMPLE) == kSamples);

  // The first one of all is 16 minutes after its predecessor, which is too far to be packed.
  RecordBuffer mixed;
  for (std::uint32_t i = 0; i < 10; ++i) {
    REQUIRE(mixed.append(bytes_of(sample_at(i))));
    REQUIRE(
        mixed.append(bytes_of(wait_at(8, sample_at(i).at_ns, sample_at(i).at_ns, sample_at(i).at_ns + 1))));
  }
  std::uint32_t next = 0;
  mixed.for_each([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_sample>) {
      const offwait_sample expected = sample_at(next);
      CHECK(std::memcmp(&record, &expected, sizeof(record)) == 0);
      ++next;
    } else if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
      CHECK(record.run_ns == sample_at(next - 1).at_ns + 1);
    }
  });
  CHECK(next == 10);
}

TEST_CASE("waits with the same key take some 9 bytes each, and every part of the key counts") {
  RecordBuffer records;
  constexpr std::uint32_t kWaits = 100'000;
  for (std::uint32_t i = 1; i <= kWaits; ++i) {
    REQUIRE(records.append(bytes_of(wait_at(1 + i % 3, i * 1000ULL, i * 1000ULL + 500, i * 1000ULL + 600))));
  }
  CHECK(records.bytes() <= kWaits * 9 + 1000);

  // One bit anywhere but in the type and the times makes another wait of it.
  const offwait_wait plain = wait_at(1, 1000, 2000, 3000);
  RecordBuffer varied;
  std::vector<offwait_wait> waits;
  for (std::size_t byte = 1; byte < sizeof(offwait_wait); ++byte) {
    offwait_wait wait = plain;
    reinterpret_cast<unsigned char*>(&wait)[byte] ^= 1;
    waits.push_back(wait);
    REQUIRE(varied.append(bytes_of(wait)));
  }
  std::size_t next = 0;
  varied.for_each([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
      INFO("byte " << next + 1);
      CHECK(std::memcmp(&record, &waits.at(next), sizeof(record)) == 0);
      ++next;
    }
  });
  CHECK(next == waits.size());
}

TEST_CASE("births and exits of threads take 20 bytes each, a wait for one of many threads 24") {
  constexpr std::uint32_t kThreads = 100'000;
  RecordBuffer records;
  std::vector<offwait_thread_record> expected;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    offwait_thread_record thread{};
    thread.type = OFFWAIT_RECORD_THREAD;
    thread.event = OFFWAIT_THREAD_BORN;
    thread.tid = 100'000 + i;
    thread.tgid = i % 10 == 0 ? thread.tid : 4321;  // a process now and then
    thread.parent = 77;
    thread.at_ns = thread.start_ns = 5'000'000'000'000 + i * 30'000ULL;
    std::memcpy(thread.comm, "storm", 6);
    expected.push_back(thread);
    thread.event = OFFWAIT_THREAD_EXITED;
    thread.parent = 0;
    thread.at_ns += 20'000;
    expected.push_back(thread);
  }
  for (const offwait_thread_record& thread : expected) REQUIRE(records.append(bytes_of(thread)));
  CHECK(records.bytes() <= 2 * kThreads * 20 + 1000);
  std::size_t next = 0;
  records.for_each([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_thread_record>) {
      if (std::memcmp(&record, &expected.at(next), sizeof(record)) == 0) ++next;
    }
  });
  CHECK(next == expected.size());

  RecordBuffer waits;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    offwait_wait joined = wait_at(77, i * 30'000ULL + 1, i * 30'000ULL + 20'000, i * 30'000ULL + 25'000);
    joined.waker_id = 100'000 + i;
    REQUIRE(waits.append(bytes_of(joined)));
  }
  CHECK(waits.bytes() <= kThreads * (12 + 12) + 1000);
}

TEST_CASE("a thread record comes back whole, whatever it holds") {
  offwait_thread_record plain{};
  plain.type = OFFWAIT_RECORD_THREAD;
  plain.tid = 11;
  plain.tgid = 11;
  plain.at_ns = 9'000;
  plain.start_ns = 8'000;
  std::vector<offwait_thread_record> expected = {plain};
  for (std::size_t byte = 1; byte < sizeof(plain); ++byte) {
    offwait_thread_record other = plain;
    reinterpret_cast<unsigned char*>(&other)[byte] ^= 0x81;
    expected.push_back(other);
  }
  for (const std::uint64_t age : {std::uint64_t{UINT32_MAX}, std::uint64_t{UINT32_MAX} + 1, UINT64_MAX}) {
    expected.push_back(plain);
    expected.back().start_ns = plain.at_ns - age;
  }
  RecordBuffer records;
  for (const offwait_thread_record& thread : expected) REQUIRE(records.append(bytes_of(thread)));
  for (const bool kinds : {false, true}) {
    std::size_t next = 0;
    const auto compare = [&](const auto& record) {
      if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_thread_record>) {
        INFO("record " << next);
        CHECK(std::memcmp(&record, &expected.at(next), sizeof(record)) == 0);
        ++next;
      }
    };
    if (kinds) {
      records.for_each_kind(compare);
    } else {
      records.for_each(compare);
    }
    CHECK(next == expected.size());
  }
}

TEST_CASE("each kind of record is visited once or more, and records that are no intervals in order") {
  std::mt19937_64 random{1};  // NOLINT(cert-msc*): the same records each time
  const auto up_to = [&random](unsigned bits) { return random() & ((std::uint64_t{1} << bits) - 1); };
  RecordBuffer records;
  std::uint64_t now = 1'000'000;
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    now += up_to(static_cast<unsigned>(up_to(5)));
    offwait_wait wait{};
    wait.type = OFFWAIT_RECORD_WAIT;
    wait.tid = static_cast<std::uint32_t>(up_to(8 * static_cast<unsigned>(up_to(2))));
    wait.run_ns = now;
    wait.wake_ns = now - up_to(static_cast<unsigned>(up_to(5)) + 1) % now;
    wait.block_ns = wait.wake_ns - up_to(static_cast<unsigned>(up_to(6)) % 36) % (wait.wake_ns + 1);
    wait.object = up_to(3);
    wait.wait_user = static_cast<std::uint32_t>(up_to(2));
    wait.owner = random() % 3 == 0 ? static_cast<std::uint32_t>(up_to(20)) : 0;
    REQUIRE(records.append(bytes_of(wait)));
    if (random() % 4 == 0) {
      offwait_preemption preemption{};
      preemption.type = OFFWAIT_RECORD_PREEMPTION;
      preemption.tid = wait.tid;
      preemption.run_ns = now;
      preemption.out_ns = now - up_to(10) % now;
      REQUIRE(records.append(bytes_of(preemption)));
    }
    if (random() % 8 == 0) REQUIRE(append_numbered(records, OFFWAIT_RECORD_THREAD, i));
    if (random() % 8 == 0) REQUIRE(append_numbered(records, OFFWAIT_RECORD_IO, i));
  }
  using Key = std::tuple<int, std::uint32_t, std::uint64_t, std::uint32_t>;
  const auto key_of = [](const auto& record) {
    if constexpr (requires { record.object; }) {
      return Key{record.type, record.tid, record.object, record.wait_user};
    } else {
      return Key{record.type, record.tid, 0, 0};
    }
  };
  const auto collect = [&key_of](std::set<Key>& kinds, std::vector<Seen>& others, std::size_t& visits) {
    return [&](const auto& record) {
      ++visits;
      if constexpr (requires { end_of(record); }) {
        kinds.insert(key_of(record));
      } else {
        others.push_back({record.type, record.tid});
      }
    };
  };
  std::set<Key> all_kinds, kinds;
  std::vector<Seen> all_others, others;
  std::size_t all_visits = 0, visits = 0;
  records.for_each(collect(all_kinds, all_others, all_visits));
  records.for_each_kind(collect(kinds, others, visits));
  CHECK(all_kinds.size() > 10'000);
  CHECK(kinds == all_kinds);
  CHECK(all_others.size() > 10'000);
  CHECK(others == all_others);
  CHECK(visits < all_visits);
}

TEST_CASE("records that take more memory than they may lie in a file, and are the same") {
  constexpr std::uint32_t kRecords = 400'000;
  const auto record_at = [](std::uint32_t i) {
    // There are a thousand threads. The bound leaves room for the keys of half of them.
    return wait_at(1 + i % 1000, i * 1000ULL, i * 1000ULL + 500, i * 1000ULL + 600);
  };
  RecordBuffer all;
  RecordBuffer bounded;
  bounded.keep_in_memory(std::size_t{80} << 10, "/var/tmp");
  for (std::uint32_t i = 0; i < kRecords; ++i) {
    REQUIRE(all.append(bytes_of(record_at(i))));
    REQUIRE(bounded.append(bytes_of(record_at(i))));
  }
  CHECK(bounded.bounded().ok());
  CHECK(bounded.bytes() > std::size_t{4} << 20);
  CHECK(bounded.bytes_in_memory() <= std::size_t{2} << 20);
  CHECK(bounded.count(OFFWAIT_RECORD_WAIT) == kRecords);
  for (int pass = 0; pass < 2; ++pass) {
    std::uint32_t next = 0;
    bounded.for_each([&](const auto& record) {
      if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
        const offwait_wait expected = record_at(next);
        if (std::memcmp(&record, &expected, sizeof(record)) == 0) ++next;
      }
    });
    CHECK(next == kRecords);
  }
}

TEST_CASE("taken records are those that were prepared, in order, and their memory is freed") {
  constexpr std::uint32_t kRecords = 400'000;
  const auto record_at = [](std::uint32_t i) {
    return wait_at(1 + i % 1000, i * 1000ULL, i * 1000ULL + 500, i * 1000ULL + 600);
  };
  for (const bool bounded : {false, true}) {
    RecordBuffer records;
    if (bounded) records.keep_in_memory(std::size_t{2} << 20, "/var/tmp");
    for (std::uint32_t i = 0; i < kRecords; ++i) REQUIRE(records.append(bytes_of(record_at(i))));
    std::uint32_t prepared = 0;
    const auto number = [&prepared]<class Record>(Record& record) {
      if constexpr (std::is_same_v<Record, offwait_wait>) record.wait_user = prepared++;
    };
    std::uint32_t next = 0;
    records.take_each(number, [&](const auto& record) {
      if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
        offwait_wait expected = record_at(next);
        expected.wait_user = next;
        if (std::memcmp(&record, &expected, sizeof(record)) == 0) ++next;
      }
    });
    CHECK(next == kRecords);
    CHECK(records.bytes_in_memory() == 0);
    CHECK(records.count(OFFWAIT_RECORD_WAIT) == 0);
    records.for_each([](const auto&) { FAIL("a record is left"); });
    CHECK(records.append(bytes_of(record_at(0))));
  }
}

TEST_CASE("records stay in memory where there can be no file") {
  RecordBuffer records;
  records.keep_in_memory(std::size_t{100} << 10, "/nowhere");
  std::uint32_t appended = 0;
  for (; records.bounded().ok(); ++appended) {
    REQUIRE(appended < 1'000'000);
    REQUIRE(records.append(
        bytes_of(wait_at(1, appended * 1000ULL, appended * 1000ULL + 1, appended * 1000ULL + 2))));
  }
  CHECK(records.bounded().error().message == "cannot make a file in /nowhere: No such file or directory");
  std::uint32_t read = 0;
  records.for_each([&read](const auto&) { ++read; });
  CHECK(read == appended);
}

}  // namespace
}  // namespace offwait
