// SPDX-License-Identifier: GPL-2.0-or-later
// Runs work on hostile input in a process that can do nothing but compute. Libraries that read ELF files and
// DWARF are not made for files that lie, and no attacker may gain offwait's capabilities through them.
//
// The seccomp filter is written out instruction by instruction, not built by libseccomp. It holds the process
// id of the child, so libseccomp would have to build it after the fork, in the child of a process that may
// have several threads; it allocates a lot there and asks the kernel what it can do. Built before the fork,
// libseccomp 2.5 can give it to a file only, and the process id is not known yet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/nanos.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

struct Confinement {
  std::vector<int> descriptors;  ///< stay open under their numbers (-1: none); all others are closed
  std::chrono::seconds cpu_time{10};
  std::chrono::milliseconds wall_time{30'000};     ///< without the time in which the process waits for a CPU
  std::uint64_t memory = std::uint64_t{2} << 30U;  ///< bytes of address space beyond what this process has
  std::size_t output = std::size_t{256} << 20U;    ///< bytes
};

enum class ConfinedEnd {
  done,           ///< the work returned
  crashed,        ///< by a signal that the work raised, or by an exception
  forbidden,      ///< the work made a system call that is not allowed
  out_of_memory,  ///< std::bad_alloc; a library that ignores a failed allocation may end otherwise
  out_of_time,    ///< CPU time or wall time
  too_much_output,
};

struct Confined {
  std::string output;  ///< all that was written, even if the work failed later; cut at the limit
  ConfinedEnd end = ConfinedEnd::done;
};

/// Where the work writes its results. Each write goes out at once, so it survives a crash of the work.
class ConfinedOutput {
 public:
  explicit ConfinedOutput(int fd) : fd_(fd) {}
  void write(std::string_view bytes) const;

 private:
  int fd_;
};

/// Runs `work` in a forked copy of this process, so whatever it changes is lost. The copy has no
/// capabilities, has no descriptors but those given (standard streams are closed as well), and cannot gain
/// privileges. A seccomp filter lets it only read, seek and map what it was given, manage its own memory and
/// signals, and write to `ConfinedOutput`. Its nice value is this thread's; it is not real-time. Opening a
/// file fails with EACCES, so that a library that looks for more files finds none; any other system call ends
/// the work. Waits for the end of the work. Returns an Error only if the process cannot be made or cannot be
/// confined; the work has then not run. Fork and confinement take about half a millisecond.
Result<Confined> run_confined(const std::function<void(const ConfinedOutput&)>& work,
                              const Confinement& confinement = {});

/// Runs work confined like run_confined(), and does not wait for it. Its nice value is never below 0.
class ConfinedBeside {
 public:
  /// Starts the work. Returns an Error only if the process cannot be made. Takes a millisecond or so, and
  /// more where this process has much memory.
  static Result<ConfinedBeside> start(const std::function<void(const ConfinedOutput&)>& work,
                                      const Confinement& confinement = {});
  ConfinedBeside(ConfinedBeside&&) = default;
  ConfinedBeside& operator=(ConfinedBeside&&) = delete;
  ConfinedBeside(const ConfinedBeside&) = delete;
  ConfinedBeside& operator=(const ConfinedBeside&) = delete;
  /// Ends the work if it still runs.
  ~ConfinedBeside();

  /// Nothing while the work runs. The output of work that did not return is empty; `end` is also
  /// ConfinedEnd::crashed if the process could not be confined. Do not call it again after it has returned a
  /// value.
  std::optional<Confined> take();

 private:
  ConfinedBeside() = default;
  bool kill() const;

  UniqueFd process_;  ///< a pidfd; none: the work has ended
  UniqueFd output_;   ///< a file in memory
  pid_t child_ = -1;
  Nanos deadline_ = 0;
  bool late_ = false;  ///< it was told to end at the deadline
};

}  // namespace offwait
