// SPDX-License-Identifier: GPL-2.0-or-later
// Locks at known addresses, each taken in turns by two threads that sleep while they have it: a thread that
// waits for a lock waits for the other thread of the pair. Speaks the protocol of tests/kernel/recording.py:
// {"pid":N}, then on a line of input one {"lock":NAME,"address":A,"tids":[N,N],"tgids":[N,N]} for each lock,
// then {"done":true}.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

pthread_mutex_t planted_static_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t planted_rwlock = PTHREAD_RWLOCK_INITIALIZER;
sem_t planted_semaphore;
std::mutex planted_std_mutex;
std::timed_mutex planted_timed_mutex;
std::recursive_mutex planted_recursive_mutex;
std::shared_mutex planted_shared_mutex;
mtx_t planted_c11_mutex;
pthread_barrier_t planted_barrier;

namespace {

constexpr int kRounds = 100;
constexpr std::size_t kLocksOnHeap = 16;

std::int32_t own_tid() { return static_cast<std::int32_t>(::syscall(SYS_gettid)); }

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

void tell(const std::string& name, const void* address, std::array<std::int32_t, 2> tids,
          std::array<std::int32_t, 2> tgids) {
  std::printf("{\"lock\":\"%s\",\"address\":%llu,\"tids\":[%d,%d],\"tgids\":[%d,%d]}\n", name.c_str(),
              static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)), tids[0], tids[1],
              tgids[0], tgids[1]);
}

/// Two threads that take the lock in turns, and say who they are.
template <class Lock, class Unlock>
void contend(const std::string& name, const void* address, Lock lock, Unlock unlock) {
  std::array<std::int32_t, 2> tids{};
  std::vector<std::thread> pair;
  std::atomic<int> ready = 0;
  for (std::int32_t& tid : tids) {
    pair.emplace_back([&] {
      tid = own_tid();
      for (++ready; ready < 2;) sleep_us(50);
      for (int round = 0; round < kRounds; ++round) {
        lock();
        sleep_us(200);
        unlock();
      }
    });
  }
  for (std::thread& one : pair) one.join();
  tell(name, address, tids, {getpid(), getpid()});
}

void contend(const std::string& name, pthread_mutex_t& mutex) {
  contend(
      name, &mutex, [&] { pthread_mutex_lock(&mutex); }, [&] { pthread_mutex_unlock(&mutex); });
}

/// Locks of every kind, by the names of their variables.
void contend_for_each_kind() {
  contend(
      "planted_rwlock", &planted_rwlock, [] { pthread_rwlock_wrlock(&planted_rwlock); },
      [] { pthread_rwlock_unlock(&planted_rwlock); });
  sem_init(&planted_semaphore, 0, 1);
  contend(
      "planted_semaphore", &planted_semaphore, [] { sem_wait(&planted_semaphore); },
      [] { sem_post(&planted_semaphore); });
  const auto of_cpp = [](const char* name, auto& lock) {
    contend(
        name, &lock, [&] { lock.lock(); }, [&] { lock.unlock(); });
  };
  of_cpp("planted_std_mutex", planted_std_mutex);
  of_cpp("planted_recursive_mutex", planted_recursive_mutex);
  of_cpp("planted_shared_mutex", planted_shared_mutex);
  contend(
      "planted_timed_mutex", &planted_timed_mutex,
      [] { (void)planted_timed_mutex.try_lock_for(std::chrono::seconds(10)); },
      [] { planted_timed_mutex.unlock(); });
  mtx_init(&planted_c11_mutex, mtx_plain);
  contend(
      "planted_c11_mutex", &planted_c11_mutex, [] { mtx_lock(&planted_c11_mutex); },
      [] { mtx_unlock(&planted_c11_mutex); });
  pthread_barrier_init(&planted_barrier, nullptr, 2);
  contend(
      "planted_barrier", &planted_barrier, [] { pthread_barrier_wait(&planted_barrier); }, [] {});
}

