// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as it left the kernel: its records, and the tables that they refer to, as plain values.
// src/capture fills it in, assemble() (assemble.h) turns it into a Trace.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "base/side_by_side.h"
#include "event/blocks.h"
#include "event/numbered_values.h"
#include "model/trace.h"
#include "offwait/event.h"

namespace offwait {

/// A time in the kernel's records.
inline Nanos nanos(std::uint64_t kernel_ns) { return static_cast<Nanos>(kernel_ns); }

/// Size in bytes of a record that begins with this type and is not cut short, 0 for an unknown type.
std::size_t record_size(std::uint8_t type);

/// Calls `visit` with a copy of the record of this type at `bytes`, as the struct that the contract's table
/// of kinds (offwait/event.h) has for it. Does nothing for an unknown type.
template <class Visitor>
void visit_record(std::uint8_t type, const std::byte* bytes, Visitor&& visit) {
  switch (type) {
#define X(name, struct_name)                     \
  case OFFWAIT_RECORD_##name: {                  \
    struct_name record;                          \
    std::memcpy(&record, bytes, sizeof(record)); \
    visit(std::as_const(record));                \
    break;                                       \
  }
    OFFWAIT_RECORD_KINDS(X)
#undef X
    default:
      break;
  }
}

// The time that the packed form of a record counts from; other records are not packed.
inline std::uint64_t end_of(const offwait_wait& record) { return record.run_ns; }
inline std::uint64_t end_of(const offwait_preemption& record) { return record.run_ns; }
inline std::uint64_t end_of(const offwait_sample& record) { return record.at_ns; }

/// Records one after the other, in the order of their emission. Of waits, preemptions and samples there are
/// millions. Each takes about 9 bytes, because all of it but its times (thread, stacks, waker) is stored once
/// for all records that have it in common. Touching memory for the first time is most of what recording costs
/// in user space. The births and exits of threads take 20 bytes each; there may be 60,000 of them a second.
class RecordBuffer {
 public:
  /// Copies one record. False (and nothing is copied) if it is no known record of this size.
  bool append(std::span<const std::byte> record);

  std::uint64_t count(offwait_record_type type) const;
  /// How many of the waits a packet ended that was sent (OFFWAIT_WAIT_SENT).
  std::uint64_t sent_waits() const { return sent_waits_; }
  /// Whether the stacks of some wait were left to chance (offwait_wait::draw).
  bool has_draws() const { return has_draws_; }
  /// What the records take, in memory or in a file.
  std::size_t bytes() const {
    return bytes_ + keys_.size() * sizeof(KeyOfThread) + commons_.size() * sizeof(RecordKey);
  }

  /// Bounds the memory of the records, whatever their number: what is older is moved to a file in this
  /// directory that has no name.
  void keep_in_memory(std::size_t bytes, std::string directory);
  /// Memory that the records take, without their keys.
  std::size_t bytes_in_memory() const { return blocks_.bytes_in_memory(); }
  /// An Error says why the records take more memory than they may.
  const Status& bounded() const { return blocks_.moved(); }

  /// Calls visit(const offwait_wait&), visit(const offwait_preemption&), … for each record, in order. The
  /// reference is good during the call only.
  template <class Visitor>
  void for_each(Visitor&& visit) const;
  /// Visits at least one of the records that differ only in their times, in_flight_ns and owner, with any
  /// values of these, and all other records in order. This is much faster, because millions of waits differ
  /// in nothing else.
  template <class Visitor>
  void for_each_kind(Visitor&& visit) const;
  /// As for_each(), and frees the memory of the records as it goes. The buffer is empty afterwards. Each
  /// record is first passed to prepare(record), which may change it. That runs side by side with the visits
  /// of records before.
  template <class Prepare, class Visitor>
  void take_each(Prepare&& prepare, Visitor&& visit);

 private:
  /// A wait, preemption or sample without its times: the words of the record, with zeros in place of those
  /// that hold times.
  using RecordKey = std::array<std::uint64_t, 6>;
  /// A key as it is stored. Keys of many threads differ in the thread alone, or in the thread that woke it.
  struct KeyOfThread {
    std::uint32_t common = 0;  ///< number in `commons_` of the key without the two that follow
    std::uint32_t tid = 0;
    std::uint32_t waker_id = 0;  ///< of a sample: its user stack
    friend bool operator==(const KeyOfThread&, const KeyOfThread&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const RecordKey& key) const;
    std::size_t operator()(const KeyOfThread& key) const;
  };
  static constexpr std::size_t kMostKeys = std::size_t{1} << 24;
  /// Bytes of memory that a numbered value takes: the value itself, twice because the vector of values is
  /// copied when it grows, and its places in the table.
  template <class Value>
  static constexpr std::size_t kNumberedBytes = 2 * sizeof(Value) + 4 * sizeof(std::uint32_t);

