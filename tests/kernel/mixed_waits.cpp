// SPDX-License-Identifier: GPL-2.0-or-later
// mixed_waits: waits that begin alike and differ in length and stack. The main thread naps kShortNaps times
// in short_nap() and once in long_nap(), asks another thread for a quick answer and then for a slow one, and
// begins anew, until it is killed. A third thread waits in wait_for_ever() from the first second on.
// For each round it prints a line: when each of the main thread's calls began, in their order, and when the
// last one ended (CLOCK_MONOTONIC, ns).
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr int kShortNaps = 5;
constexpr int kCalls = kShortNaps + 3;
// In ns:
constexpr long kShort = 40'000;
constexpr long kLong = 300'000;
constexpr long kWork = 150'000;

/// Written after a call, so that the compiler cannot turn the call into a tail call, which has no frame.
volatile int after_the_call = 0;
std::array<int, 2> questions{};
std::array<int, 2> answers{};

void require(bool condition) {
  if (!condition) std::_Exit(1);
}

long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

[[gnu::noipa]] void nap(long ns) {
  const timespec time{.tv_sec = 0, .tv_nsec = ns};
  nanosleep(&time, nullptr);
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void short_nap() {
  nap(kShort);
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void long_nap() {
  nap(kLong);
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void ask(char question) {
  char answer = 0;
  require(write(questions[1], &question, 1) == 1 && read(answers[0], &answer, 1) == 1);
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void ask_quick() {
  ask('q');
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void ask_slow() {
  ask('s');
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void answer() {
  require(write(answers[1], "a", 1) == 1);
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void answer_quickly() {
  answer();
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void answer_slowly() {
  for (const long end = now_ns() + kWork; now_ns() < end;) {
  }
  answer();
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void wait_for_ever() {
  pause();
  after_the_call = after_the_call + 1;
}

/// The calls of a round.
class Round {
 public:
  void call(void (*function)()) {
    begins_.at(calls_++) = now_ns();
    function();
  }

  void print() {
    begins_.at(calls_) = now_ns();
    std::array<char, 24 * (kCalls + 1)> line{};
    char* at = line.data();
    for (const long begin : begins_) {
      at = std::to_chars(at, line.data() + line.size(), begin).ptr;
      *at++ = ' ';
    }
    at[-1] = '\n';
    require(write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(at - line.data())) ==
            at - line.data());
  }

 private:
  std::array<long, kCalls + 1> begins_{};
  std::size_t calls_ = 0;
};

}  // namespace

int main() {
  require(prctl(PR_SET_TIMERSLACK, 1) == 0 && pipe(questions.data()) == 0 && pipe(answers.data()) == 0);
  std::thread([] {
    char question = 0;
    while (read(questions[0], &question, 1) == 1) question == 'q' ? answer_quickly() : answer_slowly();
  }).detach();
  std::thread([] {
    for (int i = 0; i < 20; ++i) nap(kLong);  // past the waits whose stacks are taken for certain
    nap(700'000'000);
    wait_for_ever();
  }).detach();
  for (;;) {
    Round round;
    for (int i = 0; i < kShortNaps; ++i) round.call(short_nap);
    round.call(long_nap);
    round.call(ask_quick);
    round.call(ask_slow);
    round.print();
  }
}
