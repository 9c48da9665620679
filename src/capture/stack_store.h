// SPDX-License-Identifier: GPL-2.0-or-later
// The stacks that the BPF programs have stored. Their map is small; before it is full, its stacks are moved
// to user space. The map has room for CaptureOptions::stacks_in_kernel stacks, user space for
// MovedStacks::kMost more.
// bpf/stored_stacks.h says how one is told from another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <offwait.skel.h>

#include "base/nanos.h"
#include "base/result.h"
#include "capture/moved_stacks.h"
#include "event/recording.h"

namespace offwait {

/// Room is made in three steps, with pauses in which every program that has begun comes to its end. First a
/// new generation begins, in which stacks get new ids. Then the ids of earlier generations are forgotten
/// where programs recall them. At last the stacks with these ids are moved. Threads may still have them.
class StackStore {
 public:
  /// The skeleton is loaded, and outlives this.
  explicit StackStore(offwait_bpf& skeleton) : skeleton_(skeleton) {}
  StackStore(const StackStore&) = delete;
  StackStore& operator=(const StackStore&) = delete;
  ~StackStore();

  Status open();

  /// Takes the next step if it is due. Call it about every 100 ms.
  Status make_room(Nanos now);
  /// While `held`, no step is taken, because a forked process reads the stacks.
  void hold(bool held) { held_ = held; }

  /// The stacks with these ids, as far as there are any. Another thread may call it.
  std::vector<std::pair<std::uint32_t, offwait_stack>> read(std::span<const std::uint32_t> ids) const;
  /// Adds all stacks.
  Status add_to(KernelRecording& recording) const;

  // As MovedStacks:
  void note_threads(std::span<const std::pair<std::uint32_t, offwait_thread>> threads, Nanos now);
  void forget_before(Nanos begin);

 private:
  enum class Step : std::uint8_t { begin_generation, forget_recalled, move };

  bool begin_generation();
  void forget_recalled();
  Status move();

  offwait_bpf& skeleton_;
  std::span<offwait_known_stack> recalled_;  ///< the programs' memory
  Step next_ = Step::begin_generation;
  Nanos due_ = 0;
  std::uint32_t generation_ = 0;
  std::uint64_t deleted_ = 0;  ///< in the kernel
  bool held_ = false;

  mutable std::mutex mutex_;  ///< of moved_
  MovedStacks moved_;
};

}  // namespace offwait
