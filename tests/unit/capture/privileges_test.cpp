// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/privileges.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace offwait {
namespace {

using Capabilities = std::uint64_t;
constexpr Capabilities bit(int capability) { return Capabilities{1} << capability; }
constexpr Capabilities kNeeded =
    bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYS_PTRACE) | bit(CAP_DAC_READ_SEARCH);

bool set_effective(Capabilities effective) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  data[0].effective = static_cast<std::uint32_t>(effective);
  data[1].effective = static_cast<std::uint32_t>(effective >> 32);
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

/// The error of check_privileges() in a child with exactly these effective capabilities: "" for success,
/// "cannot" when this process may not have them.
std::string with(Capabilities effective) {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string answer = "cannot";
    if (set_effective(effective)) {
      const Status status = check_privileges();
      answer = status.ok() ? "" : status.error().message;
    }
    const bool written =
        ::write(pipe[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string answer(4096, '\0');
  std::size_t size = 0;
  for (ssize_t got = 0; (got = ::read(pipe[0], answer.data() + size, answer.size() - size)) > 0;)
    size += static_cast<std::size_t>(got);
  ::close(pipe[0]);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  answer.resize(size);
  return answer;
}

std::string lacks(const std::string& names) {
  return "recording needs privileges that this process lacks: " + names +
         "; run offwait with sudo, or let everybody here record, and so read the memory of every process: "
         "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep " +
         std::filesystem::read_symlink("/proc/self/exe").string();
}

TEST_CASE("without any capability all four are named") {
  CHECK(with(0) == lacks("CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH"));
}

TEST_CASE("exactly the capabilities that are missing are named") {
  if (with(kNeeded | bit(CAP_SYS_ADMIN)) == "cannot") {
    WARN("skipped: this process may not have these capabilities");
    return;
  }
  CHECK(with(kNeeded).empty());
  CHECK(with(kNeeded & ~bit(CAP_BPF)) == lacks("CAP_BPF"));
  CHECK(with(kNeeded & ~bit(CAP_PERFMON)) == lacks("CAP_PERFMON"));
  CHECK(with(kNeeded & ~bit(CAP_SYS_PTRACE)) == lacks("CAP_SYS_PTRACE"));
  CHECK(with(kNeeded & ~bit(CAP_DAC_READ_SEARCH)) == lacks("CAP_DAC_READ_SEARCH"));
  CHECK(with(bit(CAP_PERFMON) | bit(CAP_SYS_PTRACE)) == lacks("CAP_BPF, CAP_DAC_READ_SEARCH"));
  // CAP_SYS_ADMIN includes the first two and no other.
  CHECK(with(bit(CAP_SYS_ADMIN)) == lacks("CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH"));
  CHECK(with(bit(CAP_SYS_ADMIN) | bit(CAP_SYS_PTRACE) | bit(CAP_DAC_READ_SEARCH)).empty());
  // Other capabilities do not help.
  CHECK(with(bit(CAP_CHOWN) | bit(CAP_KILL)) ==
        lacks("CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH"));
}

}  // namespace
}  // namespace offwait
