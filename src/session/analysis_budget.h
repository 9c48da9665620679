// SPDX-License-Identifier: GPL-2.0-or-later
// How often `offwait top` analyses while it records, and how much of the recording.
//
// All that it does together (the BPF programs, the recorder, the analyses) is to take no more than a part of
// the time of the CPUs. What recording leaves of that is saved up, half of it for analyses without a replay
// and half for those with one. One begins when as much is saved as the last one took. The first one of each
// kind begins at once, and is paid off afterwards; so is what the user asks for.
#pragma once

#include <cstdint>
#include <optional>

#include "base/nanos.h"

namespace offwait {

class AnalysisBudget {
 public:
  /// Which kind.
  enum class Kind : std::uint8_t { graph, answers };

  /// `most`: the part of the CPUs' time, 0 for no limit.
  explicit AnalysisBudget(double most) : most_(most) {}

  /// A second of this length is over. `cpus`: the time of all CPUs in it, idle or not; `recording`: what
  /// recording took of that.
  void add(Nanos length, Nanos cpus, Nanos recording, std::uint64_t waits);
  /// What an analysis took; a failed one counts, too.
  void spent(Kind kind, Nanos cpu_time);
  /// The kind that may begin now. Only while none runs.
  std::optional<Kind> due() const;
  /// One begins.
  void begins(Kind kind);

  /// How much of the recording is analysed: 10 s, or as much less as its waits are more than a moderate
  /// number; whole seconds.
  Nanos length(Kind kind) const;

 private:
  struct Account {
    Nanos saved = 0;
    Nanos last_cost = 0;
    Nanos since = 0;  ///< recorded since one began
    bool begun = false;
  };
  const Account& account(Kind kind) const { return kind == Kind::graph ? graph_ : answers_; }
  Account& account(Kind kind) { return kind == Kind::graph ? graph_ : answers_; }
  bool is_due(Kind kind) const;

  double most_;
  Nanos recorded_ = 0;
  double waits_per_s_ = 0;  ///< of the last seconds
  Account graph_{};
  Account answers_{};
};

}  // namespace offwait
