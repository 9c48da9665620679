// SPDX-License-Identifier: GPL-2.0-or-later
// profiles PROGRAM DIRECTORY [FUNCTION]: small programs whose most critical code is known (README.md). Files
// go to the directory. Those of Figure 1 take half of the time in FUNCTION, and print how long they took and,
// for each function, what they would have gained if it took half of its time.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// How many times loop() goes round in a microsecond.
double per_us = 0;

__attribute__((noinline)) void loop(std::int64_t rounds) {
  volatile std::int64_t x = 5;
  for (std::int64_t i = 0; i < rounds; ++i) x = x + i;
}

/// The work of a function: a loop of its own, so that samples are in that function.
__attribute__((always_inline)) inline void work(double us) {
  volatile std::int64_t x = 5;
  const auto rounds = static_cast<std::int64_t>(us * per_us);
  for (std::int64_t i = 0; i < rounds; ++i) x = x + i;
}

/// The CPU time of this thread in microseconds.
double cpu_us() {
  timespec time{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// A hypervisor that takes the CPU away counts as CPU time: the fastest of a few runs is the true speed.
void calibrate() {
  constexpr std::int64_t kRounds = 4'000'000;
  for (int i = 0; i < 5; ++i) {
    const double begin = cpu_us();
    loop(kRounds);
    per_us = std::max(per_us, static_cast<double>(kRounds) / (cpu_us() - begin));
  }
}

void fail(const std::string& what) {
  std::perror(what.c_str());
  std::exit(77);
}

template <class Function>
void in_threads(int count, Function function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(function, i);
  for (std::thread& thread : threads) thread.join();
}

// Twelve threads take one lock, and sleep while they hold it.

std::mutex first_lock;
std::mutex second_lock;

__attribute__((noinline)) void mutex_work(int /*id*/) {
  const std::lock_guard<std::mutex> guard(first_lock);
  std::this_thread::sleep_for(milliseconds(100));
}

// One lock, three functions that take it, the first of which works for far longer.

namespace one_lock {

__attribute__((noinline)) void big_work() {
  const std::lock_guard<std::mutex> guard(first_lock);
  work(20'000);
}
__attribute__((noinline)) void medium_work() {
  const std::lock_guard<std::mutex> guard(first_lock);
  work(100);
}
__attribute__((noinline)) void small_work() {
  const std::lock_guard<std::mutex> guard(first_lock);
  work(20);
}
void random_work(int id) {
  auto seed = static_cast<unsigned>(id);
  for (int i = 0; i < 24; ++i) {
    const int kind = rand_r(&seed) % 100;
    kind < 33 ? small_work() : kind < 66 ? medium_work() : big_work();
  }
}

}  // namespace one_lock

// The big and the medium work share one lock, the medium and the small work another one.

namespace two_locks {

__attribute__((noinline)) void big_work() {
  const std::lock_guard<std::mutex> guard(first_lock);
  work(20'000);
}
__attribute__((noinline)) void medium_work() {
  const std::lock_guard<std::mutex> second(second_lock);
  const std::lock_guard<std::mutex> first(first_lock);
  work(2'000);
}
__attribute__((noinline)) void small_work() {
  const std::lock_guard<std::mutex> guard(second_lock);
  work(20);
}
void random_work(int id) {
  auto seed = static_cast<unsigned>(id);
  for (int i = 0; i < 24; ++i) {
    const int kind = rand_r(&seed) % 100;
    kind < 33 ? small_work() : kind < 66 ? medium_work() : big_work();
  }
}

}  // namespace two_locks

// Eight threads read or write large files at once.

constexpr std::size_t kMegabyte = 1 << 20;
std::string directory;

std::string file_name(int id) { return directory + "/" + std::to_string(id) + ".txt"; }

/// Files that are not in the page cache.
void make_files(int count, std::size_t megabytes) {
  const std::vector<char> data(kMegabyte, 'x');
  for (int i = 0; i < count; ++i) {
    const int fd = ::open(file_name(i).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) fail(file_name(i));
    for (std::size_t written = 0; written < megabytes; ++written) {
      if (::write(fd, data.data(), data.size()) != static_cast<ssize_t>(data.size())) fail("write");
    }
    if (::fsync(fd) != 0) fail("fsync");
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

namespace reading {

constexpr std::size_t kFileMegabytes = 32;
__attribute__((noinline)) void big_work(int id) {
  std::ifstream file(file_name(id % 4));
  constexpr std::size_t kBytes = kFileMegabytes * kMegabyte;
  const std::unique_ptr<char[]> buffer(new char[kBytes]);
  file.read(buffer.get(), kBytes);
}

}  // namespace reading

namespace writing {

/// The file of each thread is larger than that of the one before. Closing alone would leave it in the page
/// cache. It is written several times: with a fast disk, threads that start and end would wait longer for the
/// lock of their address space than for one write.
__attribute__((noinline)) void big_work(int id) {
  const std::vector<char> buffer(static_cast<std::size_t>(4 * id) * kMegabyte, 'x');
  for (int written = 0; written < 8; ++written) {
    std::ofstream file(file_name(id));
    file.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    file.close();
    const int fd = ::open(file_name(id).c_str(), O_RDWR | O_CLOEXEC);
    if (::fdatasync(fd) != 0) fail("fdatasync");
    ::close(fd);
  }
}

}  // namespace writing

// Figure 1 of blocked samples: one thread computes a little, writes and reads; another one computes. They
// meet at a barrier.

class Barrier {
 public:
  void meet() {
    std::unique_lock<std::mutex> guard(mutex_);
    const unsigned round = round_;
    if (++here_ == 2) {
      here_ = 0;
      ++round_;
      all_.notify_all();
    } else {
      all_.wait(guard, [&] { return round_ != round; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  unsigned round_ = 0;
  int here_ = 0;
};

/// A function that takes half of its time.
std::string faster;

double time_of(const char* function, double us) { return faster == function ? us / 2 : us; }

__attribute__((noinline)) void compute_light() { work(time_of("compute_light", 300)); }
__attribute__((noinline)) void compute_heavy(double us) { work(time_of("compute_heavy", us)); }

constexpr int kBlock = 4096;

/// Reads from the disk until so much time has passed.
__attribute__((noinline)) void read_for(int fd, void* block, double us) {
  const Clock::time_point end =
      Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(time_of("read_for", us)));
  for (off_t at = 0; Clock::now() < end; at = (at + kBlock) % (kBlock * 64)) {
    if (::pread(fd, block, kBlock, at) != kBlock) fail("pread");
  }
}

using Seconds = std::chrono::duration<double>;

/// How long the functions of one round took: compute_heavy is called by one thread, the others by the other
/// one.
struct Round {
  Seconds heavy{}, light{}, write{}, read{};
  Seconds whole() const { return std::max(heavy, light + write + read); }
};

/// Measured, because a slow disk or busy CPUs change which thread is last.
void print_gain(const char* function, const std::vector<Round>& rounds, Seconds Round::*time) {
  Seconds now{}, then{};
  for (Round round : rounds) {
    now += round.whole();
    round.*time /= 2;
    then += round.whole();
  }
  (void)std::printf("%s %f\n", function, now / then - 1);
}

void figure1(double reads_us, double heavy_us) {
  const int fd = ::open(file_name(0).c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
  void* const block = std::aligned_alloc(kBlock, kBlock);
  if (fd < 0 || block == nullptr) fail("O_DIRECT");
  std::memset(block, 1, kBlock);
  Barrier barrier;
  constexpr int kRounds = 160;
  std::vector<Round> rounds(kRounds);
  const auto timed = [](Seconds& took, const auto& work) {
    const Clock::time_point begin = Clock::now();
    work();
    took = Clock::now() - begin;
  };
  Seconds took{};
  timed(took, [&] {
    std::thread other([&] {
      for (Round& round : rounds) {
        timed(round.heavy, [&] { compute_heavy(heavy_us); });
        barrier.meet();
      }
    });
    for (Round& round : rounds) {
      timed(round.light, [] { compute_light(); });
      timed(round.write, [&] {
        if (::pwrite(fd, block, kBlock, 0) != kBlock) fail("pwrite");
      });
      timed(round.read, [&] { read_for(fd, block, reads_us); });
      barrier.meet();
    }
    other.join();
  });
  (void)std::printf("%f\n", took.count());
  print_gain("compute_heavy", rounds, &Round::heavy);
  print_gain("compute_light", rounds, &Round::light);
  print_gain("read_for", rounds, &Round::read);
}

void spin_alone_and_together() {
  in_threads(2, [](int id) {
    while (cpu_us() < (id == 0 ? 1e6 : 1e5)) loop(10'000);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> programs = {
      {"mutex", [] { in_threads(12, mutex_work); }},
      {"multi_mutex", [] { in_threads(8, one_lock::random_work); }},
      {"multi_locks", [] { in_threads(8, two_locks::random_work); }},
      {"make_files", [] { make_files(4, reading::kFileMegabytes); }},
      {"main_read", [] { in_threads(8, reading::big_work); }},
      {"main_write", [] { in_threads(8, writing::big_work); }},
      {"figure1_case1", [] { figure1(3'000, 12'000); }},
      {"figure1_case2", [] { figure1(12'000, 3'000); }},
      {"alone", spin_alone_and_together},
  };
  const auto program = argc == 3 || argc == 4 ? programs.find(argv[1]) : programs.end();
  if (program == programs.end()) {
    (void)std::fputs("profiles PROGRAM DIRECTORY [FUNCTION]\n", stderr);
    return 2;
  }
  directory = argv[2];
  if (argc == 4) faster = argv[3];
  if (program->first != "alone") calibrate();
  program->second();
  return 0;
}
