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

#include "recording_file/bytes.h"
#include "recording_file/format.h"
#include "recording_file/rows.h"
#include "recording_file/stored_records.h"

namespace offwait {
namespace {

constexpr std::size_t kIntervalsInSection = std::size_t{1} << 17;
constexpr std::size_t kOtherBytesInSection = std::size_t{4} << 20;

struct IntervalKeyHash {
  std::size_t operator()(const IntervalKey& key) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(&key), sizeof(key)});  // NOLINT(*-reinterpret-cast)
  }
};

StoredInterval interval_of(const offwait_wait& wait) {
  return {{wait.type, wait.waker_kind, wait.fd_kind, wait.flags, wait.tid, wait.waker_id, wait.syscall,
           wait.task_state, wait.wait_user, wait.wait_kernel, wait.waker_user, wait.waker_kernel, wait.object,
           wait.draw},
          wait.block_ns,
          wait.wake_ns,
          wait.run_ns,
          wait.owner};
}

StoredInterval interval_of(const offwait_preemption& preemption) {
  IntervalKey key;
  key.type = preemption.type;
  key.tid = preemption.tid;
  return {key, preemption.out_ns, preemption.out_ns, preemption.run_ns};
}

StoredInterval interval_of(const offwait_sample& sample) {
  IntervalKey key;
  key.type = sample.type;
  key.tid = sample.tid;
  key.wait_user = sample.user;
  key.wait_kernel = sample.kernel;
  key.waker_id = sample.tgid;
  key.object = sample.pc;
  return {key, sample.at_ns, sample.at_ns, sample.at_ns};
}

/// A request is an interval as well: it is under way from its issue to its completion.
StoredInterval interval_of(const offwait_io& io) {
  IntervalKey key;
  key.type = io.type;
  key.tid = io.tid;
  key.waker_id = io.dev;
  key.flags = io.operation;
  key.wait_user = io.file;
  return {key, io.issue_ns, io.complete_ns, io.complete_ns, io.bytes};
}

std::uint64_t zigzag(std::uint64_t difference) { return difference << 1 ^ -(difference >> 63); }

/// Appends a column of numbers, which `number` returns one after the other.
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

  std::vector<Section> take() {
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
    std::uint32_t back = 0;
  };

  struct Run {
    std::uint64_t at_ns = 0;
    std::uint32_t end = 0;  ///< the interval's number, from 1; 0: none
  };
  static constexpr unsigned kRunBits = 16;

  void note(const offwait_thread_record& thread) {
    if (thread.event == OFFWAIT_THREAD_EXITED) {
      references_.locks.add_exit(thread.tid, thread.tgid);
    } else {
      references_.locks.add_thread(thread.tid, thread.tgid);
    }
    if (thread.outside == OFFWAIT_TARGET) references_.has_target = true;
  }
  void note(const offwait_spin& spin) { references_.in_records.insert(stack_of(spin)); }
  void note(const auto&) {}
  void note(const IntervalKey& key) {
    if (key.type == OFFWAIT_RECORD_IO) return;
    for (const std::uint32_t stack : {key.wait_user, key.wait_kernel, key.waker_user})
      references_.stacks.insert(stack);
    const bool sent = key.type == OFFWAIT_RECORD_WAIT && (key.flags & OFFWAIT_WAIT_SENT) != 0;
    if (!sent) references_.stacks.insert(key.waker_kernel);
    if (key.type == OFFWAIT_RECORD_SAMPLE) {
      if (key.object != 0) references_.in_records.insert({key.waker_id, {key.object}});
      return;
    }
    references_.locks.add_wait(key.flags >> OFFWAIT_OBJECT_SHIFT, key.tid, key.object);
  }

  void add_interval(const StoredInterval& interval) {
    const auto [found, added] = indices_.try_emplace(interval.key, static_cast<std::uint32_t>(keys_.size()));
    if (added) keys_.push_back(interval.key);
    Stored stored{found->second, interval.last, zigzag(interval.run_ns - previous_run_ns_),
                  interval.run_ns - interval.wake_ns, interval.wake_ns - interval.block_ns};
    const auto count = static_cast<std::uint32_t>(intervals_.size());
    if (const Run& run = run_at(interval.block_ns); run.at_ns == interval.block_ns && run.end > 0) {
      stored.back = count + 1 - run.end;
      stored.blocked = 0;
    }
    intervals_.push_back(stored);
    run_at(interval.run_ns) = {interval.run_ns, count + 1};
    previous_run_ns_ = interval.run_ns;
  }

  /// The last interval whose run_ns has the same hash as this time.
  Run& run_at(std::uint64_t at_ns) { return runs_[at_ns * 0x9e3779b97f4a7c15U >> (64 - kRunBits)]; }

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
    const bool drawn =
        std::any_of(keys_.begin(), keys_.end(), [](const IntervalKey& key) { return key.draw != 0; });
    const SectionKind kind = drawn ? SectionKind::drawn_records : SectionKind::linked_records;
    std::string content;
    ByteWriter out(content);
    out(static_cast<std::uint32_t>(keys_.size()));
    for_each_key_column(kind, [&]<class T>(T IntervalKey::*member) {
      put_column<T>(content, keys_.size(), [&](std::size_t i) { return keys_[i].*member; });
    });
    const std::size_t count = intervals_.size();
    out(static_cast<std::uint32_t>(count));
    put_column<std::uint32_t>(content, count, [&](std::size_t i) { return intervals_[i].key; });
    put_column<std::uint64_t>(content, count, [&](std::size_t i) { return intervals_[i].since_previous; });
    put_column<std::uint64_t>(content, count, [&](std::size_t i) { return intervals_[i].runnable; });
    put_column<std::uint32_t>(content, count, [&](std::size_t i) { return intervals_[i].back; });
    put_column<std::uint64_t>(content, count, [&](std::size_t i) { return intervals_[i].blocked; });
    put_column<std::uint32_t>(content, count, [&](std::size_t i) { return intervals_[i].last; });
    out(other_count_);
    content += others_;
    sections_.push_back({kind, std::move(content)});
    keys_.clear();
    indices_.clear();
    intervals_.clear();
    others_.clear();
    other_count_ = 0;
    previous_run_ns_ = 0;
    std::fill(runs_.begin(), runs_.end(), Run{});
  }

  RecordReferences& references_;
  std::vector<Section> sections_;
  std::vector<IntervalKey> keys_;
  std::unordered_map<IntervalKey, std::uint32_t, IntervalKeyHash> indices_;
  std::vector<Stored> intervals_;
  std::uint64_t previous_run_ns_ = 0;
  std::vector<Run> runs_ = std::vector<Run>(std::size_t{1} << kRunBits);
  std::string others_;
  std::uint32_t other_count_ = 0;
};

}  // namespace

std::vector<Section> records_sections(const RecordBuffer& records, RecordReferences& references) {
  SectionsOfRecords sections(references);
  records.for_each([&sections](const auto& record) { sections.add(record); });
  std::vector<Section> written = sections.take();
  references.locks.forget_exited();
  return written;
}

bool add_records(SectionKind kind, std::string_view content, std::string_view architecture,
                 RecordBuffer& records) {
  const std::optional<StoredRecords> stored = decode_records(kind, content, architecture);
  if (!stored) return false;
  const auto append = [&records](const auto& record) {
    return records.append(std::as_bytes(std::span(&record, 1)));
  };
  return for_each_stored(
      *stored, [&](std::size_t index) { return visit_interval(stored->interval(index), append); },
      [&](std::string_view fields, std::uint8_t type) { return visit_other(fields, type, append); });
}

}  // namespace offwait
