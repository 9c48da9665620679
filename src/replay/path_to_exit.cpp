// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/path_to_exit.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "model/by_thread.h"

namespace offwait {

namespace {

bool is_alive(const Actor& actor, Nanos at) {
  return actor.kind == ActorKind::thread && std::max(actor.start, actor.seen) < at;
}

class Walk {
 public:
  Walk(const Trace& trace, const WaitKinds& kinds, ActorId thread)
      : trace_(trace),
        kinds_(kinds),
        waits_(trace.actors.size(), trace.waits,
               [&trace](const Wait& wait) { return trace.sites[wait.site].thread; }),
        preemptions_(trace.actors.size(), trace.preemptions,
                     [](const Preemption& preemption) { return preemption.thread; }),
        thread_(thread),
        at_(trace.actors[thread].exit) {
    path_.length_ns = at_ - trace.window.begin;
  }

  PathToExit walk() {
    // A path has no circles in time. Threads that wake each other at one instant would make one.
    for (std::size_t left = trace_.waits.size() + trace_.actors.size(); left > 0 && step(); --left) {
    }
    return path_;
  }

 private:
  /// Goes back to the end of the thread's last wait and on to what ended it, or to the thread's birth. False
  /// at the start of the path.
  bool step() {
    const Wait* const last = last_wait();
    const Actor& actor = trace_.actors[thread_];
    if (last == nullptr) {
      add_preemptions(std::max(actor.start, trace_.window.begin));
      if (actor.start <= trace_.window.begin || actor.parent == kNoActor) return false;
      at_ = std::min(at_, actor.start);
      thread_ = actor.parent;
      return true;
    }
    if (last->run <= at_) {
      add_preemptions(last->run);
      path_.runnable_ns += last->run - last->wake;
    }
    const WaitSite& site = trace_.sites[last->site];
    const WaitKind kind = kinds_.of_site[last->site];
    const Nanos blocked = std::min(last->wake, at_) - last->block;
    path_.guessed_ns += kind == WaitKind::lock && kinds_.guessed[last->site] ? blocked : 0;
    path_.unknown_ns += kind == WaitKind::unknown ? blocked : 0;
    const bool by_thread = kind == WaitKind::handover || kind == WaitKind::lock;
    if (by_thread && last->wake <= at_ && is_alive(trace_.actors[site.waker], last->wake)) {
      at_ = last->wake;
      thread_ = site.waker;
    } else {
      at_ = last->block;
    }
    return true;
  }

  /// The last wait of the thread that began in the window before `at_`.
  const Wait* last_wait() const {
    const std::span<const std::uint32_t> own = waits_.of(thread_);
    const auto later = std::partition_point(
        own.begin(), own.end(), [this](std::uint32_t index) { return trace_.waits[index].block < at_; });
    const Wait* const last = later == own.begin() ? nullptr : &trace_.waits[*(later - 1)];
    return last != nullptr && last->block >= trace_.window.begin ? last : nullptr;
  }

  /// Those of the thread in [from, at_).
  void add_preemptions(Nanos from) {
    const std::span<const std::uint32_t> own = preemptions_.of(thread_);
    auto later = std::partition_point(
        own.begin(), own.end(), [this](std::uint32_t index) { return trace_.preemptions[index].out < at_; });
    for (; later != own.begin() && trace_.preemptions[*(later - 1)].out >= from; --later) {
      const Preemption& preemption = trace_.preemptions[*(later - 1)];
      path_.runnable_ns += std::min(preemption.run, at_) - preemption.out;
    }
  }

  const Trace& trace_;
  const WaitKinds& kinds_;
  ByThread waits_;
  ByThread preemptions_;
  ActorId thread_;
  Nanos at_;
  PathToExit path_;
};

}  // namespace

PathToExit path_to_exit(const Trace& trace, const WaitKinds& kinds, ActorId thread) {
  return Walk(trace, kinds, thread).walk();
}

}  // namespace offwait
