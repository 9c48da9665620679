// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/classify.h"

#include <sys/syscall.h>

#include "event/syscalls.h"

namespace offwait {
namespace {

constexpr std::uint16_t kUninterruptible = 0x0002;  // TASK_UNINTERRUPTIBLE
constexpr std::uint16_t kNoLoad = 0x0400;           // TASK_NOLOAD: an idle kernel thread, not a lock
constexpr std::uint16_t kKillable = 0x0100;         // TASK_WAKEKILL
constexpr std::uint16_t kStopped = 0x000C;          // __TASK_STOPPED, __TASK_TRACED
constexpr int kFutexWaitv = 449;
constexpr int kFutexWait = 455;
constexpr int kEpollPwait2 = 441;

/// `other` for a call that does not say what it waits for.
WaitClass class_of_call(int syscall) {
  switch (syscall) {
    case SYS_futex:
    case kFutexWaitv:
    case kFutexWait:
      return WaitClass::futex;
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case kEpollPwait2:
    // Completions of any of many requests. A worker of io_uring has this call as well.
    case SYS_io_uring_enter:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
      return WaitClass::poll;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      return WaitClass::sleep;
    case SYS_wait4:
    case SYS_waitid:
#ifdef SYS_vfork
    case SYS_vfork:
#endif
      return WaitClass::child;
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_shutdown:
      return WaitClass::net;
    default:
      return WaitClass::other;
  }
}

}  // namespace

WaitClass classify(const WaitFacts& facts) {
  // The kernel counts a stopped thread as frozen, too.
  if ((facts.task_state & kStopped) != 0) return WaitClass::stopped;
  if ((facts.task_state & OFFWAIT_TASK_FROZEN) != 0) return WaitClass::frozen;
  const bool user = (facts.flags & OFFWAIT_WAIT_KTHREAD) == 0;
  const std::int16_t call = call_of_64_bits(facts.syscall);
  const bool fault = user && call == OFFWAIT_NO_SYSCALL;
  if (facts.waker_kind == OFFWAIT_WAKER_DISK || (facts.flags & OFFWAIT_WAIT_IOWAIT) != 0) {
    return fault ? WaitClass::fault : WaitClass::disk;
  }
  const bool uninterruptible =
      (facts.task_state & kUninterruptible) != 0 && (facts.task_state & kNoLoad) == 0;
  // posix_spawn's clone(CLONE_VFORK) waits for the child killably. A contended mmap_lock in it would look the
  // same, for microseconds.
  if (uninterruptible && (facts.task_state & kKillable) != 0 && (call == SYS_clone || call == SYS_clone3)) {
    return WaitClass::child;
  }
  const WaitClass by_call = user ? class_of_call(call) : WaitClass::other;
  if (by_call == WaitClass::child) return by_call;
  if (uninterruptible) return fault ? WaitClass::fault : WaitClass::lock;
  if (by_call != WaitClass::other) return by_call;
  switch (facts.fd_kind) {
    case OFFWAIT_FD_PIPE:
      return WaitClass::pipe;
    case OFFWAIT_FD_SOCKET:
      return WaitClass::net;
    case OFFWAIT_FD_FILE:
      return WaitClass::lock;
    default:
      break;
  }
  return fault ? WaitClass::fault : WaitClass::other;
}

bool waits_for_any_request(const WaitFacts& facts) {
  if (classify(facts) != WaitClass::disk || (facts.flags & OFFWAIT_WAIT_KTHREAD) != 0) return false;
  return class_of_call(call_of_64_bits(facts.syscall)) == WaitClass::poll;
}

}  // namespace offwait
