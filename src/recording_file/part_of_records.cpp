// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/part_of_records.h"

#include <algorithm>
#include <span>
#include <utility>

namespace offwait {
namespace {

std::span<const std::byte> bytes_of(const auto& record) { return std::as_bytes(std::span(&record, 1)); }

bool is_of_history(std::uint8_t type) {
  return type == OFFWAIT_RECORD_WAIT || type == OFFWAIT_RECORD_PREEMPTION;
}

}  // namespace

bool LivesOfPart::add(const offwait_thread_record& record) {
  const auto alive = alive_.find(record.tid);
  switch (record.event) {
    case OFFWAIT_THREAD_SEEN:
    case OFFWAIT_THREAD_BORN:
    case OFFWAIT_THREAD_ENTERED:
      alive_[record.tid] = {{next_}, nanos(std::min(record.at_ns, record.start_ns)), alive != alive_.end()};
      break;
    case OFFWAIT_THREAD_NAMED:
      if (alive == alive_.end()) return false;
      alive->second.records.push_back(next_);
      break;
    case OFFWAIT_THREAD_EXITED: {
      if (alive == alive_.end()) return false;
      const Life life = std::move(alive->second);
      alive_.erase(alive);
      if (life.ends_another) break;
      if (nanos(record.at_ns) > window_.begin && life.begin < window_.end) break;
      for (const std::uint64_t one : life.records) records_.erase(one);
      return true;
    }
    default:
      break;
  }
  records_.emplace(next_++, record);
  return false;
}

void LivesOfPart::append_to(RecordBuffer& records) const {
  for (const auto& [place, record] : records_) records.append(bytes_of(record));
}

void PartOfRecords::append(const auto& record) { recording_.records.append(bytes_of(record)); }

void PartOfRecords::append_held(std::uint32_t tid) {
  const auto held = before_.find(tid);
  if (held == before_.end()) return;
  recording_.records.append(held->second);
  before_.erase(held);
}

void PartOfRecords::hold(const StoredInterval& interval) {
  visit_interval(interval, [&](const auto& record) {
    before_[record.tid].assign(bytes_of(record).begin(), bytes_of(record).end());
    return true;
  });
}

void PartOfRecords::hold_last(const StoredRecords& stored) {
  std::unordered_map<std::uint32_t, std::uint32_t> last;  // by tid
  for (std::size_t key = 0; key < of_keys_.size(); ++key) {
    const std::uint32_t index = std::exchange(of_keys_[key].last_before, kNone);
    if (index == kNone) continue;
    const auto [known, added] = last.try_emplace(stored.keys[key].tid, index);
    known->second = std::max(known->second, index);
  }
  for (const auto& [tid, index] : last) {
    const auto forgotten = forgotten_.find(tid);
    if (forgotten == forgotten_.end() || index >= forgotten->second) hold(stored.interval(index));
  }
}

void PartOfRecords::note_devices(const StoredRecords& stored) {
  for (std::size_t i = 0; i < of_keys_.size(); ++i) {
    const IntervalKey& key = stored.keys[i];
    if (!of_keys_[i].left_out || key.type != OFFWAIT_RECORD_WAIT) continue;
    switch (key.waker_kind) {
      case OFFWAIT_WAKER_THREAD:
        if ((key.flags & OFFWAIT_WAIT_SENT) != 0)
          recording_.devices_elsewhere.emplace(OFFWAIT_WAKER_NIC, key.waker_kernel);
        break;
      case OFFWAIT_WAKER_TIMER:
        recording_.devices_elsewhere.emplace(OFFWAIT_WAKER_TIMER, 0);
        break;
      case OFFWAIT_WAKER_DISK:
      case OFFWAIT_WAKER_NIC:
      case OFFWAIT_WAKER_IRQ:
      case OFFWAIT_WAKER_SOFTIRQ:
        recording_.devices_elsewhere.emplace(key.waker_kind, key.waker_id);
        break;
      default:
        break;
    }
  }
}

bool PartOfRecords::add_interval(const StoredRecords& stored, std::size_t index) {
  const std::uint32_t key_index = stored.key_of[index];
  const IntervalKey& key = stored.keys[key_index];
  OfKey& of_key = of_keys_[key_index];
  read_ = static_cast<std::uint32_t>(index) + 1;
  const Nanos begin = nanos(stored.block_ns(index));
  const bool is_first_of_command = begin == 0 && command_ != 0 && key.type == OFFWAIT_RECORD_WAIT &&
                                   key.tid == static_cast<std::uint32_t>(command_);
  if (!is_first_of_command && nanos(stored.run_ns[index]) <= kept_.begin) {
    of_key.left_out = true;
    if (!is_of_history(key.type)) return true;
    if (some_kept_)
      hold(stored.interval(index));
    else
      of_key.last_before = static_cast<std::uint32_t>(index);
    return true;
  }
  if (begin >= kept_.end) {
    of_key.left_out = true;
    if (of_key.is_after || !is_of_history(key.type)) return true;
    of_key.is_after = true;
    return visit_interval(stored.interval(index), [&](const auto& record) {
      after_.try_emplace(key.tid, bytes_of(record).begin(), bytes_of(record).end());
      return true;
    });
  }
  if (!std::exchange(some_kept_, true)) hold_last(stored);
  if (!std::exchange(of_key.appended, true)) append_held(key.tid);
  return visit_interval(stored.interval(index), [this](const auto& record) {
    append(record);
    return true;
  });
}

void PartOfRecords::add(const offwait_thread_record& record) {
  if (!lives_.add(record)) return;
  before_.erase(record.tid);
  after_.erase(record.tid);
  forgotten_[record.tid] = read_;
}

void PartOfRecords::add(const offwait_gap& record) {
  if (nanos(record.to_ns) <= kept_.begin) return;
  if (nanos(record.from_ns) >= kept_.end) {
    after_.try_emplace(record.tid, bytes_of(record).begin(), bytes_of(record).end());
    return;
  }
  append_held(record.tid);
  append(record);
}

void PartOfRecords::add(const offwait_spin& record) {
  if (nanos(record.end_ns) > kept_.begin && nanos(record.begin_ns) < kept_.end) append(record);
}

void PartOfRecords::add(const offwait_false_mark& record) {
  if (nanos(record.at_ns) >= kept_.begin && nanos(record.at_ns) < kept_.end) append(record);
}

bool PartOfRecords::add(SectionKind kind, std::string_view content, std::string_view architecture) {
  const std::optional<StoredRecords> stored = decode_records(kind, content, architecture);
  if (!stored) return false;
  of_keys_.assign(stored->keys.size(), {});
  forgotten_.clear();
  read_ = 0;
  some_kept_ = false;
  const bool possible = for_each_stored(
      *stored, [&](std::size_t index) { return add_interval(*stored, index); },
      [&](std::string_view fields, std::uint8_t type) {
        return visit_other(fields, type, [this](const auto& record) {
          add(record);
          return true;
        });
      });
  hold_last(*stored);
  note_devices(*stored);
  return possible;
}

void PartOfRecords::finish() {
  for (const auto& [tid, record] : before_) recording_.records.append(record);
  for (const auto& [tid, record] : after_) recording_.records.append(record);
  lives_.append_to(recording_.records);
}

}  // namespace offwait
