// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/classify.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include <sys/syscall.h>

namespace offwait {
namespace {

constexpr std::uint16_t kInterruptible = 0x1;
constexpr std::uint16_t kUninterruptible = 0x2;
constexpr std::uint16_t kKillable = 0x102;
constexpr std::uint16_t kIdle = 0x402;  // TASK_IDLE

std::string class_of(const WaitFacts& facts) { return std::string(to_string(classify(facts))); }

WaitFacts in_call(long syscall, std::uint16_t task_state = kInterruptible) {
  WaitFacts facts;
  facts.waker_kind = OFFWAIT_WAKER_THREAD;
  facts.syscall = static_cast<std::int16_t>(syscall);
  facts.task_state = task_state;
  return facts;
}

WaitFacts in_read(offwait_fd_kind fd, std::uint16_t task_state = kInterruptible) {
  WaitFacts facts = in_call(SYS_read, task_state);
  facts.fd_kind = static_cast<std::uint8_t>(fd);
  return facts;
}

struct Call {
  long number;
  const char* wait_class;
};

/// Every system call that says what it waits for, and some that do not.
constexpr auto kCalls = std::to_array<Call>({
    {SYS_futex, "futex"},
    {449, "futex"},  // futex_waitv
    {455, "futex"},  // futex_wait
#ifdef SYS_poll
    {SYS_poll, "poll"},
    {SYS_select, "poll"},
    {SYS_epoll_wait, "poll"},
    {SYS_vfork, "child"},
#endif
    {SYS_ppoll, "poll"},
    {SYS_pselect6, "poll"},
    {SYS_epoll_pwait, "poll"},
    {441, "poll"},  // epoll_pwait2
    {SYS_nanosleep, "sleep"},
    {SYS_clock_nanosleep, "sleep"},
    {SYS_wait4, "child"},
    {SYS_waitid, "child"},
    {SYS_accept, "net"},
    {SYS_accept4, "net"},
    {SYS_connect, "net"},
    {SYS_recvfrom, "net"},
    {SYS_recvmsg, "net"},
    {SYS_recvmmsg, "net"},
    {SYS_sendto, "net"},
    {SYS_sendmsg, "net"},
    {SYS_sendmmsg, "net"},
    {SYS_shutdown, "net"},
    {SYS_read, "other"},
    {SYS_fsync, "other"},
    {SYS_rt_sigsuspend, "other"},
    {SYS_clone, "other"},
    {SYS_io_getevents, "poll"},
    {SYS_io_pgetevents, "poll"},
    {SYS_io_uring_enter, "poll"},
    {0x7fff, "other"},
});

TEST_CASE("a disk, or what the kernel calls a wait for I/O, is class disk whatever the call") {
  for (const std::uint16_t state : {kInterruptible, kUninterruptible, kKillable}) {
    for (const Call& call : kCalls) {
      WaitFacts facts = in_call(call.number, state);
      facts.waker_kind = OFFWAIT_WAKER_DISK;
      CHECK(class_of(facts) == "disk");
      facts.waker_kind = OFFWAIT_WAKER_THREAD;
      facts.flags = OFFWAIT_WAIT_IOWAIT;
      CHECK(class_of(facts) == "disk");
      facts.flags = OFFWAIT_WAIT_IOWAIT | OFFWAIT_WAIT_RACED;
      CHECK(class_of(facts) == "disk");
    }
  }
}

TEST_CASE("a user thread that waits for a disk outside of a system call is in a page fault") {
  WaitFacts facts = in_call(OFFWAIT_NO_SYSCALL, kUninterruptible);
  facts.waker_kind = OFFWAIT_WAKER_DISK;
  CHECK(class_of(facts) == "fault");
  facts.waker_kind = OFFWAIT_WAKER_UNKNOWN;
  facts.flags = OFFWAIT_WAIT_IOWAIT;
  CHECK(class_of(facts) == "fault");
  facts.flags = OFFWAIT_WAIT_IOWAIT | OFFWAIT_WAIT_KTHREAD;
  CHECK(class_of(facts) == "disk");
  facts.flags = OFFWAIT_WAIT_KTHREAD;
  facts.waker_kind = OFFWAIT_WAKER_DISK;
  CHECK(class_of(facts) == "disk");
}

TEST_CASE("an interruptible wait is what its system call says") {
  for (const Call& call : kCalls) {
    CAPTURE(call.number);
    for (const int waker : {OFFWAIT_WAKER_UNKNOWN, OFFWAIT_WAKER_THREAD, OFFWAIT_WAKER_NIC,
                            OFFWAIT_WAKER_TIMER, OFFWAIT_WAKER_IRQ, OFFWAIT_WAKER_SOFTIRQ}) {
      WaitFacts facts = in_call(call.number);
      facts.waker_kind = static_cast<std::uint8_t>(waker);
      CHECK(class_of(facts) == call.wait_class);
      facts.flags = OFFWAIT_WAIT_RACED;
      CHECK(class_of(facts) == call.wait_class);
    }
  }
}

TEST_CASE("an uninterruptible wait inside a call is a lock, except for a child") {
  for (const Call& call : kCalls) {
    CAPTURE(call.number);
    const std::string expected = std::string(call.wait_class) == "child" ? "child" : "lock";
    CHECK(class_of(in_call(call.number, kUninterruptible)) == expected);
  }
}

TEST_CASE("posix_spawn waits killably in clone for its child") {
  CHECK(class_of(in_call(SYS_clone, kKillable)) == "child");
  CHECK(class_of(in_call(435, kKillable)) == "child");  // clone3
  CHECK(class_of(in_call(SYS_clone, kUninterruptible)) == "lock");
  CHECK(class_of(in_call(SYS_mmap, kKillable)) == "lock");
}

TEST_CASE("read and the like wait for what the descriptor is") {
  CHECK(class_of(in_read(OFFWAIT_FD_PIPE)) == "pipe");
  CHECK(class_of(in_read(OFFWAIT_FD_SOCKET)) == "net");
  CHECK(class_of(in_read(OFFWAIT_FD_FILE)) == "lock");
  CHECK(class_of(in_read(OFFWAIT_FD_CHAR)) == "other");
  CHECK(class_of(in_read(OFFWAIT_FD_ANON)) == "other");
  CHECK(class_of(in_read(OFFWAIT_FD_NONE)) == "other");
}

TEST_CASE("an uninterruptible read is a lock, whatever the descriptor is") {
  for (const offwait_fd_kind fd : {OFFWAIT_FD_NONE, OFFWAIT_FD_FILE, OFFWAIT_FD_PIPE, OFFWAIT_FD_SOCKET,
                                   OFFWAIT_FD_CHAR, OFFWAIT_FD_ANON}) {
    CHECK(class_of(in_read(fd, kUninterruptible)) == "lock");
  }
}

TEST_CASE("a kernel thread has no call: uninterruptible is a lock, idle and interruptible are other") {
  const auto kernel_thread = [](std::uint16_t state, long syscall = OFFWAIT_NO_SYSCALL) {
    WaitFacts facts = in_call(syscall, state);
    facts.flags = OFFWAIT_WAIT_KTHREAD;
    return class_of(facts);
  };
  CHECK(kernel_thread(kUninterruptible) == "lock");
  CHECK(kernel_thread(kIdle) == "other");
  CHECK(kernel_thread(kInterruptible) == "other");
  CHECK(kernel_thread(kInterruptible, SYS_futex) == "other");
}

TEST_CASE("a user thread outside of a system call is in a page fault") {
  CHECK(class_of(in_call(OFFWAIT_NO_SYSCALL, kInterruptible)) == "fault");
  CHECK(class_of(in_call(OFFWAIT_NO_SYSCALL, kUninterruptible)) == "fault");
  CHECK(class_of(in_call(OFFWAIT_NO_SYSCALL, kKillable)) == "fault");
}

TEST_CASE(
    "a wait for any request is one for a disk in a call that returns when the first of several is done") {
  const auto any = [](long syscall, std::uint8_t waker, std::uint8_t flags = 0) {
    WaitFacts facts = in_call(syscall);
    facts.waker_kind = waker;
    facts.flags = flags;
    return waits_for_any_request(facts);
  };
  for (const long syscall : {long{SYS_io_getevents}, long{SYS_io_pgetevents}, long{SYS_io_uring_enter},
                             long{SYS_ppoll}, long{SYS_epoll_pwait}}) {
    CHECK(any(syscall, OFFWAIT_WAKER_DISK));
    CHECK_FALSE(any(syscall, OFFWAIT_WAKER_THREAD));
    CHECK_FALSE(any(syscall, OFFWAIT_WAKER_DISK, OFFWAIT_WAIT_KTHREAD));
  }
  for (const long syscall :
       {long{SYS_fsync}, long{SYS_pread64}, long{SYS_io_submit}, long{OFFWAIT_NO_SYSCALL}}) {
    CHECK_FALSE(any(syscall, OFFWAIT_WAKER_DISK));
  }
}

TEST_CASE("a thread that a signal or a debugger has stopped is class stopped, whatever it was doing") {
  for (const std::uint16_t stopped : {std::uint16_t{0x4}, std::uint16_t{0x8}, std::uint16_t{0x108}}) {
    for (const long call : {long{SYS_futex}, long{SYS_clock_nanosleep}, long{OFFWAIT_NO_SYSCALL}}) {
      CHECK(class_of(in_call(call, stopped)) == "stopped");
      CHECK(class_of(in_call(call, OFFWAIT_TASK_FROZEN | kInterruptible)) == "frozen");
    }
  }
}

TEST_CASE("any combination of facts has a class") {
  for (unsigned bits = 0; bits < 1U << 16U; ++bits) {
    WaitFacts facts;
    facts.waker_kind = static_cast<std::uint8_t>(bits);
    facts.fd_kind = static_cast<std::uint8_t>(bits >> 4U);
    facts.flags = static_cast<std::uint8_t>(bits >> 8U);
    facts.syscall = static_cast<std::int16_t>(bits);
    facts.task_state = static_cast<std::uint16_t>(bits * 40503U);
    REQUIRE(static_cast<std::size_t>(classify(facts)) < kWaitClasses);
  }
}

}  // namespace
}  // namespace offwait
