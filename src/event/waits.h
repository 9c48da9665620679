// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's records of waits as waits of a trace: their class, and who ended them.
#pragma once

#include <cstdint>

#include "base/number_map.h"
#include "event/devices.h"
#include "event/files.h"
#include "event/joined_stacks.h"
#include "event/locks.h"
#include "event/recording.h"
#include "event/thread_lives.h"
#include "model/trace_builder.h"

namespace offwait {

class Waits {
 public:
  /// All of these must outlive this.
  Waits(const KernelRecording& recording, TraceBuilder& builder, ThreadLives& lives, Devices& devices,
        JoinedStacks& stacks, Files& files)
      : recording_(recording),
        builder_(builder),
        lives_(lives),
        devices_(devices),
        stacks_(stacks),
        files_(files),
        window_(recording.window),
        locks_(builder, lives, recording.window) {}

  void add(const offwait_wait& record);

  /// The wait of this life, from `wait.block` on, that is still in the kernel's table at the end, woken or
  /// not.
  void add_left(const Life& life, const offwait_thread& thread, Wait wait);

  /// kNoActor, counted as waker_unknown, when the waker was not seen or is not recorded.
  ActorId waker(std::uint8_t kind, std::uint32_t id, Nanos wake);

 private:
  /// What ended a wait, as in offwait_wait.
  struct Waking {
    std::uint8_t kind;
    std::uint32_t id;
    std::uint32_t user;
    std::uint32_t kernel;  ///< if in_flight_ns is 0
    std::uint32_t nic;     ///< else
    std::uint32_t in_flight_ns;
  };

  void push(Wait wait, const WaitSite& where);
  void add_blocked(const WaitBegin& begin, const Life& life, std::uint32_t wait_kernel,
                   std::uint32_t wait_user, WaitSite& where, Wait& wait);
  void add_woken(const Wait& wait, WaitSite where, const Waking& waking);
  void add_delivered(const Wait& wait, WaitSite where, const Waking& waking);
  PeerId peer(std::uint32_t id);
  /// Notes what the wait is for, and who had it: `object` and `owner` as in offwait_wait.
  void add_object(std::uint8_t kind, std::uint64_t object, std::uint32_t owner, const Life& life,
                  WaitSite& where, Wait& wait);

  const KernelRecording& recording_;
  TraceBuilder& builder_;
  ThreadLives& lives_;
  Devices& devices_;
  JoinedStacks& stacks_;
  Files& files_;
  const Window window_;
  NumberMap<PeerId> peers_;  ///< by the kernel's id
  Locks locks_;
};

/// Takes the waker from waits that it cannot have ended because it was blocked itself, and counts them
/// (waker_impossible). This happens only where the clocks of CPUs disagree. Empty waits are left alone: such
/// a wait had ended before it began, and its waker may sleep by then.
void drop_impossible_wakers(TraceBuilder& builder);

}  // namespace offwait
