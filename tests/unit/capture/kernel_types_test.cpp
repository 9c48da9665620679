// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/kernel_types.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
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

// The recorder goes by what the BTF says, never by version; mainline's history is what it is compared with.
TEST_CASE("what the running kernel's types say is what its version says") {
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
  // Two variables of one per-CPU section: not the same one, and not a section apart.
  CHECK(types->preempt_count_from_run_queue != 0);
  CHECK(std::llabs(types->preempt_count_from_run_queue) < 1 << 20);
#else
  CHECK(types->preempt_count_from_run_queue == 0);
#endif
}

}  // namespace
}  // namespace offwait
