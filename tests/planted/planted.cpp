// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a plan: threads that repeat the same operations, with queues, locks, barriers, a disk and sleeps
// between them, in one process or several (README.md describes plans).
//
//   planted --directory DIR [--names FILE] [--seconds S] [--speed PIECE=FACTOR]... [--cpu-speed
//   PIECE=FACTOR]...
//           [--disk-speed PIECE=FACTOR]... < PLAN
//
// With --seconds it prints how often per second `count` was reached in the last S seconds of S + kWarmUp.
// Without, it prints "ready" once all threads run, and runs until it is killed, or until the end that the
// plan has. A plan with an end prints nothing. FILE gets a line for each thread when it begins:
// "inside|outside PID TID NAME".
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "die.h"
#include "plan.h"

namespace {

constexpr double kWarmUp = 0.2;

struct Arguments {
  std::string directory;
  std::string names;
  Speeds speeds;
  double seconds = 0;
};

void add_speed(std::map<std::string, double>& speeds, const std::string& value) {
  const std::size_t equals = value.find('=');
  const double speed = equals == std::string::npos ? 0 : std::strtod(value.c_str() + equals + 1, nullptr);
  if (!(speed > 0)) die("no speed: " + value);
  speeds[value.substr(0, equals)] = speed;
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--directory") {
      arguments.directory = value;
    } else if (words[i] == "--names") {
      arguments.names = value;
    } else if (words[i] == "--seconds") {
      arguments.seconds = std::strtod(value.c_str(), nullptr);
    } else if (words[i] == "--speed") {
      add_speed(arguments.speeds.whole, value);
    } else if (words[i] == "--cpu-speed") {
      add_speed(arguments.speeds.cpu, value);
    } else if (words[i] == "--disk-speed") {
      add_speed(arguments.speeds.disk, value);
    } else {
      die("unknown: " + words[i] + " " + value);
    }
  }
  if (words.size() % 2 != 0 || arguments.directory.empty()) {
    die("usage: planted --directory DIR [--names FILE] [--seconds S] [--speed PIECE=FACTOR]... < PLAN");
  }
  return arguments;
}

Shared& make_shared_state() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die_of_errno("mmap");
  auto* shared = new (memory) Shared{};
  if (sem_init(&shared->finished, 1, 0) != 0) die_of_errno("sem_init");
  return *shared;
}

// Pins this process, and those that it creates, to the first CPUs of those that it may use.
void pin_to(int cpus) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) die_of_errno("sched_getaffinity");
  if (CPU_COUNT(&allowed) < cpus) die("fewer than " + std::to_string(cpus) + " CPUs");
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && cpus-- <= 0) CPU_CLR(cpu, &allowed);
  }
  if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) die_of_errno("sched_setaffinity");
}

// All threads of a plan. They are made before the first process, and each runs in its own.
class Program {
 public:
  Program(const Plan& plan, const Arguments& arguments, Shared& shared) : plan_(plan), shared_(shared) {
    if (!arguments.names.empty()) {
      names_ = open(arguments.names.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
      if (names_ < 0) die_of_errno(arguments.names);
    }
    for (std::size_t process = 0; process < plan.processes().size(); ++process) {
      for (int copy = 0; copy < plan.processes()[process].copies; ++copy)
        add_process(process, arguments.directory);
    }
  }

  // Returns when all threads run.
  void start() {
    for (const Members& members : processes_) {
      if (&members != &processes_.front()) start_process(members);
    }
    for (Member* member : processes_.front()) start_thread(*member);
    while (shared_.started.load() < static_cast<int>(members_.size())) sleep_ns(kNsPerMs);
  }

  void end_children() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }

 private:
  struct Member {
    const Stage* stage;
    Hands hands;
  };
  using Members = std::vector<Member*>;

  void add_process(std::size_t process, const std::string& directory) {
    Members& members = processes_.emplace_back();
    for (const Stage& stage : plan_.stages()) {
      if (stage.process != process) continue;
      for (int i = 0; i < stage.threads; ++i) {
        Member& member = members_.emplace_back();
        members.push_back(&member);
        member.stage = &stage;
        member.hands.random.seed(static_cast<unsigned>(members_.size()));
        if (stage.uses_file) member.hands.file = std::make_unique<DiskFile>(directory);
        for (Channel* channel : stage.calls) member.hands.callers.push_back(channel->caller());
      }
    }
  }

  // The first of its threads is the process's own, as in a worker that has no others.
  void start_process(const Members& members) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) die_of_errno("fork");
    if (child > 0) {
      children_.push_back(child);
      return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(1);
    for (std::size_t i = 1; i < members.size(); ++i) start_thread(*members[i]);
    if (!members.empty()) run(*members.front());
    std::_Exit(0);
  }

  void start_thread(Member& member) {
    std::thread([this, &member] { run(member); }).detach();
  }

  void run(Member& member) {
    const Stage& stage = *member.stage;
    pthread_setname_np(pthread_self(), stage.name.c_str());
    if (names_ >= 0) {
      const std::string where = plan_.processes()[stage.process].is_outside ? "outside " : "inside ";
      const std::string line =
          where + std::to_string(getpid()) + ' ' + std::to_string(gettid()) + ' ' + stage.name + '\n';
      if (write(names_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        die_of_errno("writing names");
    }
    shared_.started.fetch_add(1);
    for (;;) {
      for (const Operation& operation : stage.operations) operation(member.hands);
    }
  }

  const Plan& plan_;
  Shared& shared_;
  int names_ = -1;
  std::deque<Member> members_;
  std::vector<Members> processes_;
  std::vector<pid_t> children_;
};

double counted_per_second(const Shared& shared, double seconds) {
  sleep_ns(static_cast<std::int64_t>(kWarmUp * kNsPerS));
  const std::int64_t counted = shared.counted.load();
  const std::int64_t begin = now(CLOCK_MONOTONIC);
  sleep_ns(static_cast<std::int64_t>(seconds * kNsPerS));
  return static_cast<double>(shared.counted.load() - counted) * kNsPerS /
         static_cast<double>(now(CLOCK_MONOTONIC) - begin);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse({argv + 1, argv + argc});
  Shared& shared = make_shared_state();
  const Plan plan(std::cin, arguments.speeds, shared);
  if (plan.cpus() > 0) pin_to(plan.cpus());
  Program program(plan, arguments, shared);
  program.start();
  if (plan.end_after() > 0) {
    while (sem_wait(&shared.finished) != 0) {
    }
  } else if (arguments.seconds > 0) {
    std::cout << counted_per_second(shared, arguments.seconds) << std::endl;
  } else {
    std::cout << "ready" << std::endl;
    for (;;) pause();
  }
  program.end_children();
  std::_Exit(0);
}
