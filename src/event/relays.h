// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that follow each other, by the hundred thousand, as few actors: a trace takes some KiB for each
// actor, and a program may make 30,000 threads a second. Which threads share an actor is told here.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/nanos.h"
#include "event/lives.h"
#include "event/recording.h"
#include "model/trace.h"

namespace offwait {

/// A recording with more threads than that has short-lived threads in relays. It is what the kernel's table
/// holds at a time: more can only be threads that follow each other.
inline constexpr std::size_t kMostSingleThreads = std::size_t{1} << 16;

/// Linux gives no thread a larger number (PID_MAX_LIMIT).
inline constexpr std::int32_t kLargestTid = 1 << 22;

/// What becomes of each thread, in the order in which they start, told before any of them has an actor.
class ThreadCourses {
 public:
  ThreadCourses() = default;
  /// Empty if the recording has `most_single` threads at most.
  ThreadCourses(const KernelRecording& recording, std::size_t most_single);

  struct Course {
    std::uint32_t name = 0;  ///< equal for threads whose last names differ at most in digits
    bool is_brief = false;   ///< born and gone in the window, and lived for half of it at most
  };
  /// Whether short-lived threads are to share actors.
  bool are_told() const { return !names_.empty(); }
  /// The course of the thread that starts next.
  Course next() {
    const std::size_t thread = next_++;
    return {names_[thread], is_brief_[thread]};
  }

 private:
  std::vector<std::uint32_t> names_;  ///< by thread, like is_brief_
  std::vector<bool> is_brief_;
  std::size_t next_ = 0;
};

/// Relays of short-lived threads: each goes on with the next thread of its kind once one has exited, so that
/// there are as many as ever lived at once. Between two of its threads a relay waits for the one that makes
/// the next one.
class Relays {
 public:
  /// What threads of one relay have in common.
  struct Kind {
    std::uint32_t name = 0;     ///< ThreadCourses::Course::name
    std::uint32_t program = 0;  ///< any number for each
    std::int32_t process = 0;   ///< tgid of the actor of the process; 0: each is a process of its own
    std::uint8_t outside = 0;   ///< as offwait_thread_record::outside
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  /// The actor becomes a relay; its first life is this one of Lives::all(). The number that it has in
  /// place of a tid, as it stands for many, is that of no thread.
  std::int32_t begin(ActorId actor, const Kind& kind, std::uint32_t life);
  bool empty() const { return relays_.empty(); }
  /// What begin() has returned for the relay; nothing for another actor.
  std::optional<std::int32_t> number_of(ActorId actor) const;
  /// A relay of the kind whose last thread was gone when this one was born, which goes on with it in this
  /// life; kNoActor if each still has a thread.
  ActorId go_on(const Kind& kind, Nanos born, ActorId parent, std::uint32_t life);
  /// The thread that the relay has is gone.
  void exited(ActorId actor, Nanos at);

  /// How many births all relays have: their lives after each one's first.
  std::size_t births() const;
  /// Calls visit(before, life) for each life of the relay after its first one that was born by `at`, with the
  /// one before, and forgets it. `lives`: of all relays.
  template <class Visit>
  void take_births(ActorId actor, Nanos at, const Lives& lives, Visit visit) {
    const auto found = relays_.find(actor);
    if (found == relays_.end()) return;
    Relay& relay = found->second;
    const auto life = [&](std::size_t index) -> const Life& { return lives.all()[relay.lives[index]]; };
    for (; relay.next < relay.lives.size() && life(relay.next).start <= at; ++relay.next)
      visit(life(relay.next - 1), life(relay.next));
  }
  /// All relays, in order of id.
  std::vector<ActorId> all() const;

 private:
  struct Relay {
    Kind kind;
    std::int32_t number = 0;
    Nanos exit = 0;  ///< of its last thread
    std::vector<std::uint32_t> lives;
    std::size_t next = 1;  ///< index of the first one to be visited
  };

  std::unordered_map<ActorId, Relay> relays_;
  std::map<Kind, std::vector<ActorId>> free_;  ///< those whose thread is gone, in order of its exit
};

}  // namespace offwait
