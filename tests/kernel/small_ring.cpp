// SPDX-License-Identifier: GPL-2.0-or-later
// small_ring PID: records a process with a ring buffer of one page for each CPU, without stacks. Prints
// `recording`, ends at a line on stdin, and then prints as JSON how many intervals off their CPUs its threads
// have, by tid, and how many records were lost.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <type_traits>

#include <poll.h>
#include <unistd.h>

#include "capture/recorder.h"

using namespace offwait;

namespace {

std::map<unsigned, unsigned long> intervals_of(const KernelRecording& recording) {
  std::map<unsigned, unsigned long> intervals;
  recording.records.for_each([&intervals](const auto& record) {
    using Record = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<Record, offwait_wait> || std::is_same_v<Record, offwait_preemption>)
      ++intervals[record.tid];
  });
  return intervals;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  CaptureOptions options;
  options.tgids = {std::atoi(argv[1])};  // NOLINT(cert-err34-c)
  options.stacks = false;
  options.ring_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  Priority priority;
  auto recorder = Recorder::attach(options, priority);
  if (!recorder.ok()) {
    std::fprintf(stderr, "%s\n", recorder.error().message.c_str());
    return 1;
  }
  recorder->begin();
  std::puts("recording");
  std::fflush(stdout);
  pollfd end{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (::poll(&end, 1, 20) == 0) {
    if (!recorder->drain().ok()) return 1;
  }
  const auto recording = recorder->stop();
  if (!recording.ok()) return 1;
  const auto lost = recording->loss.find("ringbuf_full");
  std::printf(R"({"lost": %llu, "intervals": {)",
              static_cast<unsigned long long>(lost == recording->loss.end() ? 0 : lost->second));
  const char* separator = "";
  for (const auto& [tid, count] : intervals_of(*recording)) {
    std::printf("%s\"%u\": %lu", separator, tid, count);
    separator = ", ";
  }
  std::puts("}}");
}
