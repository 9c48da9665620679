// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <sys/syscall.h>

#include "assembled.h"

namespace offwait {
namespace {

using test::by_thread;
using test::gap_of;
using test::io_of;
using test::kTimer;
using test::kVda;
using test::Lines;
using test::only;
using test::preemption_of;
using test::RecordingByHand;
using test::trace_of;
using test::two_threads;
using test::wait_of;

TEST_CASE("a wake that overtook the switch-out makes a wait of no length with its waker") {
  RecordingByHand t = two_threads();
  offwait_wait raced = wait_of(11, 1100, 1100, 1150, by_thread(12));
  raced.flags = OFFWAIT_WAIT_RACED;
  t.append(raced);
  t.wait(12, 1200, 1190, 1250, by_thread(11));
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1100,1150) futex <- thread 12@600",
                                           "wait 12@600 [1200,1200,1250) futex <- thread 11@500"});
}

/// A wait that ended by a packet that `sender` sent `in_flight` ns before, through interface 1.
offwait_wait delivered(std::uint32_t tid, std::uint64_t block, std::uint64_t wake, std::uint64_t run,
                       std::uint32_t sender, std::uint32_t in_flight) {
  offwait_wait wait = wait_of(tid, block, wake, run, by_thread(sender));
  wait.flags = OFFWAIT_WAIT_SENT;
  wait.waker_nic = 1;
  wait.in_flight_ns = in_flight;
  return wait;
}

TEST_CASE("a wait for a packet is cut at the send") {
  RecordingByHand t = two_threads();
  t.recording.nics = {{1, "lo"}};
  t.stack(6, 10, {3});
  SECTION("for the sender up to it, for the interface after it") {
    offwait_wait wait = delivered(11, 1100, 1200, 1250, 12, 30);
    wait.waker_user = 6;
    t.append(wait);
    CHECK(only("wait", trace_of(t)) ==
          Lines{"wait 11@500 [1100,1170,1170) futex <- thread 12@600 waker_stack u10:3",
                "wait 11@500 [1170,1200,1250) futex <- nic lo in flight"});
  }
  SECTION("the send may be when the wait began, or before") {
    t.append(delivered(11, 1100, 1200, 1250, 12, 100));
    t.append(delivered(11, 1300, 1400, 1450, 12, 150));
    CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1100,1100) futex <- thread 12@600",
                                             "wait 11@500 [1100,1200,1250) futex <- nic lo in flight",
                                             "wait 11@500 [1300,1300,1300) futex <- thread 12@600",
                                             "wait 11@500 [1300,1400,1450) futex <- nic lo in flight"});
  }
  SECTION("the sender may sleep by the time it arrives, also where the wait is empty") {
    t.wait(12, 1180, 1500, 1510, kTimer);
    t.append(delivered(11, 1100, 1200, 1250, 12, 30));
    t.append(delivered(11, 1300, 1300, 1350, 12, 150));
    const Lines lines = trace_of(t);
    CHECK(only("wait 11", lines) == Lines{"wait 11@500 [1100,1170,1170) futex <- thread 12@600",
                                          "wait 11@500 [1170,1200,1250) futex <- nic lo in flight",
                                          "wait 11@500 [1300,1300,1350) futex <- thread 12@600"});
    CHECK(only("loss", lines).empty());
  }
  SECTION("if the sender or the time of the send is not known, the wait is for the interface alone") {
    t.append(delivered(11, 1100, 1200, 1250, 77, 30));
    t.append(delivered(11, 1300, 1400, 1450, 12, UINT32_MAX));
    CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1200,1250) futex <- nic lo",
                                             "wait 11@500 [1300,1400,1450) futex <- nic lo"});
  }
  SECTION("a wait of a thread that was woken and has not run yet is cut too") {
    t.recording.threads.clear();
    offwait_thread& left = t.left(11, 500, OFFWAIT_STATE_BLOCKED, 1800);
    left.wake_ns = 1900;
    left.waker_kind = OFFWAIT_WAKER_THREAD;
    left.waker_id = 12;
    left.waker_nic = 1;
    left.in_flight_ns = 40;
    left.syscall = 202;
    t.left(12, 600, OFFWAIT_STATE_RUNNING, 1000);
    const Lines waits = only("wait", trace_of(t));
    REQUIRE(waits.size() == 2);
    CHECK(waits[0].find("wait 11@500 [1800,1860,1860) ") == 0);
    CHECK(waits[1].find("wait 11@500 [1860,1900,-) ") == 0);
  }
}

TEST_CASE("intervals of a thread may touch") {
  RecordingByHand t = two_threads();
  t.wait(11, 1100, 1200, 1300, by_thread(12));
  t.append(preemption_of(11, 1300, 1400));
  t.append(gap_of(11, 1400, 1500));
  t.wait(11, 1500, 1500, 1500, by_thread(12));
  t.wait(11, 1500, 1600, 1600, by_thread(12));
  CHECK(trace_of(t) == Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000",
                             "wait 11@500 [1100,1200,1300) futex <- thread 12@600",
                             "wait 11@500 [1500,1500,1500) futex <- thread 12@600",
                             "wait 11@500 [1500,1600,1600) futex <- thread 12@600",
                             "preempt 11@500 [1300,1400)", "gap 11@500 [1400,1500)"});
}

