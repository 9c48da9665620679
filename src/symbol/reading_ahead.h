// SPDX-License-Identifier: GPL-2.0-or-later
// Reads symbol tables while a recording goes on, so that its end need not wait for them. The process that
// reads a table writes all of it, because the addresses to come are not known. The first table is begun after
// some 20 s: a shorter recording that shared the CPUs with the reader would be slowed down by more than its
// report gains.
#pragma once

#include <functional>
#include <optional>

#include "base/nanos.h"
#include "base/result.h"
#include "sandbox/confined.h"

namespace offwait {

class ReadingAhead {
 public:
  /// Whether to begin with a table now. One table is read at a time. The next one begins when 0.5 % of one
  /// CPU's time since the first call exceeds what all tables have used by 0.1 s, so a short recording reads
  /// nothing ahead. What is left is read at the end.
  bool is_due(Nanos now);

  /// Waits for a process that reads a table. take() calls use(what it wrote) once it has ended. Does nothing
  /// if it could not be started.
  void begin(Result<ConfinedBeside> process, std::function<void(const Confined&)> use);

  /// Uses the table that was read, if it has been read by now.
  void take();

  /// Notes how much CPU time all this took, together with the processes that have ended.
  void spend(Nanos cpu_time) { cpu_time_ += cpu_time; }

 private:
  struct Reading {
    ConfinedBeside process;
    std::function<void(const Confined&)> use;
  };

  std::optional<Reading> reading_;
  std::optional<Nanos> since_;
  Nanos cpu_time_ = 0;
};

}  // namespace offwait
