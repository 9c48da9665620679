// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks that the kernel's map has no room for. All is plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/nanos.h"
#include "event/recording.h"

namespace offwait {

inline std::uint32_t generation_of(std::uint32_t stack) { return stack >> OFFWAIT_STACK_HASH_BITS; }

/// Keeps stacks of earlier generations (OFFWAIT_STACK_GENERATIONS), for as long as records may refer to them.
/// The programs give their ids to no other wait: only threads that had them before still have them.
class MovedStacks {
 public:
  /// A recording file has this many, together with those in the kernel and those of late_stacks.h.
  static constexpr std::size_t kMost = 49'152;

  /// Adds a stack that some thread may have.
  void add(std::uint32_t id, const offwait_stack& stack);

  /// Null if there is none.
  const offwait_stack* find(std::uint32_t id) const;
  std::size_t size() const { return stacks_.size(); }
  void add_to(KernelRecording& recording) const;

  /// The next generation after `current`. Its ids name nothing else: no stack here is of it. None if there is
  /// a stack of each generation.
  std::optional<std::uint32_t> generation_after(std::uint32_t current) const;

  /// Notes which of the stacks threads still have, out of all threads as they were before `now`.
  void note_threads(std::span<const std::pair<std::uint32_t, offwait_thread>> threads, Nanos now);
  /// Drops stacks that no thread has had since `begin`: records from then on do not refer to them.
  void forget_before(Nanos begin);

 private:
  struct Moved {
    offwait_stack stack;
    bool has_thread = true;  ///< at the last note_threads(), or never asked
    Nanos last = 0;          ///< no thread has had it since
  };

  std::unordered_map<std::uint32_t, Moved> stacks_;
  std::array<std::size_t, OFFWAIT_STACK_GENERATIONS> of_generation_{};
};

}  // namespace offwait
