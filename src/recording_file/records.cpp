// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/records.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "event/syscalls.h"
#include "recording_file/bytes.h"
#include "recording_file/format.h"
#include "recording_file/rows.h"

namespace offwait {
namespace {

constexpr std::size_t kIntervalsInSection = std::size_t{1} << 17;
constexpr std::size_t kOtherBytesInSection = std::size_t{4} << 20;

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
  friend bool operator==(const IntervalKey&, const IntervalKey&) = default;
};
static_assert(sizeof(IntervalKey) == 40 && std::has_unique_object_representations_v<IntervalKey>);

struct IntervalKeyHash {
  std::size_t operator()(const IntervalKey& key) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(&key), sizeof(key)});  // NOLINT(*-reinterpret-cast)
  }
};

struct Interval {
  IntervalKey key;
  std::uint64_t block_ns = 0;
  std::uint64_t wake_ns = 0;
  std::uint64_t run_ns = 0;
  std::uint32_t last = 0;
};

Interval interval_of(const offwait_wait& wait) {
  return {
      {wait.type, wait.waker_kind, wait.fd_kind, wait.flags, wait.tid, wait.waker_id, wait.syscall,
       wait.task_state, wait.wait_user, wait.wait_kernel, wait.waker_user, wait.waker_kernel, wait.object},
      wait.block_ns,
      wait.wake_ns,
      wait.run_ns,
      wait.owner};
}

Interval interval_of(const offwait_preemption& preemption) {
  IntervalKey key;
  key.type = preemption.type;
  key.tid = preemption.tid;
  return {key, preemption.out_ns, preemption.out_ns, preemption.run_ns};
}

Interval interval_of(const offwait_sample& sample) {
  IntervalKey key;
  key.type = sample.type;
  key.tid = sample.tid;
  key.wait_user = sample.user;
  key.wait_kernel = sample.kernel;
  return {key, sample.at_ns, sample.at_ns, sample.at_ns};
}

/// A request is an interval as well: it is under way from its issue to its completion.
Interval interval_of(const offwait_io& io) {
  IntervalKey key;
  key.type = io.type;
  key.tid = io.tid;
  key.waker_id = io.dev;
  key.flags = io.operation;
  key.wait_user = io.file;
  return {key, io.issue_ns, io.complete_ns, io.complete_ns, io.bytes};
}

std::uint64_t zigzag(std::uint64_t difference) { return difference << 1 ^ -(difference >> 63); }
std::uint64_t difference_of(std::uint64_t zigzag) { return zigzag >> 1 ^ -(zigzag & 1); }

/// Appends a column of numbers, of which `number` returns one after the other.
template <class T>
void put_column(std::string& out, std::size_t count, auto number) {
  const std::size_t begin = out.size();
  out.resize(begin + count * sizeof(T));
  char* const planes = out.data() + begin;
  for (std::size_t i = 0; i < count; ++i) {
    auto value = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(number(i)));
    for (std::size_t plane = 0; plane < sizeof(T); ++plane, value >>= 8)
      planes[plane * count + i] = static_cast<char>(value & 0xff);
  }
}

/// Reads a column; calls set(i, number) for each.
template <class T>
void get_column(ByteReader& in, std::size_t count, auto set) {
  const std::string_view planes = in.take(count * sizeof(T));
  if (!in.ok()) return;
  for (std::size_t i = 0; i < count; ++i) {
    std::make_unsigned_t<T> value = 0;
    for (std::size_t plane = sizeof(T); plane-- > 0;)
      value = static_cast<std::make_unsigned_t<T>>(std::uint64_t{value} << 8 |
                                                   static_cast<std::uint8_t>(planes[plane * count + i]));
    set(i, static_cast<T>(value));
  }
}

/// The columns of keys, once for both directions: calls column(member) for each.
template <class Column>
void for_each_key_column(Column&& column) {
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
}

/// Collects the records of one section after the other.
class SectionsOfRecords {
 public:
  explicit SectionsOfRecords(RecordReferences& references) : references_(references) {}

  template <class Record>
  void add(const Record& record) {
    if constexpr (requires { interval_of(record); }) {
      add_interval(interval_of(record));
    } else if constexpr (!std::same_as<Record, offwait_file>) {
      std::string stored;
      ByteWriter of_record(stored);
      of_record(record);
      ByteWriter out(others_);
      out(static_cast<std::uint32_t>(intervals_.size()), record.type, stored);
      ++other_count_;
      note(record);
    }
    if (intervals_.size() == kIntervalsInSection || others_.size() >= kOtherBytesInSection) end_section();
  }