  /// The last keys by their hash. They make most look-ups in `keys_` unnecessary.
  struct Recent {
    RecordKey key{};
    std::uint32_t index = 0;
  };

  struct Interval {
    RecordKey key{};
    std::uint64_t block_ns = 0;
    std::uint64_t wake_ns = 0;  ///< a preemption is runnable from its start on
    std::uint64_t run_ns = 0;   ///< all that a sample has
    std::uint32_t last = 0;     ///< in_flight_ns or owner of a wait
  };

  /// The four numbers that are stored of an interval: the index of its key; its run_ns less that of the
  /// interval before (zigzag: 0, -1, 1, -2, … are 0, 1, 2, 3, …); how long it was blocked; how long it was
  /// runnable. In memory they are kPacked, then a byte that holds the length of each number less one in two
  /// bits, then that many bytes of each. With in_flight_ns or owner it is kPackedWithLast, the same, and four
  /// bytes of that.
  using PackedInterval = std::array<std::uint32_t, 4>;
  static constexpr std::uint8_t kPacked = 0xff;
  static constexpr std::uint8_t kPackedWithLast = 0xfe;
  static constexpr std::size_t kLongestPacked = 2 + sizeof(PackedInterval) + sizeof(std::uint32_t);

  /// A thread record is kPackedThread, its at_ns, two bytes that hold the length of each number less one in
  /// two bits, and five numbers: that of what it has in common with others (its event, process and name), its
  /// tid, its parent, its ns_tid, and at_ns less start_ns.
  using PackedThread = std::array<std::uint32_t, 5>;
  static constexpr std::uint8_t kPackedThread = 0xfd;
  static constexpr std::size_t kLongestPackedThread =
      1 + sizeof(std::uint64_t) + sizeof(std::uint16_t) + sizeof(PackedThread);

  static bool is_packed(std::uint8_t type) { return type == kPacked || type == kPackedWithLast; }
  /// The bytes that the packed interval at `at` takes.
  static std::size_t packed_size(const std::byte* at) {
    const auto lengths = std::to_integer<std::size_t>(at[1]);
    const std::size_t last =
        std::to_integer<std::uint8_t>(at[0]) == kPackedWithLast ? sizeof(std::uint32_t) : 0;
    return 2 + 4 + (lengths >> 6U) + (lengths >> 4U & 3U) + (lengths >> 2U & 3U) + (lengths & 3U) + last;
  }
  template <class Visitor>
  static void visit_interval(const Interval& interval, Visitor&& visit);
  /// `previous_run_ns` is that of the block before, and becomes that of this one.
  template <class Visitor>
  void visit_block(const Blocks::Block& block, std::uint64_t& previous_run_ns, Visitor&& visit) const;
  bool may_add_keys() const {
    return keys_.size() < kMostKeys &&
           keys_.size() * kNumberedBytes<KeyOfThread> + commons_.size() * kNumberedBytes<RecordKey> <
               most_key_bytes_;
  }
  std::optional<std::uint32_t> intern(const RecordKey& key, Recent& recent);
  RecordKey key(std::uint32_t index) const;
  void append_whole(std::span<const std::byte> record);
  bool append_packed(std::span<const std::byte> record);
  bool append_packed_thread(std::span<const std::byte> record);
  /// Reads the packed thread record at `at` and moves `at` behind it.
  offwait_thread_record unpack_thread(const std::byte*& at) const;
  /// Reads the packed interval at `at` and moves `at` behind it.
  Interval unpack(const std::byte*& at, std::uint64_t previous_run_ns) const;
  static offwait_wait wait_of(const Interval& interval);
  static offwait_preemption preemption_of(const Interval& interval);
  static offwait_sample sample_of(const Interval& interval);

  Blocks blocks_;
  NumberedValues<RecordKey, KeyHash> commons_;
  NumberedValues<KeyOfThread, KeyHash> keys_;
  std::array<Recent, 512> recent_{};
  std::uint64_t previous_run_ns_ = 0;
  std::array<std::uint64_t, OFFWAIT_RECORD_COUNT> counts_{};
  std::uint64_t sent_waits_ = 0;
  std::size_t bytes_ = 0;
  bool has_draws_ = false;
  std::size_t most_key_bytes_ = SIZE_MAX;  ///< what has other keys is not packed
};

/// Cumulative counters of one disk at one time, from /proc/diskstats.
struct KernelDiskCounters {
  std::uint32_t dev = 0;  ///< as offwait_io::dev
  Nanos at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  std::uint64_t in_flight = 0;
};

