// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that are blocked before "ready" and never woken: on a mutex, a condition variable, a pipe, a poll,
// a sleep.
#include <array>
#include <atomic>
#include <ctime>
#include <fstream>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

/// Starts a thread that blocks forever in `blocking_call`, and returns when it sleeps. The process ends with
/// _exit, which does not wait for it.
template <class BlockingCall>
pid_t start_blocked(const char* name, BlockingCall blocking_call) {
  std::atomic<pid_t> tid{0};
  std::thread([&tid, name, blocking_call] {
    pthread_setname_np(pthread_self(), name);
    tid = current_tid();
    blocking_call();
  }).detach();
  while (tid == 0) std::this_thread::yield();
  // "TID (NAME) STATE": the names here have no parentheses.
  for (std::string id, comm, state; state != "S";) {
    std::ifstream("/proc/self/task/" + std::to_string(tid) + "/stat") >> id >> comm >> state;
  }
  return tid;
}

}  // namespace

void blocked_throughout(Options& options) {
  static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  std::array<int, 2> ends{};
  checked(pipe(ends.data()), "pipe");
  const int fd = ends[0];
  pthread_mutex_lock(&held);

  struct Blocked {
    const char* name;
    const char* wait_class;
    pid_t tid;
  };
  const std::array<Blocked, 5> blocked{{
      {"on_mutex", "futex", start_blocked("on_mutex", [] { pthread_mutex_lock(&held); })},
      {"on_condvar", "futex",
       start_blocked("on_condvar",
                     [] {
                       pthread_mutex_lock(&mutex);
                       pthread_cond_wait(&condition, &mutex);
                     })},
      {"on_read", "pipe",
       start_blocked("on_read",
                     [fd] {
                       char c = 0;
                       if (read(fd, &c, 1) != 1) fail("read");
                     })},
      {"on_poll", "poll",
       start_blocked("on_poll",
                     [fd] {
                       pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
                       poll(&readable, 1, -1);
                     })},
      {"on_sleep", "sleep",
       start_blocked("on_sleep",
                     [] {
                       const timespec hours{.tv_sec = 36000, .tv_nsec = 0};
                       clock_nanosleep(CLOCK_MONOTONIC, 0, &hours, nullptr);
                     })},
  }};
  ready(options);
  for (const Blocked& thread : blocked) {
    print_truth("blocked", {{"tid", thread.tid},
                            {"name", thread.name},
                            {"class", thread.wait_class},
                            {"mutex_owner", std::string(thread.name) == "on_mutex" ? getpid() : 0}});
  }
}

}  // namespace workload
