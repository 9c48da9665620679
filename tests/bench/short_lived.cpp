// SPDX-License-Identifier: GPL-2.0-or-later
// bench_short_lived FILE THREADS [SECONDS]: writes a recording file in which four threads make so many others
// in all, evenly over SECONDS (default 10), and wait for each to end before they make the next one, as a
// server does that has a thread for each connection. short_lived.py measures what a report takes for each.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "event/syscalls.h"
#include "write_file.h"

namespace {

using namespace offwait;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBegin = 1000 * kSecond;
constexpr std::uint32_t kMakers = 4;
constexpr std::uint32_t kProcess = 100;
constexpr std::uint32_t kLargest = 4'000'000;  ///< tid; smaller ones are given anew after it

class Writer {
 public:
  Writer(UniqueFd file, const std::string& name, std::uint64_t threads, std::uint64_t seconds)
      : writer_(std::move(file), name), each_ns_(seconds * kSecond * kMakers / threads), seconds_(seconds) {}

  Status write() {
    OFFWAIT_TRY_STATUS(writer_.begin(about_process(kMakers)));
    writer_.start();
    RecordingPart part;
    for (std::uint32_t i = 0; i < kMakers; ++i)
      thread_record(part, kProcess + i, 0, OFFWAIT_THREAD_SEEN, kBegin - kSecond, kBegin);
    std::uint64_t now = kBegin;
    for (std::uint64_t second = 1; second <= seconds_; ++second) {
      const std::uint64_t end = kBegin + second * kSecond;
      for (; now + each_ns_ <= end; now += each_ns_) make_threads(part, now);
      part.has_tables = true;
      part.kernel.window = {static_cast<Nanos>(kBegin), static_cast<Nanos>(end)};
      for (std::uint32_t i = 0; i < kMakers; ++i) {
        offwait_thread thread{};
        thread.tgid = kProcess;
        thread.target = 1;
        thread.start_ns = kBegin - kSecond;
        thread.state = OFFWAIT_STATE_RUNNING;
        thread.since_ns = now;
        part.kernel.threads.emplace_back(kProcess + i, thread);
      }
      writer_.add(std::exchange(part, {}));
    }
    OFFWAIT_TRY_STATUS(writer_.stop());
    std::printf("%llu threads, %llu waits, %llu bytes\n", static_cast<unsigned long long>(threads_),
                static_cast<unsigned long long>(writer_.waits()),
                static_cast<unsigned long long>(writer_.size()));
    return writer_.finish({}, {}, {});
  }

 private:
  static void thread_record(RecordingPart& part, std::uint32_t tid, std::uint32_t parent, std::uint8_t event,
                            std::uint64_t start, std::uint64_t at) {
    offwait_thread_record record{};
    record.type = OFFWAIT_RECORD_THREAD;
    record.event = event;
    record.tid = record.ns_tid = tid;
    record.tgid = kProcess;
    record.parent = parent;
    record.start_ns = start;
    record.at_ns = at;
    std::memcpy(record.comm, "storm", sizeof("storm"));
    append(part, record);
  }

  static void wait(RecordingPart& part, std::uint32_t tid, std::uint64_t block, std::uint64_t wake,
                   std::uint32_t waker) {
    offwait_wait wait{};
    wait.type = OFFWAIT_RECORD_WAIT;
    wait.tid = tid;
    wait.block_ns = block;
    wait.wake_ns = wake;
    wait.run_ns = wake + 1000;
    wait.syscall = OFFWAIT_NO_SYSCALL;
    wait.waker_kind = OFFWAIT_WAKER_THREAD;
    wait.waker_id = waker;
    append(part, wait);
  }

  /// Each maker makes a thread, which is runnable at first, and waits until it is gone.
  void make_threads(RecordingPart& part, std::uint64_t now) {
    for (std::uint32_t i = 0; i < kMakers; ++i) {
      const std::uint32_t maker = kProcess + i;
      const std::uint64_t born = now + each_ns_ / 8 + i;
      const std::uint64_t gone = now + each_ns_ / 2 + i;
      const std::uint32_t tid = next_tid_;
      next_tid_ = next_tid_ == kLargest ? kFirst : next_tid_ + 1;
      ++threads_;
      thread_record(part, tid, maker, OFFWAIT_THREAD_BORN, born, born);
      wait(part, tid, born, born, maker);
      thread_record(part, tid, 0, OFFWAIT_THREAD_EXITED, born, gone);
      wait(part, maker, born + 1000, gone, tid);
    }
  }

  static constexpr std::uint32_t kFirst = 1000;

  RecordingWriter writer_;
  const std::uint64_t each_ns_;
  const std::uint64_t seconds_;
  std::uint32_t next_tid_ = kFirst;
  std::uint64_t threads_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return write_file<Writer>(argc, argv, "bench_short_lived FILE THREADS [SECONDS]", 10);
}
