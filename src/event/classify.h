// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "model/trace.h"
#include "offwait/event.h"

namespace offwait {

/// What a wait is known by when it ends (or, for an open one, so far).
struct WaitFacts {
  std::uint8_t waker_kind = OFFWAIT_WAKER_UNKNOWN;
  std::uint8_t fd_kind = OFFWAIT_FD_NONE;
  std::uint8_t flags = 0;
  std::int16_t syscall = OFFWAIT_NO_SYSCALL;
  std::uint16_t task_state = 0;
};

/// The wait class (doc/design.md "Terms"), by the first rule that applies:
///  1. a disk ended it, or the kernel itself calls it a wait for I/O: `disk` — `fault` if no system call was
///  interrupted
///     in a user thread, which then was in a page fault;
///  2. the interrupted system call says what is waited for: futex, poll, sleep, child, net;
///  3. read, write and the like: what the file descriptor is: `pipe`, `net`; a file: `disk` only under rule
///  1, else `lock`;
///  4. uninterruptible without being for I/O: `lock` (an in-kernel mutex, rwsem or the like);
///  5. a page fault of a user thread: `fault`;
///  6. `other`.
/// An uninterruptible wait inside one of the calls of rule 2 (a contended mmap_lock in futex(2), say) is a
/// `lock` as well. System call numbers are those of the architecture offwait is built for.
WaitClass classify(const WaitFacts& facts);

/// WaitSite::any_request.
bool waits_for_any_request(const WaitFacts& facts);

}  // namespace offwait
