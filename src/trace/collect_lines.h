// SPDX-License-Identifier: GPL-2.0-or-later
// Makes a trace of the lines of the text form. It finds out which life of a tid each line means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/nanos.h"
#include "model/histories.h"
#include "model/tid_lives.h"
#include "model/trace_builder.h"
#include "trace/lines.h"
#include "trace/read_fields.h"

namespace offwait {

/// Collects lines in the builder's trace. The ids of frames, stacks, peers and devices in the lines are the
/// builder's.
class LineCollector {
 public:
  LineCollector(ReadPosition& position, TraceBuilder& builder)
      : position_(position), builder_(builder), trace_(builder.trace()) {}

  // All of these return false after they have set the position's error. The position is that of the line.
  bool add(const Window& line);
  bool add(const Recording& line);
  bool add(const Label& line);
  bool add(const CpuLine& line);
  bool add(const CpuTime& line);
  bool add(const CpuQuota& line);
  bool add(const MemoryUse& line);
  bool add(const ProcessCpuTime& line);
  bool add(const StackReuse& line);
  bool add(const RecordingCost& line);
  bool add(const LossCounts& line);
  bool add(const ThreadLine& line);
  bool add(const DiskLine& line);
  bool add(const NicLine& line);
  template <ActorKind kKind>
  bool add(const ActorLine<kKind>&) {
    return true;  // reading its name has added it
  }
  bool add(const ObjectLine& line);
  bool add(const WaitLine& line);
  bool add(const PreemptLine& line);
  bool add(const UnknownLine& line);
  bool add(const FalseLine& line);
  bool add(const OnCpuLine& line);
  bool add(const ResponsesLine& line);
  bool add(const CallsLine& line);
  bool add(const DiskCounters& line);
  bool add(const NicCounters& line);
  bool add(const IoLine& line);

  /// To be called after the last line. The builder's trace is then complete and satisfies validate().
  bool finish();

 private:
  /// The line and the tid of a record whose thread is found after all lines have been read.
  struct TidLine {
    std::uint32_t line = 0;
    Tid tid = kNoTid;
  };
  /// A wait whose thread, waker or holder was not known when it was read.
  struct PendingWait {
    std::size_t wait = 0;  ///< index into Trace::waits
    WaitSite site;
    Tid tid = kNoTid;        ///< kNoTid if site.thread is known
    Tid waker_tid = kNoTid;  ///< kNoTid if site.waker is known or there is none
    Tid holder_tid = kNoTid;
  };
  struct PendingIo {
    std::size_t io = 0;  ///< index into Trace::disk_ios
    TidLine from;
  };
  struct PendingParent {
    ActorId child = kNoActor;
    TidLine parent;
  };

  /// Replaces the number of an object's line by the object's id; kNoObject stays.
  bool resolve_object(ObjectId& object);
  TidLine here(Tid tid) const { return {position_.line, tid}; }
  /// The life of a tid that is alive at `at`; nullptr if a later line may still decide it.
  const Life* life_at(Tid tid, Nanos at) const;
  bool thread_during(std::string_view record, TidLine from, Nanos begin, Nanos end, ActorId& out);
  bool thread_born_by(std::string_view record, TidLine from, Nanos at, ActorId& out);
  /// The thread for a tid without thread line that a record names at time `at`.
  ActorId implicit_thread(Tid tid, Nanos at);

  bool resolve_waits();
  bool resolve_preempts();
  bool resolve_unknowns();
  bool resolve_false();
  bool resolve_cpu_samples();
  bool resolve_responses();
  bool resolve_calls();
  bool resolve_ios();
  bool resolve_parents();
  bool check_order();
  /// The line that an interval was read from.
  std::uint32_t line_of(const Interval& interval) const;

  ReadPosition& position_;
  TraceBuilder& builder_;
  Trace& trace_;
  std::unordered_map<Tid, ActorId> implicit_threads_;           ///< of tids without any thread line
  std::unordered_map<ObjectId, ObjectId> objects_;              ///< ids by the numbers of their lines
  std::unordered_map<std::uint32_t, ObjectId> hashed_futexes_;  ///< by hash
  std::vector<PendingWait> pending_waits_;
  std::vector<std::uint32_t> wait_lines_;  ///< parallel to Trace::waits
  std::vector<TidLine> preempt_lines_;     ///< parallel to Trace::preemptions
  std::vector<TidLine> unknown_lines_;     ///< parallel to Trace::gaps
  std::vector<TidLine> false_lines_;       ///< parallel to Trace::false_marks
  std::vector<TidLine> on_cpu_lines_;      ///< parallel to Trace::cpu_samples
  std::vector<TidLine> responses_lines_;   ///< parallel to Trace::responses
  std::vector<TidLine> calls_lines_;       ///< parallel to Trace::calls
  std::vector<PendingIo> pending_ios_;
  std::vector<PendingParent> pending_parents_;
};

}  // namespace offwait
