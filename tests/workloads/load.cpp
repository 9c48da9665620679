// SPDX-License-Identifier: GPL-2.0-or-later
// Many context switches: on each of --cpus CPUs two threads hand a byte to each other, in a burst every
// millisecond, at --rate switches a second in all. The truth has only counts: the timer ended a thread's
// sleeps, and its partner ended all other waits.
#include <array>
#include <ctime>
#include <optional>
#include <thread>

#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

struct Pair {
  explicit Pair(int cpu_number) : cpu(cpu_number) {
    checked(pipe(there.data()), "pipe");
    checked(pipe(back.data()), "pipe");
  }

  void serve(std::int64_t bursts, std::int64_t trips_per_burst) {
    pin_to_cpu(cpu);
    let_wakers_run_on();
    server_truth.emplace("load_server");
    char c = 0;
    for (std::int64_t i = 0; i < bursts * trips_per_burst; ++i) {
      if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1) fail("pipe");
    }
    server_truth->end();
  }

  void request(std::int64_t bursts, std::int64_t trips_per_burst) {
    pin_to_cpu(cpu);
    let_wakers_run_on();
    client_truth.emplace("load_client");
    char c = 0;
    Nanos next = monotonic_now();
    for (std::int64_t burst = 0; burst < bursts; ++burst) {
      for (std::int64_t trip = 0; trip < trips_per_burst; ++trip) {
        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1) fail("pipe");
      }
      next += 1'000'000;
      const timespec deadline{.tv_sec = next / 1'000'000'000, .tv_nsec = next % 1'000'000'000};
      client_truth->wait([&] {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
        return std::string("timer");
      });
    }
    client_truth->end();
  }

  int cpu;
  std::array<int, 2> there{};
  std::array<int, 2> back{};
  std::optional<ThreadTruth> server_truth;
  std::optional<ThreadTruth> client_truth;
};

}  // namespace

void load(Options& options) {
  const auto rate = options.number("rate", 100'000);
  const auto cpus = static_cast<int>(options.number("cpus", 2));
  const auto bursts = options.number("seconds", 5) * 1000;
  // A round trip is two switches.
  const std::int64_t trips_per_burst = rate / 1000 / 2 / (cpus > 0 ? cpus : 1);
  ready(options);

  std::vector<Pair> pairs;
  pairs.reserve(static_cast<std::size_t>(cpus));
  for (int cpu = 0; cpu < cpus; ++cpu) pairs.emplace_back(cpu);
  std::vector<std::thread> threads;
  const Nanos begin = monotonic_now();
  for (Pair& pair : pairs) {
    threads.emplace_back([&] { pair.serve(bursts, trips_per_burst); });
    threads.emplace_back([&] { pair.request(bursts, trips_per_burst); });
  }
  for (std::thread& thread : threads) thread.join();
  const Nanos elapsed = monotonic_now() - begin;

  Switches switches{};
  for (const Pair& pair : pairs) {
    pair.server_truth->print();
    pair.client_truth->print();
    for (const auto& truth : {pair.server_truth, pair.client_truth}) {
      switches.voluntary += truth->switches().voluntary;
      switches.involuntary += truth->switches().involuntary;
    }
  }
  print_truth("load", {{"voluntary_switches", switches.voluntary},
                       {"involuntary_switches", switches.involuntary},
                       {"elapsed_ns", elapsed},
                       {"voluntary_switches_per_second", switches.voluntary * 1'000'000'000 / elapsed}});
}

}  // namespace workload
