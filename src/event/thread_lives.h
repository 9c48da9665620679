// SPDX-License-Identifier: GPL-2.0-or-later
// Which life of a tid a record of the kernel belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/nanos.h"
#include "event/lives.h"
#include "event/recording.h"
#include "event/relays.h"
#include "model/trace_builder.h"

namespace offwait {

class ThreadLives {
 public:
  /// Adds the recording's threads to the builder's trace. Threads born after the window are no actors, but
  /// their lives keep the records of their tids apart. If there are more than `most_single` threads, those
  /// that are short-lived and follow each other have an actor in common (relays.h). The builder must outlive
  /// this.
  ThreadLives(const KernelRecording& recording, TraceBuilder& builder, std::size_t most_single);

  /// The life of `tid` at `at` if it is an actor's, else nullptr. At the instant of its exit a life still
  /// counts, because an exiting thread wakes others.
  const Life* life_at(std::uint32_t tid, Nanos at) const;

  /// The life to which an interval of `tid` belongs that begins at `from_ns` (0: before it was recorded) and
  /// was over or is still open at `known_ns`; `from` becomes its start. Null, counted as record_invalid, when
  /// it contradicts what is known of the thread; null, not counted, outside the window. Intervals of a thread
  /// are placed in order of time.
  const Life* place(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t known_ns, Nanos& from);

  // An interval of the life ends at `end`, or is open: then nothing may follow.
  void end_interval(const Life& life, Nanos end) { progress_[life.actor].last = end; }
  void leave_open(const Life& life) { progress_[life.actor].open = true; }
  /// Whether the intervals of the life reach the window's end already.
  bool is_complete(const Life& life) const {
    const Progress& progress = progress_[life.actor];
    return progress.open || progress.last >= window_.end;
  }
  /// The number of the relay that the thread with this tid at `at` is part of, else the tid. May be asked
  /// while intervals are placed.
  std::uint32_t number_of(std::uint32_t tid, Nanos at) const;
  /// How many waits relays have for births.
  std::size_t births() const { return relays_.births(); }
  /// Adds the waits of relays for threads of which there is no record. To be called after all records.
  void finish_relays();
  /// The end of the last interval so far, 0 if there was none.
  Nanos last_end(const Life& life) const { return progress_[life.actor].last; }

  /// The end of each thread that is neither in the kernel's table at the end nor known to have exited: its
  /// exit was lost, at a time that is not known, so what it did after its last interval is unknown. One for
  /// a thread at most, in order of threads.
  std::vector<Gap> lost_exits() const;

 private:
  /// How far the intervals of a thread have come.
  struct Progress {
    Nanos last = 0;
    bool open = false;
  };

  void collect(const offwait_thread_record& record);
  void begin_life(const offwait_thread_record& record);
  void end_life(Life& life, Nanos at);
  /// kNoActor for a thread born after the window.
  ActorId add_thread(Actor actor, const Life& life, Nanos seen);
  ActorId parent_of(const offwait_thread_record& record, const Life& child) const;
  /// The actor of the thread that begins its life, if that goes on with a relay; kNoActor if not.
  ActorId relay_of(const offwait_thread_record& record, const ThreadCourses::Course& course,
                   const Life& life);
  Relays::Kind kind_of(const offwait_thread_record& record, const ThreadCourses::Course& course) const;
  /// The tgid of the actor of the record's process.
  std::int32_t process_of(const offwait_thread_record& record) const;
  /// The number of what the record's process runs; nullptr: not known.
  const std::uint32_t* program_of(const offwait_thread_record& record) const;
  void describe(const offwait_thread_record& record, Actor& actor) const;
  /// Leaves the title of a process that runs a script to those of its threads that has_title() says.
  void give_titles();
  /// Adds the waits of a relay for its threads born by `at`, if it is one.
  void add_births(ActorId actor, Nanos at);
  /// The start of a life of the tid: `start`, but not before the one before has ended.
  Nanos birth_after_others(std::uint32_t tid, Nanos start) const;

  const KernelRecording& recording_;
  TraceBuilder& builder_;
  const Window window_;
  Lives lives_;
  ThreadCourses courses_;
  std::vector<std::uint32_t> without_script_;  ///< by number of a program: that of its Relays::Kind
  Relays relays_;
  StackId not_alive_ = kNoStack;            ///< of relays that wait for a thread
  std::vector<Progress> progress_;          ///< by ActorId
  std::unordered_set<ActorId> exits_lost_;  ///< their exit is when their tid had a new owner
};

}  // namespace offwait
