// SPDX-License-Identifier: GPL-2.0-or-later
// Disks, interfaces, interrupts and the timer as actors, by the numbers that the kernel knows them by.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "event/files.h"
#include "event/recording.h"
#include "event/thread_lives.h"
#include "model/trace_builder.h"

namespace offwait {

class Devices {
 public:
  Devices(const KernelRecording& recording, TraceBuilder& builder)
      : recording_(recording), builder_(builder) {}

  /// The actor of this kind, which is added when it is first asked for. `id` is as in offwait_waker_kind.
  ActorId device(ActorKind kind, std::uint32_t id);

  // What the disks and interfaces did. Only those that threads waited for are actors, so this comes after all
  // waits.
  void add_io(const offwait_io& record, const ThreadLives& lives, Files& files);
  void add_counters();

 private:
  std::string name_of(ActorKind kind, std::uint32_t id) const;
  /// kNoActor if no thread waited for it.
  ActorId known_disk(std::uint32_t dev) const;

  const KernelRecording& recording_;
  TraceBuilder& builder_;
  std::map<std::pair<ActorKind, std::uint32_t>, ActorId> devices_;
};

}  // namespace offwait
