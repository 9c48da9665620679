// SPDX-License-Identifier: GPL-2.0-or-later
// A part of a file must give the trace that is cut out of that of the whole file. Random recordings have what
// makes that hard: waits that go on for long, tids that are used again, exits that were lost, and devices
// that are waited for elsewhere.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "event/assemble.h"
#include "event/first_run.h"
#include "event/syscalls.h"
#include "model/cut.h"
#include "model/validate.h"
#include "recording_file/read_recording_file.h"
#include "recording_file/recording_writer.h"
#include "unit/event/recordings.h"
#include "unit/temporary_directory.h"

namespace offwait {
namespace {

using test::RecordingByHand;
using Lines = std::vector<std::string>;

constexpr Nanos kBegin = 1000;
constexpr Nanos kEnd = 9000;
constexpr Nanos kSection = 500;
constexpr Nanos kAround = 300;
constexpr std::uint32_t kDisks = 5;  ///< with the numbers 1 to 5
constexpr std::uint32_t kCommand = 20;

/// Threads 20 to 27. Each waits, is preempted, loses records, exits and starts anew, as chance has it.
class RandomRecording {
 public:
  explicit RandomRecording(std::uint64_t seed) : random_(seed), threads_(8) {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) threads_[i].tid = kCommand + i;
  }

  void write(const std::string& path) {
    RecordingWriter writer(UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
                           path);
    AboutRecording about;
    about.architecture = native_architecture();
    about.command = kCommand;
    REQUIRE(writer.begin(about).ok());
    for (Nanos end = kBegin + kSection; end <= kEnd; end += kSection) {
      RecordingByHand part(kBegin, end);
      if (end == kBegin + kSection) begin(part);
      while (now_ < end) step(part);
      REQUIRE(part.appended);
      for (std::uint32_t disk = 1; disk <= kDisks; ++disk) {
        part.recording.disks[disk] = "vd" + std::to_string(disk);
        part.recording.disk_counters.push_back({disk, end, static_cast<std::uint64_t>(end), 1, 0});
      }
      for (const Thread& thread : threads_) {
        if (thread.alive)
          part.left(thread.tid, nanoseconds(thread.start), thread.state, nanoseconds(thread.since));
      }
      REQUIRE(writer.write({std::move(part.recording), true, {}}).ok());
    }
    REQUIRE(writer.finish({}, {}, {}).ok());
  }

 private:
  struct Thread {
    std::uint32_t tid = 0;
    bool alive = false;
    Nanos start = 0;
    Nanos since = 0;
    offwait_state state = OFFWAIT_STATE_RUNNING;
    Nanos until = 0;  ///< when it runs again
  };

  static std::uint64_t nanoseconds(Nanos time) { return static_cast<std::uint64_t>(time); }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  Nanos some(Nanos most) { return 1 + static_cast<Nanos>(below(nanoseconds(most))); }

  void begin(RecordingByHand& part) {
    for (Thread& thread : threads_) {
      thread.start = 900;
      if (below(4) == 0) continue;
      thread.alive = true;
      part.seen(thread.tid, 900, nanoseconds(kBegin), "first");
      if (thread.tid != kCommand && below(2) == 0) continue;
      // It was blocked before the recording.
      thread.state = OFFWAIT_STATE_BLOCKED;
      thread.until = kBegin + some(1500);
    }
    now_ = kBegin;
  }

  void step(RecordingByHand& part) {
    now_ += some(8);
    Thread& thread = threads_[below(threads_.size())];
    if (!thread.alive) {
      if (below(4) != 0) return;
      thread = {thread.tid, true, now_, now_, OFFWAIT_STATE_RUNNING, 0};
      part.born(thread.tid, nanoseconds(now_), "t" + std::to_string(now_), kCommand);
    } else if (thread.state == OFFWAIT_STATE_RUNNING) {
      run(part, thread);
    } else if (now_ >= thread.until) {
      end_interval(part, thread);
      thread.state = OFFWAIT_STATE_RUNNING;
      thread.since = now_;
    }
  }

  /// A thread that runs goes on, exits, or leaves its CPU.
  void run(RecordingByHand& part, Thread& thread) {
    switch (below(12)) {
      case 0:
        thread.alive = false;
        if (below(3) != 0) part.exited(thread.tid, nanoseconds(now_));
        break;
      case 1:
        part.named(thread.tid, nanoseconds(now_), "n" + std::to_string(now_));
        break;
      case 2:
        part.append(offwait_sample{OFFWAIT_RECORD_SAMPLE, {}, thread.tid, nanoseconds(now_), 0, 0, 0, 0, 0});
        break;
      case 3:
        part.append(offwait_false_mark{OFFWAIT_RECORD_FALSE_MARK, {}, thread.tid, nanoseconds(now_)});
        break;
      default:
        thread.state = below(4) == 0 ? OFFWAIT_STATE_RUNNABLE : OFFWAIT_STATE_BLOCKED;
        thread.since = now_;
        thread.until = now_ + some(below(20) == 0 ? 3000 : 60);
    }
  }