/// Cumulative counters of one interface at one time, from /proc/net/dev.
struct KernelNicCounters {
  std::string name;  ///< as in KernelRecording::nics
  Nanos at = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

/// Names a wait: at a time a thread begins one at most.
struct WaitBegin {
  std::uint32_t tid = 0;
  std::uint64_t block_ns = 0;  ///< 0: before the recording began

  // clang-tidy 14 takes its own 0 for one of ours.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const WaitBegin&, const WaitBegin&) = default;
};

/// What was found out in user space of a thread while it was blocked.
struct BlockedThread {
  std::uint64_t start_ns = 0;     ///< as offwait_thread::start_ns
  std::uint32_t wait_user = 0;    ///< id of its stack in KernelRecording::stacks, 0 for none
  std::uint32_t mutex_owner = 0;  ///< tid of who holds the pthread mutex that it waits for, 0 for none
};

/// Tells a thread from all others of its tid.
struct ThreadKey {
  std::uint32_t tid = 0;
  std::uint64_t start_ns = 0;  ///< as offwait_thread::start_ns

  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ThreadKey&, const ThreadKey&) = default;
};

/// What is known of each of many threads, in order of the thread. There may be as many as a program makes in
/// hours, so none takes the node of a map.
template <class Value>
using RowsOfThreads = std::vector<std::pair<ThreadKey, Value>>;
/// What is known of the thread; nullptr for one that has no row.
template <class Value>
const Value* value_of(const RowsOfThreads<Value>& rows, const ThreadKey& thread) {
  const auto row = std::lower_bound(rows.begin(), rows.end(), thread,
                                    [](const auto& one, const ThreadKey& key) { return one.first < key; });
  return row == rows.end() || row->first != thread ? nullptr : &row->second;
}

/// What a process runs, as Actor::program and Actor::title.
struct RunningProgram {
  std::string path;
  std::string title;
};

/// A file that waits and requests name by its id (offwait_file).
struct KernelFile {
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint32_t dev = 0;
  std::uint64_t inode = 0;
  std::uint32_t generation = 0;
  std::string path;  ///< as far as the kernel told it; hostile bytes
};

/// The directory `root` of the file system on a device is mounted on `path`.
struct KernelMount {
  std::uint32_t dev = 0;  ///< as offwait_io::dev
  std::string root;       ///< hostile bytes, like the path
  std::string path;
  friend bool operator==(const KernelMount&, const KernelMount&) = default;
};

struct KernelRecording {
  Window window;
  RecordBuffer records;  ///< a request still in flight at the end completes at kNever
  std::vector<std::pair<std::uint32_t, offwait_thread>>
      threads;  ///< by tid: what was left in the kernel at the end
  std::unordered_map<std::uint32_t, offwait_stack> stacks;
  std::map<WaitBegin, BlockedThread> blocked;  ///< by the wait that it was in
  std::map<std::uint32_t, std::string>
      nics;  ///< interface id → name, `NAME@INODE` in another network namespace
  std::unordered_map<std::uint32_t, offwait_peer> peers;  ///< by id
  std::set<std::uint16_t> served_ports;                   ///< that somebody listened to
  std::unordered_map<std::uint32_t, KernelFile> files;    ///< by id, as they were last seen
  std::vector<KernelMount> mounts;                        ///< as a process of the target has them
  /// Kinds (enum offwait_waker_kind) and ids of devices that ended waits which are not in `records`.
  std::set<std::pair<std::uint8_t, std::uint32_t>> devices_elsewhere;
  /// The time of which `records` has all records. Records of other times may contradict them, and this is not
  /// counted as a loss.
  Window complete{-1, kNever};
  bool counts_responses = false;
  std::vector<std::pair<offwait_responses_key, offwait_responses>> responses;
  std::unordered_map<std::uint32_t, offwait_unix_address> unix_addresses;  ///< by id
  std::string counted_function;  ///< that `calls` are of, in the user's words
  std::vector<std::pair<offwait_calls_key, offwait_calls>> calls;
  std::map<std::uint32_t, std::string> interrupts;  ///< interrupt number → its handlers' names
  std::map<std::uint32_t, std::string> disks;       ///< dev → name
  std::map<std::uint32_t, std::vector<std::string>> disks_below;  ///< dev → Actor::on; without empty ones
  std::vector<KernelNicCounters> nic_counters;                    ///< in order of time
  std::vector<KernelDiskCounters> disk_counters;                  ///< in order of time
  Nanos cpu_busy_ns = 0;                                          ///< as in Recording
  Nanos cpu_idle_ns = 0;
  Nanos cpu_steal_ns = 0;
  // As in Trace:
  std::vector<CpuTime> cpu_times;
  std::vector<CpuQuota> cpu_quotas;
  std::vector<MemoryUse> memory;
  std::vector<ProcessCpuTime> other_processes;
  std::map<ThreadKey, CpuList> allowed_cpus;  ///< of threads of the target that may not use every CPU
  std::vector<RunningProgram> programs;
  RowsOfThreads<std::uint32_t> program_of;  ///< index into `programs` of each thread's process
  std::uint32_t sample_hz = 0;
  std::uint32_t recorder = 0;  ///< its tgid; 0: not known
  offwait_stack_reuse stack_reuse{};
  RecordingCost cost;
  LossCounts loss;
};