TEST_CASE("the class of a wait is that of its facts") {
  RecordingByHand t = two_threads();
  offwait_wait read = wait_of(11, 1100, 1110, 1110, by_thread(12));
  read.syscall = SYS_read;
  read.fd_kind = OFFWAIT_FD_SOCKET;
  t.append(read);
  offwait_wait kernel = wait_of(11, 1200, 1210, 1210, by_thread(12));
  kernel.flags = OFFWAIT_WAIT_KTHREAD;
  kernel.task_state = 2;
  t.append(kernel);
  offwait_wait fault = wait_of(11, 1300, 1310, 1310, {OFFWAIT_WAKER_DISK, kVda});
  fault.syscall = OFFWAIT_NO_SYSCALL;
  t.append(fault);
  t.recording.disks[kVda] = "vda";
  CHECK(only("wait", trace_of(t)) == Lines{"wait 11@500 [1100,1110,1110) net <- thread 12@600",
                                           "wait 11@500 [1200,1210,1210) lock <- thread 12@600",
                                           "wait 11@500 [1300,1310,1310) fault <- disk vda"});
}

TEST_CASE("equal sites are one") {
  RecordingByHand t = two_threads();
  for (std::uint64_t at = 1100; at < 1200; at += 10) t.wait(11, at, at + 5, at + 5, by_thread(12));
  t.wait(11, 1300, 1310, 1310, kTimer);
  const Trace trace = t.trace();
  CHECK(trace.sites.size() == 2);
  CHECK(trace.waits.size() == 11);
}

TEST_CASE("wakers that are no threads have the names that the kernel gives them") {
  RecordingByHand t = two_threads();
  t.recording.disks = {{kVda, "vda"}};
  t.recording.nics = {{2, "eth0"}};
  t.recording.interrupts = {{24, "virtio0-config"}};
  std::uint64_t at = 1000;
  const auto woken_by = [&t, &at](offwait_waker_kind kind, std::uint32_t id) {
    t.wait(11, at, at + 1, at + 1, {kind, id});
    at += 2;
  };
  woken_by(OFFWAIT_WAKER_DISK, kVda);
  woken_by(OFFWAIT_WAKER_DISK, 8 << 20 | 16);
  woken_by(OFFWAIT_WAKER_NIC, 2);
  woken_by(OFFWAIT_WAKER_NIC, 3);
  woken_by(OFFWAIT_WAKER_TIMER, 5);
  woken_by(OFFWAIT_WAKER_TIMER, 6);
  woken_by(OFFWAIT_WAKER_IRQ, 24);
  woken_by(OFFWAIT_WAKER_IRQ, 25);
  woken_by(OFFWAIT_WAKER_IRQ, OFFWAIT_IRQ_OTHER);
  woken_by(OFFWAIT_WAKER_IRQ, OFFWAIT_IRQ_IDLE);
  for (std::uint32_t vector = 0; vector < 11; ++vector) woken_by(OFFWAIT_WAKER_SOFTIRQ, vector);
  woken_by(OFFWAIT_WAKER_SOFTIRQ, OFFWAIT_SOFTIRQ_RAISED);
  woken_by(OFFWAIT_WAKER_DISK, kVda);
  Lines lines = trace_of(t);
  lines.erase(lines.begin(), lines.begin() + 2);
  lines.resize(21);
  CHECK(lines == Lines{"disk vda",       "disk 8388624",       "nic eth0",         "nic 3",
                       "timer",          "irq virtio0-config", "irq 25",           "irq other",
                       "irq idle",       "softirq HI",         "softirq TIMER",    "softirq NET_TX",
                       "softirq NET_RX", "softirq BLOCK",      "softirq IRQ_POLL", "softirq TASKLET",
                       "softirq SCHED",  "softirq HRTIMER",    "softirq RCU",      "softirq unknown",
                       "softirq raised"});
}

TEST_CASE("requests and counters are kept for disks that a thread waited for, within the window") {
  RecordingByHand t = two_threads();
  t.recording.disks = {{kVda, "vda"}, {kVda + 16, "vdb"}};
  t.append(io_of(11, kVda, 1100, 1200, 4096));
  t.append(io_of(0, kVda, 1150, 1250, 512));
  t.append(io_of(77, kVda, 1160, 1260, 1024));
  t.append(io_of(11, kVda, 900, 1001, 1));
  t.append(io_of(11, kVda, 1999, 2100, 2));
  t.append(io_of(11, kVda, 900, 1000, 3));
  t.append(io_of(11, kVda, 2000, 2100, 4));
  t.append(io_of(11, kVda, 1300, 1299, 5));
  t.append(io_of(11, kVda + 16, 1100, 1200, 6));
  t.wait(11, 1100, 1200, 1210, {OFFWAIT_WAKER_DISK, kVda});
  t.recording.disk_counters = {{kVda, 990, 100, 1}, {kVda + 16, 990, 100, 1}, {kVda, 2010, 300, 3}};
  CHECK(trace_of(t) ==
        Lines{"thread 10/11 main [500,-) seen 1000", "thread 10/12 peer [600,-) seen 1000", "disk vda",
              "wait 11@500 [1100,1200,1210) disk <- disk vda", "sample vda 990 100 1",
              "sample vda 2010 300 3", "io 11@500 vda [1100,1200) 4096", "io - vda [1150,1250) 512",
              "io - vda [1160,1260) 1024", "io 11@500 vda [900,1001) 1", "io 11@500 vda [1999,2100) 2"});
}

TEST_CASE("the Recording and the capacities of disks are left to the caller") {
  RecordingByHand t = two_threads();
  t.wait(11, 1100, 1200, 1210, {OFFWAIT_WAKER_DISK, kVda});
  const Trace trace = t.trace();
  CHECK(trace.recording.target.empty());
  CHECK(trace.recording.cpus == 0);
  CHECK(trace.capacities.empty());
}

}  // namespace
}  // namespace offwait