/// A lock of one word without an owner beside it (0 free, 1 taken, 2 taken and waited for).
class WordLock {
 public:
  void lock() {
    std::uint32_t found = 0;
    if (word_.compare_exchange_strong(found, 1)) return;
    while (word_.exchange(2) != 0) ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
  }
  void unlock() {
    if (word_.exchange(0) == 2) ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  std::atomic<std::uint32_t> word_ = 0;
};

void contend_words() {
  static std::array<WordLock, 2> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    contend(
        "word " + std::to_string(i), &words[i], [i] { words[i].lock(); }, [i] { words[i].unlock(); });
  }
}

/// A mutex in memory that two processes share, at different addresses.
void contend_in_shared_memory() {
  constexpr std::size_t kSize = 8192;
  constexpr std::size_t kOffset = 4096 + 64;
  const int memory = ::memfd_create("planted", 0);
  if (memory < 0 || ::ftruncate(memory, kSize) != 0) return;
  const auto map = [&] {
    return static_cast<char*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
  };
  char* const here = map();
  auto* const mutex = reinterpret_cast<pthread_mutex_t*>(here + kOffset);
  pthread_mutexattr_t shared;
  pthread_mutexattr_init(&shared);
  pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &shared);
  const auto rounds = [](pthread_mutex_t& lock) {
    for (int round = 0; round < kRounds; ++round) {
      pthread_mutex_lock(&lock);
      sleep_us(200);
      pthread_mutex_unlock(&lock);
    }
  };
  const pid_t child = ::fork();
  if (child == 0) {
    // Long enough for a recorder to see the mapping, which has no place of its own in the parent.
    rounds(*reinterpret_cast<pthread_mutex_t*>(map() + kOffset));
    ::sleep(2);
    ::_exit(0);
  }
  rounds(*mutex);
  ::waitpid(child, nullptr, 0);
  tell("shared", reinterpret_cast<const void*>(kOffset), {getpid(), child}, {getpid(), child});
}

/// Waits on one condition variable, whose two words are waited on in turns: the second thread for the first,
/// which is slow.
void wait_for_condition() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static int turn = 0;
  std::array<std::int32_t, 2> tids{};
  std::vector<std::thread> pair;
  for (int self = 0; self < 2; ++self) {
    pair.emplace_back([&, self] {
      tids[static_cast<std::size_t>(self)] = own_tid();
      for (int round = 0; round < kRounds; ++round) {
        pthread_mutex_lock(&mutex);
        while (turn % 2 != self) pthread_cond_wait(&condition, &mutex);
        ++turn;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
        if (self == 0) sleep_us(300);
      }
    });
  }
  for (std::thread& one : pair) one.join();
  tell("condition", &condition, tids, {getpid(), getpid()});
}

/// Threads that map and unmap at once need the lock of their address space for writing.
void contend_for_address_space() {
  constexpr std::size_t kSize = std::size_t{16} << 20;
  std::array<std::int32_t, 2> tids{};
  std::vector<std::thread> pair;
  for (std::int32_t& tid : tids) {
    pair.emplace_back([&tid] {
      tid = own_tid();
      for (int round = 0; round < 4 * kRounds; ++round) {
        void* const memory =
            ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        ::munmap(memory, kSize);
      }
    });
  }
  for (std::thread& one : pair) one.join();
  tell("mmap_lock", nullptr, tids, {getpid(), getpid()});
}

}  // namespace

int main() {
  std::printf("{\"pid\":%d}\n", getpid());
  std::fflush(stdout);
  if (std::getchar() == EOF) return 1;
  contend("static", planted_static_lock);
  const auto heap = std::make_unique<std::array<pthread_mutex_t, kLocksOnHeap>>();
  for (std::size_t i = 0; i < kLocksOnHeap; ++i) {
    pthread_mutex_init(&(*heap)[i], nullptr);
    contend("heap " + std::to_string(i), (*heap)[i]);
  }
  contend_for_each_kind();
  contend_words();
  wait_for_condition();
  contend_in_shared_memory();
  contend_for_address_space();
  std::printf("{\"done\":true}\n");
  std::fflush(stdout);
  std::getchar();
  return 0;
}
