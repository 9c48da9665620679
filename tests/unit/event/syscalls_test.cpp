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

}  // namespace
}  // namespace offwait
