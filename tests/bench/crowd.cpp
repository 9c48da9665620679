// SPDX-License-Identifier: GPL-2.0-or-later
// Loads that are large in one respect. Each prints `ready` when it is as large as it gets, and runs until it
// is killed.
//
//   crowd sleeping N   threads that each sleep for 100 ms at a time
//   crowd runnable N   threads that give up their CPU every 20 µs or so, and are always ready to run
//   crowd forking N    processes that each fork a child, wait for its end, and do so again
//   crowd mapped N     one thread that sleeps for 1 ms at a time, in a process with N executable mappings
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "crowd: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

void ready() {
  std::puts("ready");
  std::fflush(stdout);
}

std::atomic<int> begun{0};

/// Threads that run while others are still made would keep these from being made.
void await_begin() {
  while (begun.load() == 0) ::syscall(SYS_futex, &begun, FUTEX_WAIT_PRIVATE, 0, nullptr);
}

void* sleep_on(void*) {
  await_begin();
  for (;;) ::usleep(100'000);
}

void* give_way(void*) {
  await_begin();
  for (;;) {
    for (int round = 0; round < 50'000; ++round) asm volatile("");
    ::sched_yield();
  }
}

[[noreturn]] void crowd_of_threads(long count, void* (*body)(void*)) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, std::size_t{64} << 10);
  for (long i = 0; i < count; ++i) {
    pthread_t thread{};
    errno = ::pthread_create(&thread, &attributes, body, nullptr);
    if (errno != 0) fail("pthread_create");
  }
  ready();
  begun = 1;
  ::syscall(SYS_futex, &begun, FUTEX_WAKE_PRIVATE, count);
  for (;;) ::pause();
}

[[noreturn]] void fork_on() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child < 0 || ::waitpid(child, nullptr, 0) != child) fail("fork");
  }
}

[[noreturn]] void crowd_of_forks(long count) {
  for (long i = 0; i < count; ++i) {
    if (::fork() == 0) fork_on();
  }
  ready();
  for (;;) ::pause();
}

/// Mappings of one page each that the kernel cannot join: every other one may be written.
[[noreturn]] void crowd_of_mappings(long count) {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  for (long i = 0; i < count; ++i) {
    const int may = PROT_READ | PROT_EXEC | (i % 2 == 0 ? 0 : PROT_WRITE);
    if (::mmap(nullptr, 4096, may, MAP_PRIVATE, file, 0) == MAP_FAILED) fail("mmap");
  }
  ready();
  for (;;) ::usleep(1000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kind = argv[1];
  const long count = std::strtol(argv[2], nullptr, 10);
  if (kind == "sleeping") crowd_of_threads(count, sleep_on);
  if (kind == "runnable") crowd_of_threads(count, give_way);
  if (kind == "forking") crowd_of_forks(count);
  if (kind == "mapped") crowd_of_mappings(count);
  return 2;
}
