// SPDX-License-Identifier: GPL-2.0-or-later
// answer_cases CASE: runs a small program with a known bottleneck until it is killed.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>
#include <unistd.h>

namespace {

void pause_us(long us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

/// About so long on a CPU of 3 GHz.
void compute_us(long us) {
  volatile double x = 1;
  for (long i = 0; i < us * 220; ++i) x = x * 1.0000001;
}

using Work = std::function<void(int)>;

[[noreturn]] void run_threads(const std::vector<std::string>& names, const Work& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    threads.emplace_back([&, i] {
      prctl(PR_SET_NAME, names[static_cast<std::size_t>(i)].c_str());
      for (;;) work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(1);
}

std::vector<std::string> alike(int count) {
  return std::vector<std::string>(static_cast<std::size_t>(count), "worker");
}

std::mutex registry_lock;

/// One lock, held across a call that takes 1.5 ms.
void hold_lock(int /*thread*/) {
  {
    const std::lock_guard<std::mutex> hold(registry_lock);
    pause_us(1500);
  }
  pause_us(200);
}

/// A monitor: each thread parks on a condition of its own.
class Monitor {
 public:
  void enter() {
    std::unique_lock<std::mutex> guard(guard_);
    if (!taken_) {
      taken_ = true;
      return;
    }
    std::condition_variable mine;
    queue_.push_back(&mine);
    mine.wait(guard, [&] { return !taken_ && queue_.front() == &mine; });
    queue_.pop_front();
    taken_ = true;
  }
  void leave() {
    const std::lock_guard<std::mutex> guard(guard_);
    taken_ = false;
    if (!queue_.empty()) queue_.front()->notify_one();
  }

 private:
  std::mutex guard_;
  bool taken_ = false;
  std::deque<std::condition_variable*> queue_;
};

void use_monitor(int /*thread*/) {
  static Monitor monitor;
  monitor.enter();
  pause_us(700);
  monitor.leave();
  pause_us(150);
}

/// A pool of one thread, which asks a slow service for one thing at a time.
class Pool {
 public:
  struct Job {
    std::mutex mutex;
    std::condition_variable done;
    bool ready = false;
  };
  [[noreturn]] void serve() {
    for (;;) {
      Job* job = nullptr;
      {
        std::unique_lock<std::mutex> guard(mutex_);
        filled_.wait(guard, [this] { return !jobs_.empty(); });
        job = jobs_.front();
        jobs_.pop_front();
      }
      pause_us(1500);
      const std::lock_guard<std::mutex> guard(job->mutex);
      job->ready = true;
      job->done.notify_one();
    }
  }
  void ask() {
    Job job;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      jobs_.push_back(&job);
    }
    filled_.notify_one();
    std::unique_lock<std::mutex> guard(job.mutex);
    job.done.wait(guard, [&job] { return job.ready; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Job*> jobs_;
};

[[noreturn]] void one_helper() {
  static Pool pool;
  std::thread([] {
    prctl(PR_SET_NAME, "helper");
    pool.serve();
  }).detach();
  run_threads(alike(8), [](int /*thread*/) {
    pool.ask();
    compute_us(50);
  });
}

/// CPU work, then two short-lived threads that compute, in turns.
[[noreturn]] void chain() {
  for (;;) {
    compute_us(30'000);
    std::thread one([] { compute_us(8000); });
    std::thread two([] { compute_us(8000); });
    one.join();
    two.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> cases = {
      {"lock", [] { run_threads(alike(10), hold_lock); }},
      {"names",
       [] {
         run_threads(
             {"mutation", "read-stage", "gossip", "native-io", "compaction", "hints", "repair", "loader"},
             hold_lock);
       }},
      {"monitor", [] { run_threads(alike(8), use_monitor); }},
      {"helper", one_helper},
      {"room",
       [] {
         run_threads(alike(8), [](int /*thread*/) {
           pause_us(3000);
           compute_us(500);
         });
       }},
      {"chain", chain}};
  const auto found = argc == 2 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    std::fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 2;
  }
  found->second();
}
