// SPDX-License-Identifier: GPL-2.0-or-later
// Processes that enter and leave a cgroup, and know when they waited in it and when outside.
//
//   cgroup_churn INSIDE OUTSIDE COUNT PER_SECOND
//
// The protocol is that of the workloads (tests/workloads/README.md). The truth is a line for each process:
//   {"tid":…,"entered":"by itself|by clone3|and was moved out","inside":[[begin_ns,end_ns],…],"outside":[…]}
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int kInside = 5;
constexpr int kOutside = 3;
constexpr long kSleepNs = 2'000'000;

enum Way { by_itself, by_clone3, moved_out, kWays };
constexpr const char* kNames[] = {"by itself", "by clone3", "and was moved out"};

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

void sleep_ns(long ns) {
  const timespec time{0, ns};
  ::nanosleep(&time, nullptr);
}

/// The voluntary context switches of the calling thread, as the kernel counts them.
long times_slept() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

struct Wait {
  std::int64_t begin;
  std::int64_t end;
};

/// What one process notes, in memory that it shares with its parent.
struct Life {
  pid_t pid;
  Way way;
  std::atomic<bool> wants_out;
  std::atomic<bool> is_out;
  int inside;
  int outside;
  Wait waits[kInside + kOutside];
};

[[noreturn]] void live(Life& life, int inside_procs) {
  life.pid = ::getpid();  // the parent might write it only after this process has tried to leave
  // A thread that is preempted on its way to sleep may find the time over, and then does not sleep.
  const auto note_sleep = [&life](int& count) {
    Wait& wait = life.waits[life.inside + life.outside];
    wait.begin = now();  // first: a sleep that is counted is one since then
    const long slept_before = times_slept();
    while (times_slept() == slept_before) sleep_ns(kSleepNs);
    wait.end = now();
    ++count;
  };
  if (life.way == by_itself && ::write(inside_procs, "0", 1) != 1) ::_exit(1);
  while (life.inside < kInside) note_sleep(life.inside);
  if (life.way == moved_out) {
    life.wants_out = true;
    while (!life.is_out) sleep_ns(kSleepNs);
    while (life.outside < kOutside) note_sleep(life.outside);
  }
  ::_exit(0);
}

int open_in(const std::string& directory, const char* name, int flags) {
  const int fd = ::open((directory + name).c_str(), flags | O_CLOEXEC);
  if (fd < 0) {
    std::perror(directory.c_str());
    std::exit(1);
  }
  return fd;
}

void print(const char* name, const Wait* waits, int count) {
  std::printf(",\"%s\":[", name);
  for (int i = 0; i < count; ++i)
    std::printf("%s[%" PRId64 ",%" PRId64 "]", i == 0 ? "" : ",", waits[i].begin, waits[i].end);
  std::printf("]");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int inside = open_in(argv[1], "", O_RDONLY | O_DIRECTORY);
  const int inside_procs = open_in(argv[1], "/cgroup.procs", O_WRONLY);
  const int outside_procs = open_in(argv[2], "/cgroup.procs", O_WRONLY);
  const auto count = static_cast<std::size_t>(std::atoi(argv[3]));
  const long apart_ns = 1'000'000'000L / std::atoi(argv[4]);
  void* const shared =
      ::mmap(nullptr, count * sizeof(Life), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto* const lives = static_cast<Life*>(shared);

  std::printf("{\"ready\":true,\"pid\":%d}\n", ::getpid());
  std::fflush(stdout);
  if (std::getchar() == EOF) return 1;

  std::atomic<bool> over = false;
  std::thread manager([&] {
    while (!over) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!lives[i].wants_out || lives[i].is_out) continue;
        const std::string pid = std::to_string(lives[i].pid);
        if (::write(outside_procs, pid.data(), pid.size()) < 0) {
          std::perror("moving out");
          std::exit(1);
        }
        lives[i].is_out = true;
      }
      sleep_ns(kSleepNs);
    }
  });
  const std::int64_t begin = now();
  for (std::size_t i = 0; i < count; ++i) {
    Life& life = lives[i];
    life.way = static_cast<Way>(i % kWays);
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    if (life.way != by_itself) {
      arguments.flags = CLONE_INTO_CGROUP;
      arguments.cgroup = static_cast<__u64>(inside);
    }
    const long pid = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
    if (pid < 0) {
      std::perror("clone3");
      return 77;
    }
    if (pid == 0) live(life, inside_procs);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::int64_t next = begin + static_cast<std::int64_t>(i + 1) * apart_ns - now();
    if (next > 0) sleep_ns(static_cast<long>(next));
  }
  std::fprintf(stderr, "%zu processes in %.2f s\n", count, static_cast<double>(now() - begin) / 1e9);
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
  over = true;
  manager.join();
  for (std::size_t i = 0; i < count; ++i) {
    const Life& life = lives[i];
    std::printf("{\"tid\":%d,\"entered\":\"%s\"", life.pid, kNames[life.way]);
    print("inside", life.waits, life.inside);
    print("outside", life.waits + life.inside, life.outside);
    std::printf("}\n");
  }
  std::printf("{\"done\":true}\n");
  std::fflush(stdout);
  std::getchar();
}
