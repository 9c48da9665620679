// SPDX-License-Identifier: GPL-2.0-or-later
// Two processes hand a message to each other through two pipes, on different CPUs or on one (--cpus same).
// The message is the writer's tid, so the reader knows who woke it.
#include <array>

#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

struct Pipe {
  Pipe() { checked(pipe(ends.data()), "pipe"); }
  std::array<int, 2> ends{};
};

void play(ThreadTruth& truth, const Pipe& from, const Pipe& to, bool first, std::int64_t rounds,
          Nanos work_ns) {
  const pid_t me = truth.tid();
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (round > 0 || !first) {
      truth.wait([&] {
        pid_t writer = 0;
        if (read(from.ends[0], &writer, sizeof(writer)) != sizeof(writer)) fail("read");
        return thread_waker(writer);
      });
    }
    if (work_ns > 0) spin_cpu(work_ns);
    if (write(to.ends[1], &me, sizeof(me)) != sizeof(me)) fail("write");
  }
}

}  // namespace

void pipe_ping_pong(Options& options) {
  const auto rounds = options.number("rounds", 300);
  const auto work_ns = options.number("work-us", 1500) * 1000;
  const bool same_cpu = options.text("cpus", "different") == "same";
  ready(options);

  const Pipe to_ping;
  const Pipe to_pong;
  for (const bool first : {true, false}) {
    if (checked(fork(), "fork") == 0) {
      pin_to_cpu(first || same_cpu ? 0 : 1);
      if (same_cpu) let_wakers_run_on();
      ThreadTruth truth(first ? "ping" : "pong");
      play(truth, first ? to_ping : to_pong, first ? to_pong : to_ping, first, rounds, work_ns);
      truth.end();
      truth.print();
      _exit(0);
    }
  }
  for (int status = 0; wait(&status) > 0;) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
}

}  // namespace workload
