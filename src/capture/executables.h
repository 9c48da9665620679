// SPDX-License-Identifier: GPL-2.0-or-later
// Reads which program each recorded process runs, while it lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/nanos.h"
#include "event/recording.h"
#include "process/running_program.h"

namespace offwait {

class Executables {
 public:
  /// Takes what the kernel told of a thread. Its process is asked when it is first heard of, and after an
  /// exec. A process that is gone by then runs what its parent did, or after an exec a program that is not
  /// known.
  void note(const offwait_thread_record& thread);

  /// Asks the processes again that are a fifth of a second old: a server that forks gives a child its title
  /// a little later.
  void read_if_due();
  /// Adds what was found so far.
  void add_to(KernelRecording& recording) const;
  /// Asks all processes that still live, and adds what was found.
  void end(KernelRecording& recording);
  /// Drops what is known of threads that have exited and that nobody will ask for.
  void forget(const std::vector<ThreadKey>& threads);
  /// The same for all threads that have exited, because a recording has them (add_to()).
  void forget_exited();

 private:
  struct Process {
    ThreadKey main;             ///< tid 0: the main thread was not heard of
    std::uint32_t program = 0;  ///< index as in KernelRecording::program_of
  };
  struct Due {
    std::int32_t tgid = 0;
    Nanos at = 0;
  };

  std::uint32_t number_of(const ProcessProgram& program);
  std::uint32_t program_after(const offwait_thread_record& thread, bool exec);
  void ask_again(std::int32_t tgid);
  /// Numbers the programs anew if most of them are no thread's any more.
  void drop_unused();

  std::map<ProcessProgram, std::uint32_t> numbers_;
  std::map<ThreadKey, std::uint32_t> program_of_;
  std::unordered_map<std::int32_t, Process> processes_;            ///< that live, by tgid
  std::unordered_map<std::uint32_t, std::uint32_t> last_program_;  ///< by tid, of those that live
  std::deque<Due> due_;                                            ///< in order of time
};

}  // namespace offwait