/// The addresses of a stack, leaf first.
inline std::span<const __u64> pcs_of(const offwait_stack& stack) {
  return {std::begin(stack.pc), std::min<std::size_t>(stack.frames, std::size(stack.pc))};
}

/// The ids of the stacks that a thread has, 0 for none.
inline std::array<std::uint32_t, 4> stacks_of(const offwait_thread& thread) {
  return {thread.wait_user, thread.wait_kernel, thread.waker_user,
          thread.in_flight_ns == 0 ? thread.waker_kernel : 0};
}

template <class Visitor>
void RecordBuffer::visit_interval(const Interval& interval, Visitor&& visit) {
  switch (interval.key[0] & 0xff) {
    case OFFWAIT_RECORD_WAIT:
      visit(wait_of(interval));
      break;
    case OFFWAIT_RECORD_SAMPLE:
      visit(sample_of(interval));
      break;
    default:
      visit(preemption_of(interval));
  }
}

template <class Visitor>
void RecordBuffer::visit_block(const Blocks::Block& block, std::uint64_t& previous_run_ns,
                               Visitor&& visit) const {
  const std::byte* at = block.data.get();
  const std::byte* const end = at + block.used;
  while (at < end) {
    // append() stores only whole records.
    const auto type = static_cast<std::uint8_t>(*at);
    if (is_packed(type)) {
      const Interval interval = unpack(at, previous_run_ns);
      previous_run_ns = interval.run_ns;
      visit_interval(interval, visit);
      continue;
    }
    if (type == kPackedThread) {
      const offwait_thread_record thread = unpack_thread(at);
      visit(thread);
      continue;
    }
    visit_record(type, at, [&](const auto& record) {
      if constexpr (requires { end_of(record); }) previous_run_ns = end_of(record);
      visit(record);
    });
    at += record_size(type);
  }
}

template <class Visitor>
void RecordBuffer::for_each(Visitor&& visit) const {
  std::uint64_t previous_run_ns = 0;
  blocks_.for_each([&](const Blocks::Block& block) { visit_block(block, previous_run_ns, visit); });
}

template <class Visitor>
void RecordBuffer::for_each_kind(Visitor&& visit) const {
  for (std::uint32_t index = 0; index < keys_.size(); ++index) visit_interval({key(index)}, visit);
  blocks_.for_each([&](const Blocks::Block& block) {
    const std::byte* at = block.data.get();
    const std::byte* const end = at + block.used;
    while (at < end) {
      const auto type = static_cast<std::uint8_t>(*at);
      if (is_packed(type)) {
        at += packed_size(at);
      } else if (type == kPackedThread) {
        const offwait_thread_record thread = unpack_thread(at);
        visit(thread);
      } else {
        visit_record(type, at, visit);
        at += record_size(type);
      }
    }
  });
}

template <class Prepare, class Visitor>
void RecordBuffer::take_each(Prepare&& prepare, Visitor&& visit) {
  std::uint64_t previous_run_ns = 0;
  std::vector<std::byte> prepared;  // whole records of one block
  std::vector<std::byte> visited;   // those of the block before
  const auto visit_them = [&] {
    for (std::size_t at = 0; at < visited.size();) {
      const auto type = static_cast<std::uint8_t>(visited[at]);
      visit_record(type, visited.data() + at, visit);
      at += record_size(type);
    }
  };
  const auto prepare_block = [&](const Blocks::Block& block) {
    visit_block(block, previous_run_ns, [&](auto record) {
      prepare(record);
      const std::span<const std::byte> bytes = std::as_bytes(std::span(&record, 1));
      prepared.insert(prepared.end(), bytes.begin(), bytes.end());
    });
  };
  blocks_.take_each([&](const Blocks::Block& block) {
    side_by_side(visit_them, [&] { prepare_block(block); });
    visited.swap(prepared);
    prepared.clear();
  });
  visit_them();
  *this = {};
}

}  // namespace offwait
