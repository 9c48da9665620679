// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/records.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "event/syscalls.h"
#include "recording_file/stored_records.h"
#include "unit/event/recordings.h"

namespace offwait {
namespace {

using test::bytes_of;

/// The bytes of every record, in order.
std::vector<std::string> all(const RecordBuffer& records) {
  std::vector<std::string> bytes;
  records.for_each([&bytes](const auto& record) {
    bytes.emplace_back(reinterpret_cast<const char*>(&record), sizeof(record));  // NOLINT(*-reinterpret-cast)
  });
  return bytes;
}

RecordBuffer stored_and_read(const RecordBuffer& records, std::size_t& sections) {
  RecordReferences references;
  RecordBuffer read;
  sections = 0;
  for (const auto& [kind, content] : records_sections(records, references)) {
    REQUIRE(add_records(kind, content, native_architecture(), read));
    ++sections;
  }
  return read;
}

offwait_wait odd_wait() {
  offwait_wait wait = test::wait_of(12, 0, 5'000'000'000, 5'000'000'100, test::by_thread(7));
  wait.flags = OFFWAIT_WAIT_SENT | OFFWAIT_OBJECT_PEER << OFFWAIT_OBJECT_SHIFT;
  wait.wait_user = 3;
  wait.wait_kernel = 4;
  wait.waker_user = 5;
  wait.waker_nic = 6;
  wait.object = 0xffff'8881'0000'1234;
  wait.in_flight_ns = 77;
  return wait;
}

TEST_CASE("records are read as they were stored, in their order") {
  RecordBuffer records;
  const auto add = [&records](const auto& record) { REQUIRE(records.append(bytes_of(record))); };
  offwait_thread_record born{};
  born.type = OFFWAIT_RECORD_THREAD;
  born.event = OFFWAIT_THREAD_BORN;
  born.tid = 12;
  born.tgid = 10;
  born.parent = 7;
  born.at_ns = 100;
  born.start_ns = 90;
  std::memcpy(static_cast<char*>(born.comm), "worker\x1b[2J", 10);
  born.ns_tid = 2;
  add(born);
  add(test::wait_of(12, 200, 300, 400, test::kTimer));
  add(odd_wait());
  // A waking that overtakes the switch, and a time that goes back.
  add(test::wait_of(12, 500, 450, 460, test::kTimer));
  add(test::preemption_of(12, 600, 700));
  add(test::gap_of(12, 700, 800));
  offwait_io io = test::io_of(12, 8, 100, static_cast<std::uint64_t>(kNever), 4096);
  io.file = 9;
  io.operation = OFFWAIT_IO_WRITE;
  add(io);
  offwait_sample sample{};
  sample.type = OFFWAIT_RECORD_SAMPLE;
  sample.tid = 12;
  sample.at_ns = 650;
  sample.user = 3;
  sample.kernel = 4;
  sample.pc = 0xffff'ffff'8100'1234;
  sample.tgid = 10;
  add(sample);
  offwait_spin spin{};
  spin.type = OFFWAIT_RECORD_SPIN;
  spin.tid = 12;
  spin.tgid = 10;
  spin.waker = 7;
  spin.begin_ns = 660;
  spin.end_ns = 670;
  spin.frames = 2;
  spin.pc[0] = 0x1000;
  spin.pc[1] = 0x2000;
  add(spin);
  offwait_false_mark mark{};
  mark.type = OFFWAIT_RECORD_FALSE_MARK;
  mark.tid = 12;
  mark.at_ns = 680;
  add(mark);
  add(test::wait_of(12, 800, 900, 1000, test::kTimer));

  std::size_t sections = 0;
  CHECK(all(stored_and_read(records, sections)) == all(records));
  CHECK(sections == 1);
}

TEST_CASE("many records are several sections") {
  std::mt19937_64 random(1);
  RecordBuffer records;
  constexpr std::size_t kWaits = 300'000;
  for (std::size_t i = 0; i < kWaits; ++i) {
    const std::uint64_t begin = 1'000'000 + i * 1000 + random() % 500;
    const auto tid = static_cast<std::uint32_t>(1 + random() % 50);
    offwait_wait wait = test::wait_of(tid, begin, begin + random() % 5000, begin + 6000, test::by_thread(9));
    wait.object = random() % 3;
    REQUIRE(records.append(bytes_of(wait)));
  }
  std::size_t sections = 0;
  const RecordBuffer read = stored_and_read(records, sections);
  CHECK(sections == 3);
  CHECK(read.count(OFFWAIT_RECORD_WAIT) == kWaits);
  CHECK(all(read) == all(records));
}

TEST_CASE("what records refer to is known when they are stored") {
  RecordBuffer records;
  offwait_thread_record seen{};
  seen.type = OFFWAIT_RECORD_THREAD;
  seen.event = OFFWAIT_THREAD_SEEN;
  seen.tid = 12;
  seen.tgid = 10;
  seen.outside = OFFWAIT_OUTSIDE;
  REQUIRE(records.append(bytes_of(seen)));
  offwait_wait futex = test::wait_of(12, 200, 300, 400, test::by_thread(7));
  futex.flags = OFFWAIT_OBJECT_FUTEX << OFFWAIT_OBJECT_SHIFT;
  futex.object = 0x7f04;
  futex.wait_user = 21;
  futex.waker_kernel = 22;
  REQUIRE(records.append(bytes_of(futex)));
  offwait_wait mutex = test::wait_of(12, 400, 500, 600, test::by_thread(7));
  mutex.flags = OFFWAIT_OBJECT_MUTEX << OFFWAIT_OBJECT_SHIFT;
  mutex.object = 0xffff000000000010;
  REQUIRE(records.append(bytes_of(mutex)));
  REQUIRE(records.append(bytes_of(odd_wait())));

  RecordReferences references;
  CHECK(records_sections(records, references).size() == 1);
  // In the wait for a packet, 6 is an interface and no stack.
  CHECK(references.stacks == std::set<std::uint32_t>{0, 3, 4, 5, 21, 22});
  CHECK(references.locks.places() ==
        std::set<LockAddresses::Place>{{0, 0xffff000000000010}, {10, 0x7f00}, {10, 0x7f04}});
  CHECK_FALSE(references.has_target);
  seen.outside = OFFWAIT_TARGET;
  REQUIRE(records.append(bytes_of(seen)));
  CHECK(records_sections(records, references).size() == 1);
  CHECK(references.has_target);
}

TEST_CASE("a block at the time of another thread's run is stored as a link to it") {
  RecordBuffer records;
  const auto add = [&records](const auto& record) { REQUIRE(records.append(bytes_of(record))); };
  std::mt19937_64 random(1);
  std::uint64_t now = 1'000'000'000'000;
  std::uint64_t since[2] = {now - 70'000, now - 900};
  // Two threads run alternately on one CPU: each blocks when the other one runs.
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const std::uint32_t runs = i % 2;
    now += random() % 100'000;
    add(test::wait_of(12 + runs, since[runs], now - random() % 50, now, test::kTimer));
    since[1 - runs] = now;
  }
  RecordReferences references;
  const std::vector<Section> sections = records_sections(records, references);
  REQUIRE(sections.size() == 1);
  REQUIRE(sections.front().kind == SectionKind::linked_records);
  const std::string& content = sections.front().content;
  RecordBuffer read;
  REQUIRE(add_records(SectionKind::linked_records, content, native_architecture(), read));
  CHECK(all(read) == all(records));
  const std::optional<StoredRecords> stored =
      decode_records(SectionKind::linked_records, content, native_architecture());
  REQUIRE(stored);
  const std::size_t count = stored->run_ns.size();
  REQUIRE(count == 10'000);
  // Behind the number of keys, the keys, the number of intervals and the columns before it.
  std::size_t at = sizeof(std::uint32_t);
  for_each_key_column(SectionKind::linked_records,
                      [&at, &stored]<class T>(T IntervalKey::*) { at += sizeof(T) * stored->keys.size(); });
  at += sizeof(std::uint32_t) + count * (4 + 8 + 8);
  std::size_t linked = 0;
  for (std::size_t i = 0; i < count; ++i) linked += content[at + i] != 0 ? 1U : 0U;
  CHECK(linked == count - 1);
  std::string out_of_section = content;
  out_of_section[at + 1] = 2;
  CHECK_FALSE(decode_records(SectionKind::linked_records, out_of_section, native_architecture()));
}

TEST_CASE("how stacks were drawn is kept, and sections without it are as they were") {
  RecordBuffer records;
  REQUIRE(records.append(bytes_of(test::wait_of(12, 200, 300, 400, test::kTimer))));
  RecordReferences references;
  CHECK(records_sections(records, references).front().kind == SectionKind::linked_records);
  offwait_wait drawn = test::wait_of(12, 500, 600, 700, test::kTimer);
  for (const std::uint32_t draw : {OFFWAIT_DRAW_TAKEN, OFFWAIT_DRAW_CHANCE, 0xffffffffU, 0x12345600U}) {
    drawn.draw = draw;
    REQUIRE(records.append(bytes_of(drawn)));
  }
  CHECK(records_sections(records, references).front().kind == SectionKind::drawn_records);
  std::size_t sections = 0;
  CHECK(all(stored_and_read(records, sections)) == all(records));
  CHECK(sections == 1);
}

TEST_CASE("types of records and fields that a later version has are left out") {
  constexpr std::size_t kType = 16;  // behind the numbers of keys, intervals and others, and of those before
  constexpr std::size_t kSize = kType + 1;
  RecordBuffer records;
  REQUIRE(records.append(bytes_of(test::gap_of(12, 700, 800))));
  RecordReferences references;
  const std::string good = records_sections(records, references).front().content;
  REQUIRE(good[kType] == OFFWAIT_RECORD_GAP);
  std::string later = good;
  later[kType] = 99;
  RecordBuffer none;
  CHECK(add_records(SectionKind::linked_records, later, native_architecture(), none));
  CHECK(all(none).empty());
  std::string longer = good + "more";
  longer[kSize] = static_cast<char>(longer[kSize] + 4);
  RecordBuffer read;
  CHECK(add_records(SectionKind::linked_records, longer, native_architecture(), read));
  CHECK(all(read) == all(records));
}

TEST_CASE("contents that no recording has are refused") {
  RecordBuffer records;
  REQUIRE(records.append(bytes_of(test::wait_of(12, 200, 300, 400, test::kTimer))));
  RecordReferences references;
  const std::string good = records_sections(records, references).front().content;
  const auto reads = [](const std::string& content) {
    RecordBuffer read;
    return add_records(SectionKind::linked_records, content, native_architecture(), read);
  };
  CHECK(reads(good));
  CHECK_FALSE(reads(good + '\0'));
  for (std::size_t size = 0; size < good.size(); ++size) CHECK_FALSE(reads(good.substr(0, size)));
  std::string no_type = good;
  no_type[4] = 99;  // the first key's type
  CHECK_FALSE(reads(no_type));
  std::string many = good;
  std::memset(many.data(), 0xff, 4);
  CHECK_FALSE(reads(many));
}

}  // namespace
}  // namespace offwait
