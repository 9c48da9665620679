// SPDX-License-Identifier: GPL-2.0-or-later
// record_pcs PID: records a process and prints the addresses of the user stacks of its threads that wait when
// the recording ends. Prints `recording`, ends at a line on stdin, and then prints a line for each such
// thread: TID, how the walk ended (enum offwait_stack_end), `begin` if it was blocked before the recording,
// else `switch`, and the addresses, leaf first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "capture/recorder.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  offwait::CaptureOptions options;
  options.tgids = {std::atoi(argv[1])};  // NOLINT(cert-err34-c)
  const auto before = std::chrono::steady_clock::now();
  offwait::Priority priority;
  auto recorder = offwait::Recorder::attach(options, priority);
  if (!recorder.ok()) {
    std::fprintf(stderr, "%s\n", recorder.error().message.c_str());
    return 1;
  }
  recorder->begin();
  const auto attach = std::chrono::steady_clock::now() - before;
  std::printf("recording %.1f ms\n", std::chrono::duration<double, std::milli>(attach).count());
  std::fflush(stdout);
  pollfd end{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (poll(&end, 1, 50) == 0) {
    if (!recorder->drain().ok()) return 1;
  }
  const auto recording = recorder->stop();
  if (!recording.ok()) return 1;
  for (const auto& [tid, thread] : recording->threads) {
    const auto blocked = recording->blocked.find({tid, 0});
    const bool at_begin = thread.since_ns == 0 && blocked != recording->blocked.end();
    if (!at_begin && thread.state != OFFWAIT_STATE_BLOCKED) continue;
    const auto stack = recording->stacks.find(at_begin ? blocked->second.wait_user : thread.wait_user);
    if (stack == recording->stacks.end()) continue;
    std::printf("%u %u %s", tid, stack->second.end, at_begin ? "begin" : "switch");
    for (unsigned i = 0; i < stack->second.frames; ++i) std::printf(" %llx", stack->second.pc[i]);
    std::printf("\n");
  }
}
