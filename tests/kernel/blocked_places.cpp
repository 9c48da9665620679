// SPDX-License-Identifier: GPL-2.0-or-later
// blocked_places [FILE | deadlock]: starts threads that block forever, each in a place whose stack is hard to
// walk without frame pointers; this file is compiled without them. FILE is a file whose fsync takes long: one
// more thread blocks in that. With `deadlock`, two threads wait for each other's mutex, and a third one waits
// for one of the two.
//
// Prints its pid, begins when it reads a line on stdin, prints a line `NAME TID` for each thread and then
// `blocked`, and exits at the next line.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <alloca.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::array<int, 2> never_written{};
pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

/// Written after a call, so that the compiler cannot turn the call into a tail call, which has no frame.
volatile int after_the_call = 0;

[[gnu::noinline]] void block() {
  char byte = 0;
  if (read(never_written[0], &byte, 1) != 1) std::_Exit(1);
  after_the_call = after_the_call + 1;
}

[[gnu::noinline]] void in_mutex() {
  pthread_mutex_lock(&held);
  after_the_call = after_the_call + 1;
}

[[gnu::noinline]] void in_condition() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
  after_the_call = after_the_call + 1;
}

[[gnu::noinline]] void in_nanosleep() {
  const timespec hours{.tv_sec = 36000, .tv_nsec = 0};
  nanosleep(&hours, nullptr);
  after_the_call = after_the_call + 1;
}

int slow_file = -1;
/// Calls fsync again and again, always from the same instruction, on a file whose fsync takes long.
[[gnu::noinline]] void in_fsync() {
  for (;;) {
    if (fsync(slow_file) != 0) std::_Exit(1);
    after_the_call = after_the_call + 1;
  }
}

[[gnu::noinline]] void in_poll() {
  pollfd readable{.fd = never_written[0], .events = POLLIN, .revents = 0};
  poll(&readable, 1, -1);
  after_the_call = after_the_call + 1;
}

// NOLINTNEXTLINE(misc-no-recursion)
[[gnu::noinline]] int in_recursion(int depth) {
  if (depth == 0) {
    block();
    return 1;
  }
  const int below = in_recursion(depth - 1);
  after_the_call = after_the_call + below;
  return below + 1;
}
void in_shallow_recursion() { in_recursion(100); }
void in_deep_recursion() { in_recursion(1000); }

void handler(int) { block(); }
[[gnu::noinline]] void in_signal_handler() {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  after_the_call = after_the_call + 1;
}

/// Blocks in a signal handler on an alternate stack. The signal may interrupt any instruction of this
/// function.
[[gnu::noinline]] void in_handler_on_its_stack() {
  constexpr std::size_t kSize = std::size_t{256} << 10U;
  stack_t stack{};
  stack.ss_sp = std::malloc(kSize);
  stack.ss_size = kSize;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer{};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 20'000'000}};
  timer_settime(timer, 0, &soon, nullptr);
  for (;;) after_the_call = after_the_call + 1;
}

int compare(const void* left, const void* right) {
  block();
  return std::memcmp(left, right, 1);
}
[[gnu::noinline]] void in_qsort() {
  std::array<char, 3> letters = {'c', 'a', 'b'};
  std::qsort(letters.data(), letters.size(), 1, compare);
  after_the_call = after_the_call + letters[0];
}

[[gnu::noinline]] void in_alloca() {
  auto* const room = static_cast<volatile char*>(alloca(static_cast<std::size_t>(getpid() % 100) + 5000));
  room[0] = 1;
  block();
  after_the_call = after_the_call + room[0];
}

/// Blocks in a frame that is aligned as code with AVX-512 needs it: its distance from the caller's frame is
/// known at run time only.
[[gnu::noinline]] void in_aligned_frame() {
  alignas(64) std::array<volatile char, 64> vector{};
  auto* const room = static_cast<volatile char*>(alloca(static_cast<std::size_t>(getpid() % 100) + 50));
  room[0] = vector[0];
  block();
  after_the_call = after_the_call + room[0] + vector[1];
}

[[gnu::noinline]] void in_large_frame() {
  std::array<volatile char, 300'000> room;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  room[0] = 1;
  block();
  after_the_call = after_the_call + room[0];
}

struct Place {
  const char* name;
  void (*block)();
};
constexpr std::array<Place, 13> kPlaces{{{"mutex", in_mutex},
                                         {"condition", in_condition},
                                         {"read", block},
                                         {"poll", in_poll},
                                         {"nanosleep", in_nanosleep},
                                         {"recursion", in_shallow_recursion},
                                         {"deep", in_deep_recursion},
                                         {"handler", in_signal_handler},
                                         {"altstack", in_handler_on_its_stack},
                                         {"qsort", in_qsort},
                                         {"alloca", in_alloca},
                                         {"aligned", in_aligned_frame},
                                         {"large", in_large_frame}}};

pthread_mutex_t first_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t second_mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<int> holding{0};

[[gnu::noinline]] void lock_both(pthread_mutex_t* mine, pthread_mutex_t* other) {
  pthread_mutex_lock(mine);
  ++holding;
  while (holding < 2) std::this_thread::yield();
  pthread_mutex_lock(other);
  after_the_call = after_the_call + 1;
}
void first() { lock_both(&first_mutex, &second_mutex); }
void second() { lock_both(&second_mutex, &first_mutex); }
void third() {
  while (holding < 2) std::this_thread::yield();
  pthread_mutex_lock(&first_mutex);
  after_the_call = after_the_call + 1;
}
constexpr std::array<Place, 3> kDeadlock{{{"first", first}, {"second", second}, {"third", third}}};

constexpr std::array<Place, 1> kFsync{{{"fsync", in_fsync}}};

bool sleeps(pid_t tid) {
  // "TID (NAME) STATE": the names here have no parentheses.
  std::string id, name, state;
  std::ifstream("/proc/self/task/" + std::to_string(tid) + "/stat") >> id >> name >> state;
  return state == "S" || state == "D";
}

template <class Places>
void start(const Places& places) {
  std::vector<pid_t> tids;
  for (const Place& place : places) {
    std::atomic<pid_t> tid{0};
    std::thread([&tid, place] {
      pthread_setname_np(pthread_self(), place.name);
      tid = static_cast<pid_t>(syscall(SYS_gettid));
      place.block();
    }).detach();
    while (tid == 0) std::this_thread::yield();
    std::printf("%s %d\n", place.name, tid.load());
    tids.push_back(tid);
  }
  for (const pid_t tid : tids) {
    while (!sleeps(tid)) std::this_thread::yield();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (pipe(never_written.data()) != 0) return 1;
  pthread_mutex_lock(&held);
  std::printf("%d\n", getpid());
  std::fflush(stdout);
  std::getchar();
  if (argc > 1 && std::strcmp(argv[1], "deadlock") == 0) {
    start(kDeadlock);
  } else {
    start(kPlaces);
    if (argc > 1) {
      slow_file = open(argv[1], O_RDWR);
      start(kFsync);
    }
  }
  std::puts("blocked");
  std::fflush(stdout);
  std::getchar();
  std::_Exit(0);
}
