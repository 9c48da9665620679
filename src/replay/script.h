// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as what each thread does, without the times at which it does it: an amount of work, then a
// wait, and so on. A simulation follows it under other conditions. A wait that ended by its time because
// nothing else came (progress/time_outs.h) is no step, but a part of the one that it belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "replay/lanes.h"

namespace offwait {

struct Step {
  enum class What : std::uint8_t {
    work,    ///< runs for `length_ns`, with `lock` held
    signal,  ///< ends the wait of the thread that awaits signal `id`
    /// Waits for signal `id`, but no longer than `length_ns`. `lock` is what it waits for; so it is in
    /// `others`, `below` and `delay`.
    await,
    disk,   ///< has a request served, which takes `length_ns` from when a channel is free; `id` is the disk
    sleep,  ///< a timer ends the wait after `length_ns`
    /// A timer ends the wait at a fixed rate, with periods of `length_ns`: `slept` of them, and those that
    /// work needs, which are `id` at most (periods_needed()), after it was to end the thread's last such
    /// wait. With `id` 0 it is the first such wait, and takes `length_ns`.
    until,
    remote,  ///< service `id` (kNoService: not known which) answers after `length_ns`
    others,  ///< waits until a thread of group `id`, which has the lock, has done work of `length_ns`
    pause,   ///< the kernel holds it back for `length_ns`
    below,   ///< disk `id` takes `length_ns` for requests that others sent to it
    delay,   ///< waits for `length_ns`, whatever changes
  };
  What what = What::work;
  LockId lock = kNoLock;
  std::uint32_t id = 0;
  double length_ns = 0;
  double recorded_ns = 0;  ///< how long the step took in the recording, queueing for a CPU included
  /// The wait that the step is part of or, of work, that came before it; kNoSite if none did.
  SiteId site = kNoSite;
  LockId held =
      kNoLock;       ///< disk, sleep, remote, pause, below, delay: the lock that the thread holds meanwhile
  double slept = 0;  ///< until: see there
  static constexpr SiteId kNoSite = UINT32_MAX;
};

struct Script {
  std::vector<Step> steps;
  /// It lived from the window's start nearly to its end, or to it where the end of a thread is what counts;
  /// what follows is taken to be like it.
  bool repeats = false;
  std::size_t born = 0;  ///< the first step of its own; what comes before it is the time until it begins
};

struct Scripts {
  std::vector<Script> threads;  ///< by ActorId; without steps for what is no thread
  std::uint32_t signals = 0;    ///< their ids are below
  std::size_t steps = 0;        ///< of all threads
  double length_ns = 0;         ///< of the part of the window that is written down
  double wake_up_ns = 0;        ///< from a wake to running where a CPU is free
};

/// The first `most_steps` or so of the recording.
Scripts scripts_of(const ReplayInput& input, std::size_t most_steps);

}  // namespace offwait
