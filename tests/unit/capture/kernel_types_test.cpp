// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/kernel_types.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <sys/utsname.h>
#include <unistd.h>

namespace offwait {
namespace {

std::pair<int, int> kernel_version() {
  utsname host{};
  REQUIRE(::uname(&host) == 0);
  char* minor = nullptr;
  const long major = std::strtol(host.release, &minor, 10);
  return {static_cast<int>(major), static_cast<int>(std::strtol(minor + 1, nullptr, 10))};
}

// The recorder goes by the BTF and never by the version; the test compares it with mainline's history.
TEST_CASE("the running kernel's types match its version") {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    WARN("skipped: this kernel has no BTF");
    return;
  }
  const Result<KernelTypes> types = read_kernel_types();
  if (!types.ok()) FAIL(types.error().message);
  const std::pair<int, int> version = kernel_version();
  CAPTURE(version.first, version.second);
  if (version >= std::pair(5, 18)) CHECK(types->sched_switch_has_prev_state);
  if (version >= std::pair(5, 11)) CHECK_FALSE(types->block_rq_has_queue);
  if (version < std::pair(5, 10)) CHECK(types->block_rq_has_queue);
#if defined(__x86_64__)
  // These are two different variables of one per-CPU section, so they are close to each other.
  CHECK(types->preempt_count_from_run_queue != 0);
  CHECK(std::llabs(types->preempt_count_from_run_queue) < 1 << 20);
#else
  CHECK(types->preempt_count_from_run_queue == 0);
#endif
}

TEST_CASE("a symbol's address is read from its own line") {
  constexpr std::string_view kText =
      "0000000000000000 A __per_cpu_start\n"
      "000000000001fb80 A __preempt_count\n"
      "0000000000033440 A runqueues\n"
      "ffffffffc0aa0000 t outer_runqueues\n"
      "ffffffffc0bb0000 d elsewhere\t[module]\n"
      "zz A broken\n"
      " A short\n";
  CHECK(symbol_address(kText, "runqueues") == 0x33440);
  CHECK(symbol_address(kText, "__preempt_count") == 0x1fb80);
  CHECK(symbol_address(kText, "__per_cpu_start") == 0);
  for (const char* name : {"runqueue", "elsewhere", "broken", "short", "A"})
    CHECK(symbol_address(kText, name) == std::nullopt);
  CHECK(symbol_address("", "runqueues") == std::nullopt);
  CHECK(symbol_address(" runqueues\n", "runqueues") == std::nullopt);
}

}  // namespace
}  // namespace offwait
