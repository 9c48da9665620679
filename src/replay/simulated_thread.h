// SPDX-License-Identifier: GPL-2.0-or-later
// What a simulation (simulate.h) knows of each thread and disk, and what is to happen in it. Times are in
// nanoseconds since the simulation's start.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace offwait {

enum class SimulatedState : std::uint8_t { done, ready, starting, running, blocked };

struct SimulatedThread {
  SimulatedState state = SimulatedState::done;
  std::uint32_t step = 0;
  std::uint32_t round = 0;  ///< how often the script has ended
  std::uint32_t token = 0;  ///< events with another one are void
  double work_left = 0;
  double used = 0;        ///< running time, as the scheduler counts it
  double since = 0;       ///< since when the thread has been in its state `running` or `done`
  double turn = 0;        ///< since then it has had its CPU, or no other thread wanted it
  double covered = 0;     ///< recorded time of the steps that are over
  double moment = 0;      ///< until when its last sleep at a fixed rate was to last
  double lives_from = 0;  ///< when it begins the first step of its own
  bool lives = false;
  double cpu = 1;
  double step_cpu = 1;  ///< `cpu`, with the factor of the lock that it holds in this step
  double sleep = 1;
  double remote = 1;
};

struct Happening {
  double at;
  std::uint64_t order;
  std::uint32_t thread;
  std::uint32_t token;
  bool operator>(const Happening& other) const {
    return at != other.at ? at > other.at : order > other.order;
  }
};

struct SimulatedDisk {
  std::uint32_t busy = 0;
  std::deque<std::pair<std::uint32_t, double>> queue;  ///< threads, and how long their requests take
};

}  // namespace offwait
