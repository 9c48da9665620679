// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/stored_records.h"

#include "event/syscalls.h"
#include "recording_file/format.h"

namespace offwait {
namespace {

std::uint64_t difference_of(std::uint64_t zigzag) { return zigzag >> 1 ^ -(zigzag & 1); }

bool is_zero(std::string_view bytes) {
  return bytes.empty() ||
         (bytes.front() == '\0' && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// Reads a column. Most planes of high bytes have only zeros.
template <class T>
std::vector<T> get_column(ByteReader& in, std::size_t count) {
  const std::string_view planes = in.take(count * sizeof(T));
  if (!in.ok()) return {};
  using Unsigned = std::make_unsigned_t<T>;
  std::vector<T> column(count);
  for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
    const std::string_view plane = planes.substr(byte * count, count);
    if (is_zero(plane)) continue;
    for (std::size_t i = 0; i < count; ++i) {
      const auto part =
          static_cast<Unsigned>(static_cast<Unsigned>(static_cast<std::uint8_t>(plane[i])) << 8 * byte);
      column[i] = static_cast<T>(static_cast<Unsigned>(column[i]) | part);
    }
  }
  return column;
}

bool is_possible(const IntervalKey& key) {
  return ByteReader::is_tid(key.tid) &&
         (key.type == OFFWAIT_RECORD_WAIT || key.type == OFFWAIT_RECORD_PREEMPTION ||
          key.type == OFFWAIT_RECORD_SAMPLE || key.type == OFFWAIT_RECORD_IO);
}

/// Finds the times that links stand for. False if a link leads out of the section.
bool follow_links(const std::vector<std::uint32_t>& back, StoredRecords& records) {
  for (std::size_t i = 0; i < back.size(); ++i) {
    if (back[i] == 0) continue;
    if (back[i] > i) return false;
    records.blocked_ns[i] = records.wake_ns(i) - records.run_ns[i - back[i]];
  }
  return true;
}

}  // namespace

std::optional<StoredRecords> decode_records(SectionKind kind, std::string_view content,
                                            std::string_view architecture) {
  StoredRecords records;
  ByteReader in(content);
  std::uint32_t key_count = 0;
  in(key_count);
  if (!in.ok() || key_count > kMostIntervals) return std::nullopt;
  records.keys.resize(key_count);
  for_each_key_column(kind, [&]<class T>(T IntervalKey::*member) {
    const std::vector<T> column = get_column<T>(in, key_count);
    for (std::size_t i = 0; i < column.size(); ++i) records.keys[i].*member = column[i];
  });
  for (IntervalKey& key : records.keys) {
    key.syscall = native_syscall(architecture, key.syscall);
    records.possible_keys.push_back(is_possible(key) ? 1 : 0);
  }

  std::uint32_t count = 0;
  in(count);
  if (!in.ok() || count > kMostIntervals) return std::nullopt;
  records.key_of = get_column<std::uint32_t>(in, count);
  records.run_ns = get_column<std::uint64_t>(in, count);
  records.runnable_ns = get_column<std::uint64_t>(in, count);
  std::vector<std::uint32_t> back;
  if (kind != SectionKind::records) back = get_column<std::uint32_t>(in, count);
  records.blocked_ns = get_column<std::uint64_t>(in, count);
  records.last = get_column<std::uint32_t>(in, count);
  in(records.other_count);
  if (!in.ok()) return std::nullopt;
  std::uint64_t run_ns = 0;
  for (std::uint64_t& one : records.run_ns) one = run_ns += difference_of(one);
  if (!follow_links(back, records)) return std::nullopt;
  records.others = in.left();
  return records;
}

}  // namespace offwait
