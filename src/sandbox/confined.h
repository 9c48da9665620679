// SPDX-License-Identifier: GPL-2.0-or-later
// Work on hostile input in a process that can do nothing but compute: libraries that read ELF files and DWARF
// are not made for files that lie, and offwait has capabilities that nobody should get hold of through them.
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
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offwait {

struct Confinement {
  std::vector<int> descriptors;  ///< stay open, under their numbers; all others are closed
  std::chrono::seconds cpu_time{10};
  std::chrono::milliseconds wall_time{30'000};
  std::uint64_t memory = std::uint64_t{2} << 30U;  ///< bytes of address space beyond what this process has
  std::size_t output = std::size_t{256} << 20U;    ///< bytes
};

enum class ConfinedEnd {
  done,           ///< the work returned
  crashed,        ///< by a signal of its own making, or an exception
  forbidden,      ///< it called for what it may not do
  out_of_memory,  ///< std::bad_alloc; a library that takes null for an answer may end otherwise
  out_of_time,    ///< of either kind
  too_much_output,
};

struct Confined {
  std::string output;  ///< all that was written, also if what came then went wrong; cut where it was too much
  ConfinedEnd end = ConfinedEnd::done;
};

/// The work's way out. Written at once, so that it outlives the work.
class ConfinedOutput {
 public:
  explicit ConfinedOutput(int fd) : fd_(fd) {}
  void write(std::string_view bytes) const;

 private:
  int fd_;
};

/// Runs `work` in a copy of this process (what it changes is lost) that has no capabilities, no descriptors
/// but those given, cannot gain privileges, and may by a seccomp filter only read, seek and map what it was
/// given, manage its own memory and signals, and write to `ConfinedOutput`. Opening files fails with EACCES,
/// so that a library that looks for more finds nothing; any other system call ends the work. Standard streams
/// are closed as well. Waits for its end. An Error only if the process cannot be made; one that cannot be
/// confined does not do the work, and is an Error, too. To fork and confine takes about half a millisecond.
Result<Confined> run_confined(const std::function<void(const ConfinedOutput&)>& work,
                              const Confinement& confinement = {});

}  // namespace offwait
