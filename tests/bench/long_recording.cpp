// SPDX-License-Identifier: GPL-2.0-or-later
// bench_long_recording FILE WAITS [SECONDS]: writes a recording file with so many waits of 200 threads,
// evenly over SECONDS (default: a day), to measure how commands read long files: each second 64 of the
// threads are replaced. What happens is the same for the same arguments.
#include <cstdint>
#include <cstdio>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "event/syscalls.h"
#include "write_file.h"

namespace {

using namespace offwait;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBegin = 1000 * kSecond;
constexpr std::uint32_t kThreads = 200;
constexpr std::uint32_t kGroup = 8;      ///< threads that wake each other
constexpr std::uint32_t kReplaced = 64;  ///< each second
constexpr std::uint32_t kDisk = 254U << 20;

class Writer {
 public:
  Writer(UniqueFd file, const std::string& name, std::uint64_t waits, std::uint64_t seconds)
      : writer_(std::move(file), name), mean_ns_(seconds * kSecond * kThreads / waits), seconds_(seconds) {}

  Status write() {
    OFFWAIT_TRY_STATUS(writer_.begin(about_process(64)));
    writer_.start();
    RecordingPart part;
    for (std::uint32_t i = 0; i < kThreads; ++i) begin(part, i, OFFWAIT_THREAD_SEEN, kBegin);
    for (std::uint64_t second = 0; second < seconds_; ++second) {
      const std::uint64_t end = kBegin + (second + 1) * kSecond;
      add_waits(part, end);
      if (second + 1 < seconds_) {
        for (std::uint32_t i = 0; i < kReplaced; ++i)
          replace(part, static_cast<std::uint32_t>((second * kReplaced + i) % kThreads), end);
      }
      part.has_tables = true;
      part.kernel.window = {static_cast<Nanos>(kBegin), static_cast<Nanos>(end)};
      part.kernel.disks = {{kDisk, "vda"}};
      part.kernel.disk_counters = {{kDisk, static_cast<Nanos>(end), second << 20, second << 8, 0}};
      for (std::uint32_t i = 0; i < kThreads; ++i) {
        offwait_thread thread{};
        thread.tgid = 100;
        thread.target = 1;
        thread.start_ns = threads_[i].start;
        thread.state = OFFWAIT_STATE_RUNNING;
        thread.since_ns = threads_[i].free_at;
        part.kernel.threads.emplace_back(threads_[i].tid, thread);
      }
      writer_.add(std::exchange(part, {}));
    }
    OFFWAIT_TRY_STATUS(writer_.stop());
    std::printf("%llu waits, %llu bytes\n", static_cast<unsigned long long>(writer_.waits()),
                static_cast<unsigned long long>(writer_.size()));
    return writer_.finish({}, {}, {});
  }

 private:
  struct Thread {
    std::uint32_t tid = 0;
    std::uint64_t start = 0;
    std::uint64_t free_at = 0;  ///< the end of its last wait
  };

  std::uint64_t some(std::uint64_t most) { return 1 + random_() % most; }

  void thread_record(RecordingPart& part, const Thread& thread, std::uint8_t event, std::uint64_t at) {
    offwait_thread_record record{};
    record.type = OFFWAIT_RECORD_THREAD;
    record.event = event;
    record.tid = record.ns_tid = thread.tid;
    record.tgid = 100;
    record.start_ns = thread.start;
    record.at_ns = at;
    record.comm[0] = 'w';
    append(part, record);
  }

  void begin(RecordingPart& part, std::uint32_t index, std::uint8_t event, std::uint64_t at) {
    threads_[index] = {next_tid_, at - (event == OFFWAIT_THREAD_SEEN ? kSecond : 0), at};
    next_tid_ = next_tid_ == 4'000'000 ? 1000 : next_tid_ + 1;
    thread_record(part, threads_[index], event, at);
    turns_.emplace(at + some(mean_ns_), index);
  }

  /// The thread exits at `at`, if its last wait is over by then, and a new one takes its place.
  void replace(RecordingPart& part, std::uint32_t index, std::uint64_t at) {
    if (threads_[index].free_at >= at) return;
    thread_record(part, threads_[index], OFFWAIT_THREAD_EXITED, at);
    ++ended_[index];
    begin(part, index, OFFWAIT_THREAD_BORN, at);
  }

  /// The waits that end before `end`. Each is for a thread of its group that runs at its end, or for the
  /// disk.
  void add_waits(RecordingPart& part, std::uint64_t end) {
    while (turns_.top().first < end) {
      const auto [wake, index] = turns_.top();
      turns_.pop();
      if (ended_[index] > 0) {  // of the thread before
        --ended_[index];
        continue;
      }
      Thread& thread = threads_[index];
      offwait_wait wait{};
      wait.type = OFFWAIT_RECORD_WAIT;
      wait.tid = thread.tid;
      wait.block_ns = thread.free_at + (wake - thread.free_at) / 4;
      wait.wake_ns = wake;
      wait.run_ns = wake + some(5000);
      wait.syscall = OFFWAIT_NO_SYSCALL;
      std::uint32_t& last = last_[index / kGroup];
      const Thread& other = threads_[last];
      if (last != index && other.free_at <= wake && random_() % 4 != 0) {
        wait.waker_kind = OFFWAIT_WAKER_THREAD;
        wait.waker_id = other.tid;
      } else {
        wait.waker_kind = OFFWAIT_WAKER_DISK;
        wait.waker_id = kDisk;
      }
      append(part, wait);
      thread.free_at = wait.run_ns;
      last = index;
      turns_.emplace(wait.run_ns + mean_ns_ / 2 + some(mean_ns_), index);
    }
  }

  using Turn = std::pair<std::uint64_t, std::uint32_t>;
  RecordingWriter writer_;
  const std::uint64_t mean_ns_;
  const std::uint64_t seconds_;
  std::mt19937_64 random_{1};  // NOLINT(cert-msc*): the same recording each time
  std::vector<Thread> threads_ = std::vector<Thread>(kThreads);
  std::vector<int> ended_ = std::vector<int>(kThreads);
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;  ///< when each thread's next wait ends
  std::uint32_t next_tid_ = 1000;
  std::vector<std::uint32_t> last_ =
      std::vector<std::uint32_t>(kThreads / kGroup);  ///< to run, of each group
};

}  // namespace

int main(int argc, char** argv) {
  return write_file<Writer>(argc, argv, "bench_long_recording FILE WAITS [SECONDS]", 86400);
}
