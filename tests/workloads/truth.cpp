// SPDX-License-Identifier: GPL-2.0-or-later
#include "truth.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace workload {
namespace {

Nanos clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * Nanos{1'000'000'000} + t.tv_nsec;
}

Nanos current_run_delay() {
  std::ifstream schedstat("/proc/thread-self/schedstat");
  Nanos cpu = 0;
  Nanos run_delay = 0;
  schedstat >> cpu >> run_delay;
  return run_delay;
}

void print_line(const nlohmann::ordered_json& line) {
  std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0) fail("cannot write to stdout");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void wait_for_line() {
  char c = 0;
  while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n') {
  }
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace

Nanos monotonic_now() { return clock_ns(CLOCK_MONOTONIC); }

pid_t current_tid() { return gettid(); }

Nanos current_cpu_time() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

void spin_cpu(Nanos ns) {
  const Nanos end = current_cpu_time() + ns;
  while (current_cpu_time() < end) {
  }
}

void pin_to_cpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) skip("cannot run on CPU " + std::to_string(cpu));
}

void let_wakers_run_on() {
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_BATCH, &none) != 0) skip("SCHED_BATCH is not allowed");
}

void fail(const std::string& what) {
  std::cerr << "workload: " << what << ": " << std::generic_category().message(errno) << "\n";
  _exit(1);
}

void skip(const std::string& why) {
  std::cerr << "workload: skipped: " << why << "\n";
  _exit(77);
}

Switches current_switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {.voluntary = usage.ru_nvcsw, .involuntary = usage.ru_nivcsw};
}

std::string thread_waker(pid_t tid) { return "thread:" + std::to_string(tid); }

ThreadTruth::ThreadTruth(std::string name)
    : name_(std::move(name)),
      tid_(current_tid()),
      tgid_(getpid()),
      begin_ns_(monotonic_now()),
      cpu_ns_(current_cpu_time()),
      run_delay_ns_(current_run_delay()),
      switches_(current_switches()),
      counted_from_ns_(monotonic_now()) {
  name_.resize(std::min<std::size_t>(name_.size(), 15));
  pthread_setname_np(pthread_self(), name_.c_str());
}

void ThreadTruth::add(const Switches& before, const Switches& after, Nanos duration, Nanos call_cpu,
                      const std::string& waker) {
  ++calls_;
  preempted_in_wait_ += after.involuntary - before.involuntary;
  const std::int64_t waits = after.voluntary - before.voluntary;
  if (waits > 0) {
    waits_ += waits;
    wait_ns_ += duration;
    call_cpu_ns_ += call_cpu;
    wakers_[waker] += waits;
  }
}

void ThreadTruth::sleep(std::int64_t rounds, Nanos each) {
  const timespec duration{.tv_sec = each / 1'000'000'000, .tv_nsec = each % 1'000'000'000};
  for (std::int64_t round = 0; round < rounds; ++round) {
    wait([&duration] {
      clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
      return std::string("timer");
    });
  }
}

void ThreadTruth::end() {
  counted_to_ns_ = monotonic_now();
  const Switches now = current_switches();
  switches_ = {.voluntary = now.voluntary - switches_.voluntary,
               .involuntary = now.involuntary - switches_.involuntary};
  cpu_ns_ = current_cpu_time() - cpu_ns_;
  run_delay_ns_ = current_run_delay() - run_delay_ns_;
  end_ns_ = monotonic_now();
}

void ThreadTruth::print() const {
  nlohmann::ordered_json line{{"truth", "thread"},
                              {"tid", tid_},
                              {"tgid", tgid_},
                              {"name", name_},
                              {"name_hex", hex(name_)},
                              {"begin_ns", begin_ns_},
                              {"end_ns", end_ns_},
                              {"counted_from_ns", counted_from_ns_},
                              {"counted_to_ns", counted_to_ns_},
                              {"calls", calls_},
                              {"waits", waits_},
                              {"wait_ns", wait_ns_},
                              {"call_cpu_ns", call_cpu_ns_},
                              {"wakers", nlohmann::ordered_json::object()},
                              {"nvcsw", switches_.voluntary},
                              {"nivcsw", switches_.involuntary},
                              {"preempted_in_wait", preempted_in_wait_},
                              {"cpu_ns", cpu_ns_},
                              {"run_delay_ns", run_delay_ns_}};
  for (const auto& [waker, waits] : wakers_) line["wakers"][waker] = waits;
  print_line(line);
}

void print_truth(const char* kind, const std::vector<Field>& fields) {
  nlohmann::ordered_json line{{"truth", kind}};
  for (const Field& field : fields)
    std::visit([&](const auto& value) { line[field.key] = value; }, field.value);
  print_line(line);
}

Options::Options(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, 2) != "--") {
      refuse("expected an option, found " + std::string(argument));
    }
    const bool has_value = i + 1 < argc && std::string_view(argv[i + 1]).substr(0, 2) != "--";
    given_[std::string(argument.substr(2))] = has_value ? argv[++i] : "";
  }
  exit_at_once_ = flag("exit");
}

std::int64_t Options::number(const std::string& key, std::int64_t otherwise) {
  const std::string given = text(key, std::to_string(otherwise));
  char* end = nullptr;
  const std::int64_t value = std::strtoll(given.c_str(), &end, 10);
  if (given.empty() || *end != '\0' || value < 0) {
    refuse("--" + key + " wants a number");
  }
  return value;
}

std::string Options::text(const std::string& key, const std::string& otherwise) {
  const auto node = given_.extract(key);
  return node.empty() ? otherwise : node.mapped();
}

bool Options::flag(const std::string& key) { return given_.erase(key) > 0; }

void Options::refuse(const std::string& why) {
  std::cerr << "workload: " << why << "\n";
  std::exit(2);
}

void Options::refuse_others() const {
  if (!given_.empty()) refuse("this workload has no option --" + given_.begin()->first);
}

void ready(const Options& options) {
  options.refuse_others();
  print_line({{"ready", true}, {"pid", getpid()}});
  wait_for_line();
}

void done(const Options& options) {
  print_line({{"done", true}});
  if (!options.exit_at_once()) wait_for_line();
}

}  // namespace workload