  void end_interval(RecordingByHand& part, const Thread& thread) {
    const std::uint64_t from = nanoseconds(thread.since);
    const std::uint64_t to = nanoseconds(now_);
    if (below(15) == 0) return;  // lost without a trace
    if (below(15) == 0) return part.append(test::gap_of(thread.tid, from, to));
    if (thread.state == OFFWAIT_STATE_RUNNABLE) return part.append(test::preemption_of(thread.tid, from, to));
    const std::uint64_t wake = from + (to - std::max(from, nanoseconds(kBegin))) / 2;
    if (from == 0) return part.wait(thread.tid, 0, to - 1, to, test::kTimer);
    const auto disk = static_cast<std::uint32_t>(1 + below(kDisks));
    switch (below(3)) {
      case 0:
        part.append(test::io_of(thread.tid, disk, from, wake, 4096));
        return part.wait(thread.tid, from, wake, to, {OFFWAIT_WAKER_DISK, disk});
      case 1:
        return part.wait(thread.tid, from, wake, to, test::by_thread(waker_at(wake, thread)));
      default:
        return part.wait(thread.tid, from, wake, to,
                         {OFFWAIT_WAKER_IRQ, static_cast<std::uint32_t>(below(9))});
    }
  }

  /// A thread that runs, if there is one.
  std::uint32_t waker_at(std::uint64_t wake, const Thread& woken) const {
    for (const Thread& thread : threads_) {
      const bool runs = thread.alive && thread.state == OFFWAIT_STATE_RUNNING;
      if (runs && &thread != &woken && nanoseconds(thread.since) <= wake) return thread.tid;
    }
    return woken.tid;
  }

  std::mt19937_64 random_;
  std::vector<Thread> threads_;
  Nanos now_ = 0;
};

Trace trace_of(const std::string& path, const std::optional<Window>& kept, std::uint64_t* waits = nullptr) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Result<ReadRecording> read = read_recording_file(file.get(), "", "f", kept);
  REQUIRE(read.ok());
  KernelRecording& kernel = read->recording.kernel;
  if (waits != nullptr) *waits = kernel.records.count(OFFWAIT_RECORD_WAIT);
  kernel.window.begin = first_run(kernel, read->recording.about.command);
  Trace trace = assemble(kernel, read->recording.stacks);
  const Status valid = validate(trace);
  INFO((valid.ok() ? "" : valid.error().message));
  CHECK(valid.ok());
  return trace;
}

/// Without losses: those of the whole are not those of the part.
Lines lines_of(Trace trace) {
  trace.loss.clear();
  return test::lines(trace);
}

TEST_CASE("a part of a file is what is cut out of the whole") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomRecording(seed).write(path);
    std::uint64_t all = 0;
    const Trace whole = trace_of(path, std::nullopt, &all);
    REQUIRE(all > 100);
    for (const Window& window :
         {Window{2000, 2100}, Window{4321, 4999}, Window{8000, kEnd}, Window{6000, 6001}}) {
      const Window kept{window.begin - kAround, window.end + kAround};
      std::uint64_t waits = 0;
      const Trace part = trace_of(path, kept, &waits);
      CHECK(part.window.begin == whole.window.begin);
      CHECK(part.window.end == whole.window.end);
      CHECK(waits < all / 2);
      INFO("seed " << seed << ", window from " << window.begin);
      CHECK(lines_of(cut_to(part, window)) == lines_of(cut_to(whole, window)));
    }
  }
}

TEST_CASE("a part counts what contradicts its own records alone") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomRecording(seed).write(path);
    const Trace whole = trace_of(path, std::nullopt);
    const Trace part = trace_of(path, Window{3000, 5000});
    for (const auto& [name, count] : part.loss) CHECK(count <= whole.loss.at(name));
  }
}

TEST_CASE("a part that is the whole has everything") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  RandomRecording(7).write(path);
  CHECK(test::lines(trace_of(path, Window{0, kNever})) == test::lines(trace_of(path, std::nullopt)));
}

TEST_CASE("the window and the sizes of a file are told without its records") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  RandomRecording(3).write(path);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const Result<RecordedSizes> sizes = sizes_of_recording_file(file.get(), "", "f");
  REQUIRE(sizes.ok());
  CHECK(sizes->window.begin == kBegin);
  CHECK(sizes->window.end == kEnd);
  REQUIRE(sizes->marks.size() == (kEnd - kBegin) / kSection);
  Nanos until = kBegin;
  std::uint64_t bytes = 0;
  for (const RecordedSizes::Mark& mark : sizes->marks) {
    CHECK(mark.until == (until += kSection));
    CHECK(mark.bytes > bytes);
    bytes = mark.bytes;
  }
  REQUIRE(::truncate(path.c_str(), 3000) == 0);
  REQUIRE(::lseek(file.get(), 0, SEEK_SET) == 0);
  const Result<RecordedSizes> shorter = sizes_of_recording_file(file.get(), "", "f");
  REQUIRE(shorter.ok());
  CHECK(shorter->window.end < kEnd);
  CHECK(shorter->marks.back().bytes < bytes);
}

}  // namespace
}  // namespace offwait
