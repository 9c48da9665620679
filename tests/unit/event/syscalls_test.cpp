// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/syscalls.h"

#include <catch2/catch.hpp>

#include <sys/syscall.h>

#include "event/classify.h"
#include "offwait/event.h"

namespace offwait {
namespace {

WaitClass class_of(std::string_view architecture, std::int16_t number) {
  WaitFacts facts;
  facts.syscall = native_syscall(architecture, number);
  return classify(facts);
}

TEST_CASE("numbers of this architecture stay") {
  for (const int number : {-2, -1, 0, SYS_futex, 441, 9999}) {
    const auto narrow = static_cast<std::int16_t>(number);
    CHECK(native_syscall(native_architecture(), narrow) == narrow);
  }
}

TEST_CASE("waits have the same class on every architecture") {
  struct Known {
    std::int16_t x86_64;
    std::int16_t arm64;
    WaitClass wait_class;
  };
  for (const Known& known :
       {Known{202, 98, WaitClass::futex}, Known{271, 73, WaitClass::poll}, Known{281, 22, WaitClass::poll},
        Known{35, 101, WaitClass::sleep}, Known{61, 260, WaitClass::child}, Known{45, 207, WaitClass::net},
        Known{449, 449, WaitClass::futex}}) {
    CHECK(class_of("x86_64", known.x86_64) == known.wait_class);
    CHECK(class_of("aarch64", known.arm64) == known.wait_class);
  }
}

TEST_CASE("calls of another architecture that say nothing are unknown, and no call stays none") {
  const std::string_view other = native_architecture() == "x86_64" ? "aarch64" : "x86_64";
  CHECK(native_syscall(other, 17) == OFFWAIT_SYSCALL_UNKNOWN);
  CHECK(native_syscall(other, OFFWAIT_NO_SYSCALL) == OFFWAIT_NO_SYSCALL);
  CHECK(native_syscall("riscv64", 98) == OFFWAIT_SYSCALL_UNKNOWN);
}

TEST_CASE("waits of 32-bit programs have the class of the 64-bit call") {
  const auto class_in_32_bits = [](int number) {
    WaitFacts facts;
    facts.syscall = static_cast<std::int16_t>(OFFWAIT_CALL_OF_32_BITS | number);
    return classify(facts);
  };
  struct Known {
    int i386;
    WaitClass wait_class;
  };
  for (const Known& known :
       {Known{240, WaitClass::futex}, Known{422, WaitClass::futex}, Known{168, WaitClass::poll},
        Known{142, WaitClass::poll}, Known{256, WaitClass::poll}, Known{162, WaitClass::sleep},
        Known{407, WaitClass::sleep}, Known{7, WaitClass::child}, Known{114, WaitClass::child},
        Known{102, WaitClass::net}, Known{371, WaitClass::net}, Known{449, WaitClass::futex},
        // The numbers of futex, poll and nanosleep in 64 bits are those of others here.
        Known{202, WaitClass::other}, Known{35, WaitClass::other}, Known{3, WaitClass::other}}) {
    INFO(known.i386);
    CHECK(class_in_32_bits(known.i386) == known.wait_class);
  }
}

TEST_CASE("numbers that are not of a 32-bit program stay") {
  for (const int number : {-2, -1, 0, SYS_futex, 441}) {
    const auto narrow = static_cast<std::int16_t>(number);
    CHECK(call_of_64_bits(narrow) == narrow);
  }
}

}  // namespace
}  // namespace offwait
