// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/process_memory.h"

#include <catch2/catch.hpp>
#include <cstring>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/threads.h"

namespace offwait {

TEST_CASE("words of a process's memory are read, also across pages; where there is no memory there is none") {
  constexpr std::size_t kPage = 4096;
  auto* const memory = static_cast<char*>(
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory + 2 * kPage, kPage, PROT_NONE) == 0);
  const auto at = reinterpret_cast<std::uint64_t>(memory);
  std::uint64_t number = 0x0123456789abcdef;
  std::memcpy(memory + kPage - 3, &number, sizeof number);
  ProcessMemory own(getpid());
  CHECK(own.word(at + kPage - 3) == number);
  CHECK(own.word(at + kPage + 8) == 0U);
  CHECK(own.word(at + 2 * kPage - 8) == 0U);
  CHECK(own.word(at + 2 * kPage - 7) == std::nullopt);
  CHECK(own.word(at + 2 * kPage) == std::nullopt);
  CHECK(own.word(at + 3 * kPage) == 0U);
  CHECK(own.word(0) == std::nullopt);
  CHECK(own.word(UINT64_MAX) == std::nullopt);
  CHECK(own.word(UINT64_MAX - 7) == std::nullopt);
  // The bytes stay as they were first read until forget().
  number = 7;
  std::memcpy(memory + kPage - 3, &number, sizeof number);
  CHECK(own.word(at + kPage - 3) == 0x0123456789abcdef);
  own.forget();
  CHECK(own.word(at + kPage - 3) == 7U);
  munmap(memory, 4 * kPage);
}

TEST_CASE("a thread's number in its own PID namespace is the last one of NSpid") {
  CHECK(innermost_tid("Name:\tx\nNSpid:\t1234\n") == 1234);
  CHECK(innermost_tid("Name:\tNSpid:\t9\nNSpid:\t1234\t56\t7\nNSpgid:\t1\t2\t3\n") == 7);
  for (const char* text : {"", "NSpid:\t1\n", "\nNSpid:\n", "\nNSpid:\t12", "\nNSpid:\t0\n", "\nNSpid:\t-1\n",
                           "\nNSpid:\tx\n", "\nNSpid:\t99999999999\n"}) {
    CHECK(innermost_tid(text) == std::nullopt);
  }
  const auto tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  CHECK(thread_of_process(getpid(), tid) == tid);
  CHECK(thread_of_process(getpid(), 1) == std::nullopt);
  CHECK(thread_of_process(getpid(), 0x7fffffff) == std::nullopt);
}

}  // namespace offwait
