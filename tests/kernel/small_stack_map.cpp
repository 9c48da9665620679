// SPDX-License-Identifier: GPL-2.0-or-later
// small_stack_map PID memory|file|flight: records a process while the kernel has room for 2,048 stacks: at
// once, in a recording file that is read afterwards, or so that the last second is kept. Prints `recording`,
// ends at a line on stdin, and then prints a line of JSON (how many stacks there are, how many stacks that
// records refer to are not there, and the losses) and a line for each wait: TID, how long it was blocked in
// ns, and the addresses of its user stack, leaf first.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "capture/recorder.h"
#include "event/syscalls.h"
#include "recording_file/read_recording_file.h"
#include "recording_file/recording_writer.h"
#include "session/flight.h"

using namespace offwait;

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "small_stack_map: %s\n", what.c_str());
  std::exit(1);
}

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) fail(result.error().message);
  return std::move(result).value();
}

void check(const Status& status) {
  if (!status) fail(status.error().message);
}

/// Drains until there is a line on stdin, and calls `each_second`.
template <class EachSecond>
void record(Recorder& recorder, EachSecond each_second) {
  recorder.begin();
  std::puts("recording");
  std::fflush(stdout);
  pollfd end{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  Nanos next = monotonic_now() + kSecond;
  while (::poll(&end, 1, 20) == 0) {
    check(recorder.drain());
    if (monotonic_now() < next) continue;
    next += kSecond;
    each_second();
  }
}

KernelRecording in_memory(Recorder& recorder) {
  record(recorder, [] {});
  return value_of(recorder.stop());
}

KernelRecording in_file(Recorder& recorder) {
  const int file = ::memfd_create("recording", MFD_CLOEXEC);
  RecordingWriter writer(UniqueFd(::dup(file)), "file");
  AboutRecording about;
  about.architecture = native_architecture();
  check(writer.begin(about));
  writer.read_with([&recorder](std::span<const std::uint32_t> ids) { return recorder.stacks(ids); }, {});
  writer.start();
  record(recorder, [&] { writer.add({value_of(recorder.take(Taken::tables)), true, {}}); });
  const RecordingPart last{value_of(recorder.stop()), true, {}};
  check(writer.stop());
  check(writer.write(last));
  check(writer.finish({}, {}, {}));
  ::lseek(file, 0, SEEK_SET);
  ReadRecording read = value_of(read_recording_file(file, "", "file"));
  if (read.interrupted) fail(*read.interrupted);
  return std::move(read.recording.kernel);
}

KernelRecording in_flight(Recorder& recorder) {
  Flight flight(monotonic_now(), {.length = kSecond});
  record(recorder, [&] {
    KernelRecording part = value_of(recorder.take(Taken::counters));
    flight.add(part, true);
    recorder.move_begin(flight.window().begin, flight.take_exited());
  });
  KernelRecording last = value_of(recorder.stop());
  flight.add(last, true);
  KernelRecording whole;
  whole.stacks = std::move(last.stacks);
  whole.loss = last.loss;
  for (const RecordingPart& part : flight.take({})) {
    part.kernel.records.for_each(
        [&](const auto& record) { whole.records.append(std::as_bytes(std::span(&record, 1))); });
  }
  return whole;
}

std::size_t missing_stacks(const KernelRecording& recording) {
  std::size_t missing = 0;
  const auto count = [&](std::uint32_t id) {
    if (id != 0 && !recording.stacks.contains(id)) ++missing;
  };
  recording.records.for_each([&](const auto& record) {
    using Record = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<Record, offwait_sample>) {
      count(record.user);
      count(record.kernel);
    } else if constexpr (std::is_same_v<Record, offwait_wait>) {
      for (const std::uint32_t id : {record.wait_user, record.wait_kernel, record.waker_user}) count(id);
      if ((record.flags & OFFWAIT_WAIT_SENT) == 0) count(record.waker_kernel);
    }
  });
  return missing;
}

void print(const KernelRecording& recording) {
  std::printf(R"({"stacks": %zu, "missing": %zu)", recording.stacks.size(), missing_stacks(recording));
  for (const auto& [name, count] : recording.loss)
    std::printf(R"(, "%s": %llu)", name.c_str(), static_cast<unsigned long long>(count));
  std::puts("}");
  recording.records.for_each([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) {
      std::printf("%u %llu", record.tid, static_cast<unsigned long long>(record.wake_ns - record.block_ns));
      const auto stack = recording.stacks.find(record.wait_user);
      if (stack != recording.stacks.end()) {
        for (const auto pc : pcs_of(stack->second)) std::printf(" %llu", pc);
      }
      std::puts("");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kept = argv[2];
  CaptureOptions options;
  options.tgids = {std::atoi(argv[1])};  // NOLINT(cert-err34-c)
  options.stacks_in_kernel = 2048;
  Priority priority;
  Recorder recorder = value_of(Recorder::attach(options, priority));
  print(kept == "file" ? in_file(recorder) : kept == "flight" ? in_flight(recorder) : in_memory(recorder));
}
