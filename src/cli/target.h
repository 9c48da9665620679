// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// A process or thread that exists and can be waited for.
struct Target {
  std::int32_t tgid = 0;
  std::int32_t tid = 0;  ///< 0: the whole process
  UniqueFd process;      ///< a pidfd: readable when the process has exited
  std::string label;     ///< "pid 1234"
  std::string comm;      ///< hostile bytes
};

/// Fails, with a sentence each, when there is no such process, when it is a kernel thread, when the number is
/// a thread's and not a process's, and when it has exited but was not waited for yet.
Result<Target> find_process(std::int32_t pid);
Result<Target> find_thread(std::int32_t tid);

/// False once the target has exited.
bool is_alive(const Target& target);

}  // namespace offwait