  std::vector<std::string> take() {
    if (!intervals_.empty() || other_count_ > 0) end_section();
    return std::move(sections_);
  }

 private:
  struct Stored {
    std::uint32_t key = 0;
    std::uint32_t last = 0;
    std::uint64_t since_previous = 0;
    std::uint64_t runnable = 0;
    std::uint64_t blocked = 0;
  };

  void note(const offwait_thread_record& thread) {
    references_.locks.add_thread(thread.tid, thread.tgid);
    if (thread.outside == OFFWAIT_TARGET) references_.has_target = true;
  }
  void note(const offwait_spin& spin) { references_.spins.insert(stack_of(spin)); }
  void note(const auto&) {}
  void note(const IntervalKey& key) {
    if (key.type == OFFWAIT_RECORD_IO) return;
    for (const std::uint32_t stack : {key.wait_user, key.wait_kernel, key.waker_user})
      references_.stacks.insert(stack);
    const bool sent = key.type == OFFWAIT_RECORD_WAIT && (key.flags & OFFWAIT_WAIT_SENT) != 0;
    if (!sent) references_.stacks.insert(key.waker_kernel);
    references_.locks.add_wait(key.flags >> OFFWAIT_OBJECT_SHIFT, key.tid, key.object);
  }

  void add_interval(const Interval& interval) {
    const auto [found, added] = indices_.try_emplace(interval.key, static_cast<std::uint32_t>(keys_.size()));
    if (added) keys_.push_back(interval.key);
    intervals_.push_back({found->second, interval.last, zigzag(interval.run_ns - previous_run_ns_),
                          interval.run_ns - interval.wake_ns, interval.wake_ns - interval.block_ns});
    previous_run_ns_ = interval.run_ns;
  }

  /// Puts keys that have much in common beside each other, which halves what zstd leaves of them.
  void sort_keys() {
    std::vector<std::uint32_t> order(keys_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const auto rank = [](const IntervalKey& key) {
        return std::tie(key.object, key.wait_user, key.tid, key.waker_id, key.type, key.waker_user);
      };
      return rank(keys_[a]) != rank(keys_[b]) ? rank(keys_[a]) < rank(keys_[b]) : a < b;
    });
    std::vector<IntervalKey> sorted;
    std::vector<std::uint32_t> places(keys_.size());
    sorted.reserve(keys_.size());
    for (const std::uint32_t key : order) {
      places[key] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(keys_[key]);
    }
    keys_ = std::move(sorted);
    for (Stored& interval : intervals_) interval.key = places[interval.key];
  }

  void end_section() {
    for (const IntervalKey& key : keys_) note(key);
    sort_keys();
    std::string content;
    ByteWriter out(content);
    out(static_cast<std::uint32_t>(keys_.size()));
    for_each_key_column([&]<class T>(T IntervalKey::*member) {
      put_column<T>(content, keys_.size(), [&](std::size_t i) { return keys_[i].*member; });
    });
    const std::size_t count = intervals_.size();
    out(static_cast<std::uint32_t>(count));
    put_column<std::uint32_t>(content, count, [&](std::size_t i) { return intervals_[i].key; });
    put_column<std::uint64_t>(content, count, [&](std::size_t i) { return intervals_[i].since_previous; });
    put_column<std::uint64_t>(content, count, [&](std::size_t i) { return intervals_[i].runnable; });
    put_column<std::uint64_t>(content, count, [&](std::size_t i) { return intervals_[i].blocked; });
    put_column<std::uint32_t>(content, count, [&](std::size_t i) { return intervals_[i].last; });
    out(other_count_);
    content += others_;
    sections_.push_back(std::move(content));
    keys_.clear();
    indices_.clear();
    intervals_.clear();
    others_.clear();
    other_count_ = 0;
    previous_run_ns_ = 0;
  }

  RecordReferences& references_;
  std::vector<std::string> sections_;
  std::vector<IntervalKey> keys_;
  std::unordered_map<IntervalKey, std::uint32_t, IntervalKeyHash> indices_;
  std::vector<Stored> intervals_;
  std::uint64_t previous_run_ns_ = 0;
  std::string others_;
  std::uint32_t other_count_ = 0;
};

bool append(RecordBuffer& records, const auto& record) {
  return records.append(std::as_bytes(std::span(&record, 1)));
}

