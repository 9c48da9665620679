// SPDX-License-Identifier: GPL-2.0-or-later
// The content of one section of records (format.h), decoded but not yet records of the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "event/recording.h"
#include "recording_file/bytes.h"
#include "recording_file/format.h"
#include "recording_file/rows.h"

namespace offwait {

/// A wait, preemption, sample or request without its times, and without in_flight_ns, owner or bytes.
struct IntervalKey {
  std::uint8_t type = 0;
  std::uint8_t waker_kind = 0;
  std::uint8_t fd_kind = 0;
  std::uint8_t flags = 0;
  std::uint32_t tid = 0;
  std::uint32_t waker_id = 0;
  std::int16_t syscall = 0;
  std::uint16_t task_state = 0;
  std::uint32_t wait_user = 0;
  std::uint32_t wait_kernel = 0;
  std::uint32_t waker_user = 0;
  std::uint32_t waker_kernel = 0;
  std::uint64_t object = 0;
  std::uint32_t draw = 0;
  std::uint32_t unused = 0;  ///< a hole here would make the bytes of equal keys differ
  friend bool operator==(const IntervalKey&, const IntervalKey&) = default;
};
static_assert(sizeof(IntervalKey) == 48 && std::has_unique_object_representations_v<IntervalKey>);

struct StoredInterval {
  IntervalKey key;
  std::uint64_t block_ns = 0;
  std::uint64_t wake_ns = 0;
  std::uint64_t run_ns = 0;
  std::uint32_t last = 0;
};

/// The columns of keys in sections of this kind, once for both directions: calls column(member) for each.
template <class Column>
void for_each_key_column(SectionKind kind, Column&& column) {
  column(&IntervalKey::type);
  column(&IntervalKey::waker_kind);
  column(&IntervalKey::fd_kind);
  column(&IntervalKey::flags);
  column(&IntervalKey::tid);
  column(&IntervalKey::waker_id);
  column(&IntervalKey::syscall);
  column(&IntervalKey::task_state);
  column(&IntervalKey::wait_user);
  column(&IntervalKey::wait_kernel);
  column(&IntervalKey::waker_user);
  column(&IntervalKey::waker_kernel);
  column(&IntervalKey::object);
  if (kind == SectionKind::drawn_records) column(&IntervalKey::draw);
}

struct StoredRecords {
  /// An interval is possible if its key and its times are.
  bool is_possible(std::size_t interval) const {
    const std::uint32_t key = key_of[interval];
    return key < keys.size() && possible_keys[key] != 0 && ByteReader::is_time(block_ns(interval)) &&
           ByteReader::is_time(wake_ns(interval)) && ByteReader::is_time(run_ns[interval]);
  }
  std::uint64_t wake_ns(std::size_t interval) const { return run_ns[interval] - runnable_ns[interval]; }
  std::uint64_t block_ns(std::size_t interval) const { return wake_ns(interval) - blocked_ns[interval]; }
  StoredInterval interval(std::size_t index) const {
    return {keys[key_of[index]], block_ns(index), wake_ns(index), run_ns[index], last[index]};
  }

  std::vector<IntervalKey> keys;            ///< system calls have this machine's numbers
  std::vector<std::uint8_t> possible_keys;  ///< by key, whether it is
  // By interval:
  std::vector<std::uint32_t> key_of;
  std::vector<std::uint64_t> run_ns;
  std::vector<std::uint64_t> runnable_ns;
  std::vector<std::uint64_t> blocked_ns;
  std::vector<std::uint32_t> last;
  std::uint32_t other_count = 0;
  std::string_view others;  ///< the records that are no intervals, as they are stored
};

/// Decodes a section of this kind of records that was recorded on `architecture`; nothing if its content is
/// impossible. `content` must outlive what is returned. What is_possible() says of intervals, and the other
/// records, are still to be looked at.
std::optional<StoredRecords> decode_records(SectionKind kind, std::string_view content,
                                            std::string_view architecture);

/// Calls visit(record) with the record of the kernel that the interval is.
template <class Visit>
bool visit_interval(const StoredInterval& interval, Visit&& visit) {
  const IntervalKey& key = interval.key;
  switch (key.type) {
    case OFFWAIT_RECORD_WAIT: {
      offwait_wait wait{};
      wait.type = key.type;
      wait.waker_kind = key.waker_kind;
      wait.fd_kind = key.fd_kind;
      wait.flags = key.flags;
      wait.tid = key.tid;
      wait.block_ns = interval.block_ns;
      wait.wake_ns = interval.wake_ns;
      wait.run_ns = interval.run_ns;
      wait.waker_id = key.waker_id;
      wait.syscall = key.syscall;
      wait.task_state = key.task_state;
      wait.wait_user = key.wait_user;
      wait.wait_kernel = key.wait_kernel;
      wait.waker_user = key.waker_user;
      wait.waker_kernel = key.waker_kernel;
      wait.object = key.object;
      wait.owner = interval.last;
      wait.draw = key.draw;
      return visit(wait);
    }
    case OFFWAIT_RECORD_PREEMPTION:
      return visit(offwait_preemption{key.type, {}, key.tid, interval.block_ns, interval.run_ns});
    case OFFWAIT_RECORD_SAMPLE:
      return visit(offwait_sample{key.type,
                                  {},
                                  key.tid,
                                  interval.run_ns,
                                  key.wait_user,
                                  key.wait_kernel,
                                  key.object,
                                  key.waker_id,
                                  0});
    case OFFWAIT_RECORD_IO:
      return visit(offwait_io{key.type,
                              {},
                              key.tid,
                              key.waker_id,
                              interval.last,
                              interval.block_ns,
                              interval.run_ns,
                              key.wait_user,
                              key.flags,
                              {}});
    default:
      return false;
  }
}

/// Calls visit(record) with the record of the kernel that these fields are of; not for an unknown type. False
/// if the fields are impossible, or if visit() returns false.
template <class Visit>
bool visit_other(std::string_view stored, std::uint8_t type, Visit&& visit) {
  const auto visit_as = [&]<class Record>(Record record) {
    ByteReader in(stored);
    in(record);
    record.type = type;
    return in.ok() && ByteReader::is_tid(record.tid) && visit(std::as_const(record));
  };
  switch (type) {
    case OFFWAIT_RECORD_GAP:
      return visit_as(offwait_gap{});
    case OFFWAIT_RECORD_THREAD:
      return visit_as(offwait_thread_record{});
    case OFFWAIT_RECORD_SPIN:
      return visit_as(offwait_spin{});
    case OFFWAIT_RECORD_FALSE_MARK:
      return visit_as(offwait_false_mark{});
    default:
      return true;
  }
}

/// Calls interval(index) and other(stored, type), in the order of the records, until one returns false. False
/// for that, and if the records are impossible.
template <class OfInterval, class OfOther>
bool for_each_stored(const StoredRecords& records, OfInterval&& interval, OfOther&& other) {
  const std::size_t count = records.key_of.size();
  std::size_t done = 0;
  const auto intervals_until = [&](std::size_t end) {
    for (; done < end; ++done) {
      if (!records.is_possible(done) || !interval(done)) return false;
    }
    return true;
  };
  ByteReader in(records.others);
  for (std::uint32_t left = records.other_count; left > 0; --left) {
    std::uint32_t before = 0;
    std::uint8_t type = 0;
    std::uint32_t size = 0;
    in(before, type, size);
    const std::string_view stored = in.take(size);
    if (!in.ok() || before < done || before > count || !intervals_until(before)) return false;
    if (!other(stored, type)) return false;
  }
  return intervals_until(count) && in.left().empty();
}

}  // namespace offwait
