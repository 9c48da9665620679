// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "model/trace.h"
#include "offwait/event.h"

namespace offwait {

/// What the class of a wait follows from, as in offwait_wait. For a wait that is still open the waker is not
/// known.
struct WaitFacts {
  std::uint8_t waker_kind = OFFWAIT_WAKER_UNKNOWN;
  std::uint8_t fd_kind = OFFWAIT_FD_NONE;
  std::uint8_t flags = 0;
  std::int16_t syscall = OFFWAIT_NO_SYSCALL;
  std::uint16_t task_state = 0;
};

/// The wait class (doc/design.md "Terms"). The first rule that applies decides:
///  0. A signal or a debugger has stopped the thread, or its cgroup is frozen: `stopped`, `frozen`.
///  1. A disk ended the wait, or the kernel itself calls it a wait for I/O: `disk`, or `fault` if a user
///     thread waits outside of any system call, because it is in a page fault.
///  2. The interrupted system call says what is waited for: futex, poll, sleep, child, net.
///  3. The interrupted call is a read, write or the like: its file descriptor says what is waited for: `pipe`
///     or `net`. For a file it is `lock`, since rule 1 has taken the waits for its disk.
///  4. The wait is uninterruptible without being for I/O: `lock` (an in-kernel mutex, rwsem or the like).
///  5. A user thread is in a page fault: `fault`.
///  6. `other`.
/// An uninterruptible wait inside one of the calls of rule 2 (a contended mmap_lock in futex(2), say) is a
/// `lock` as well. System call numbers are those of the architecture that offwait is built for.
WaitClass classify(const WaitFacts& facts);

/// Whether the wait is over when any of the requests under way is done (WaitSite::any_request).
bool waits_for_any_request(const WaitFacts& facts);

}  // namespace offwait
