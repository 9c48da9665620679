// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/lock_addresses.h"

#include <catch2/catch.hpp>
#include <set>

#include "unit/event/recordings.h"

namespace offwait {
namespace {

using Places = std::set<LockAddresses::Place>;

TEST_CASE("a futex is a place in each process that its thread's tid belonged to") {
  LockAddresses locks;
  locks.add_wait(OFFWAIT_OBJECT_FUTEX, 5, 0x1004);
  CHECK(locks.places().empty());
  locks.add_thread(5, 50);
  locks.add_thread(5, 60);
  locks.add_thread(6, 70);
  // Both words of a condition variable are called by the first.
  CHECK(locks.places() == Places{{50, 0x1000}, {50, 0x1004}, {60, 0x1000}, {60, 0x1004}});
}

TEST_CASE("a thread that has exited is forgotten, and what it waited for is not") {
  LockAddresses locks;
  locks.add_thread(5, 50);
  locks.add_exit(5, 50);
  locks.add_wait(OFFWAIT_OBJECT_FUTEX, 5, 0x1000);  // its waits may be added after its exit
  locks.add_wait(OFFWAIT_OBJECT_FUTEX, 6, 0x3000);  // of a thread that nothing was told of yet
  locks.forget_exited();
  CHECK(locks.places() == Places{{50, 0x1000}});
  locks.add_thread(5, 60);  // the tid belongs to another process now
  locks.add_wait(OFFWAIT_OBJECT_FUTEX, 5, 0x2000);
  CHECK(locks.places() == Places{{50, 0x1000}, {60, 0x2000}});
  locks.add_exit(6, 70);
  locks.forget_exited();
  CHECK(locks.places() == Places{{50, 0x1000}, {60, 0x2000}, {70, 0x3000}});
  CHECK(locks.is_in(50));
  CHECK(locks.is_in(70));
  CHECK_FALSE(locks.is_in(55));
}

TEST_CASE("locks beyond the bound are left out") {
  LockAddresses locks;
  for (std::uint64_t i = 1; i <= LockAddresses::kMostPlaces + 10; ++i)
    locks.add_wait(OFFWAIT_OBJECT_MUTEX, 5, 0xffff800000000000 + 16 * i);
  CHECK(locks.places().size() == LockAddresses::kMostPlaces);
}

TEST_CASE("locks of the kernel are places in the kernel; other objects are none") {
  LockAddresses locks;
  locks.add_thread(5, 50);
  locks.add_wait(OFFWAIT_OBJECT_MUTEX, 5, 0xffff800000000010);
  locks.add_wait(OFFWAIT_OBJECT_RWSEM, 7, 0xffff800000000020);
  locks.add_wait(OFFWAIT_OBJECT_MMAP_LOCK, 5, 0xffff800000000030);
  locks.add_wait(OFFWAIT_OBJECT_FILE, 5, 9);
  locks.add_wait(OFFWAIT_OBJECT_PEER, 5, 9);
  locks.add_wait(OFFWAIT_OBJECT_FUTEX, 5, 0);
  CHECK(locks.places() == Places{{0, 0xffff800000000010}, {0, 0xffff800000000020}});
}

TEST_CASE("a recording has the locks of its waits, and of waits that are open at its end") {
  test::RecordingByHand hand(1000, 2000);
  hand.seen(5, 900, 900);
  offwait_wait wait = test::wait_of(5, 1100, 1200, 1300, test::kTimer);
  wait.flags = OFFWAIT_OBJECT_FUTEX << OFFWAIT_OBJECT_SHIFT;
  wait.object = 0x1000;
  hand.append(wait);
  offwait_thread& left = hand.left(6, 900, OFFWAIT_STATE_BLOCKED, 1500);
  left.tgid = 60;
  left.object_kind = OFFWAIT_OBJECT_SHARED_FUTEX;
  left.object = 0x2000;
  LockAddresses locks;
  locks.add(hand.recording);
  CHECK(locks.places() == Places{{10, 0x1000}, {60, 0x2000}});
}

}  // namespace
}  // namespace offwait
