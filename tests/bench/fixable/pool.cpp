// SPDX-License-Identifier: GPL-2.0-or-later
// Eight threads hand requests to a pool of so many threads and wait for the answer, which takes a sleep of 2
// ms. Prints how many were answered a second.
//
//   pool THREADS SECONDS
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

namespace {

constexpr int kCallers = 8;
constexpr int kRounds = 20'000;  // some 50 us

struct Request {
  std::mutex mutex;
  std::condition_variable answered;
  bool is_answered = false;
};

std::mutex queue_mutex;
std::condition_variable queue_filled;
std::deque<Request*> queue;
std::atomic<long> done = 0;

__attribute__((noinline)) void ask_service() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

Request& next_request() {
  std::unique_lock<std::mutex> lock(queue_mutex);
  queue_filled.wait(lock, [] { return !queue.empty(); });
  Request& request = *queue.front();
  queue.pop_front();
  return request;
}

void serve() {
  for (;;) {
    Request& request = next_request();
    ask_service();
    const std::lock_guard<std::mutex> lock(request.mutex);
    request.is_answered = true;
    request.answered.notify_one();
  }
}

void call() {
  Request request;
  {
    const std::lock_guard<std::mutex> lock(queue_mutex);
    queue.push_back(&request);
  }
  queue_filled.notify_one();
  std::unique_lock<std::mutex> lock(request.mutex);
  request.answered.wait(lock, [&request] { return request.is_answered; });
}

void keep_calling() {
  for (;;) {
    call();
    volatile double value = 1;
    for (int i = 0; i < kRounds; ++i) value = value * 1.0000001;
    ++done;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("pool THREADS SECONDS\n", stderr);
    return 2;
  }
  const long threads = std::strtol(argv[1], nullptr, 10);
  const long seconds = std::strtol(argv[2], nullptr, 10);
  for (long i = 0; i < threads; ++i) std::thread(serve).detach();
  for (int i = 0; i < kCallers; ++i) std::thread(keep_calling).detach();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  std::printf("rate %.1f\n", static_cast<double>(done) / static_cast<double>(seconds));
  std::fflush(stdout);
  std::_Exit(0);
}