bool append_interval(RecordBuffer& records, const Interval& interval) {
  const IntervalKey& key = interval.key;
  if (!ByteReader::is_tid(key.tid) || !ByteReader::is_time(interval.block_ns) ||
      !ByteReader::is_time(interval.wake_ns) || !ByteReader::is_time(interval.run_ns))
    return false;
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
      return append(records, wait);
    }
    case OFFWAIT_RECORD_PREEMPTION:
      return append(records, offwait_preemption{key.type, {}, key.tid, interval.block_ns, interval.run_ns});
    case OFFWAIT_RECORD_SAMPLE:
      return append(records,
                    offwait_sample{key.type, {}, key.tid, interval.run_ns, key.wait_user, key.wait_kernel});
    case OFFWAIT_RECORD_IO:
      return append(records, offwait_io{key.type,
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

template <class Record>
bool append_other(ByteReader& in, std::uint8_t type, RecordBuffer& records) {
  Record record{};
  in(record);
  record.type = type;
  return in.ok() && ByteReader::is_tid(record.tid) && append(records, record);
}

/// Reads the fields of one record of this type.
bool append_other(std::string_view stored, std::uint8_t type, RecordBuffer& records) {
  ByteReader in(stored);
  switch (type) {
    case OFFWAIT_RECORD_GAP:
      return append_other<offwait_gap>(in, type, records);
    case OFFWAIT_RECORD_THREAD:
      return append_other<offwait_thread_record>(in, type, records);
    case OFFWAIT_RECORD_SPIN:
      return append_other<offwait_spin>(in, type, records);
    case OFFWAIT_RECORD_FALSE_MARK:
      return append_other<offwait_false_mark>(in, type, records);
    default:
      return true;
  }
}

}  // namespace

std::vector<std::string> records_sections(const RecordBuffer& records, RecordReferences& references) {
  SectionsOfRecords sections(references);
  records.for_each([&sections](const auto& record) { sections.add(record); });
  return sections.take();
}

bool add_records(std::string_view content, std::string_view architecture, RecordBuffer& records) {
  ByteReader in(content);
  std::uint32_t key_count = 0;
  in(key_count);
  if (!in.ok() || key_count > kMostIntervals) return false;
  std::vector<IntervalKey> keys(key_count);
  for_each_key_column([&]<class T>(T IntervalKey::*member) {
    get_column<T>(in, key_count, [&](std::size_t i, T value) { keys[i].*member = value; });
  });
  for (IntervalKey& key : keys) key.syscall = native_syscall(architecture, key.syscall);

  std::uint32_t count = 0;
  in(count);
  if (!in.ok() || count > kMostIntervals) return false;
  std::vector<std::uint32_t> key_of(count);
  std::vector<Interval> intervals(count);
  get_column<std::uint32_t>(in, count, [&](std::size_t i, std::uint32_t key) { key_of[i] = key; });
  std::uint64_t run_ns = 0;
  get_column<std::uint64_t>(in, count, [&](std::size_t i, std::uint64_t zigzag) {
    intervals[i].run_ns = run_ns += difference_of(zigzag);
  });
  get_column<std::uint64_t>(in, count, [&](std::size_t i, std::uint64_t runnable) {
    intervals[i].wake_ns = intervals[i].run_ns - runnable;
  });
  get_column<std::uint64_t>(in, count, [&](std::size_t i, std::uint64_t blocked) {
    intervals[i].block_ns = intervals[i].wake_ns - blocked;
  });
  get_column<std::uint32_t>(in, count, [&](std::size_t i, std::uint32_t last) { intervals[i].last = last; });
  std::uint32_t others = 0;
  in(others);
  if (!in.ok()) return false;

  std::size_t done = 0;
  const auto add_intervals_until = [&](std::size_t end) {
    for (; done < end; ++done) {
      if (key_of[done] >= keys.size()) return false;
      intervals[done].key = keys[key_of[done]];
      if (!append_interval(records, intervals[done])) return false;
    }
    return true;
  };
  for (; others > 0; --others) {
    std::uint32_t before = 0;
    std::uint8_t type = 0;
    std::uint32_t size = 0;
    in(before, type, size);
    const std::string_view stored = in.take(size);
    if (!in.ok() || before < done || before > count || !add_intervals_until(before)) return false;
    if (!append_other(stored, type, records)) return false;
  }
  return add_intervals_until(count) && in.left().empty();
}

}  // namespace offwait
