// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/privileges.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <string>

#include <linux/capability.h>

namespace offwait {
namespace {

/// CapEff of this process; none if it cannot be read.
std::uint64_t effective_capabilities() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("CapEff:", 0) == 0) return std::stoull(line.substr(7), nullptr, 16);
  }
  return 0;
}

}  // namespace

Status check_privileges() {
  struct Needed {
    const char* name;
    int capability;
    bool in_sys_admin;
  };
  constexpr std::array kNeeded = {Needed{"CAP_BPF", CAP_BPF, true}, Needed{"CAP_PERFMON", CAP_PERFMON, true},
                                  Needed{"CAP_SYS_PTRACE", CAP_SYS_PTRACE, false},
                                  Needed{"CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, false}};
  const std::uint64_t effective = effective_capabilities();
  const auto has = [effective](int capability) { return (effective >> capability & 1) != 0; };
  std::string missing;
  for (const Needed& needed : kNeeded) {
    if (has(needed.capability) || (needed.in_sys_admin && has(CAP_SYS_ADMIN))) continue;
    if (!missing.empty()) missing += ", ";
    missing += needed.name;
  }
  if (missing.empty()) return success();
  return Error{"recording needs privileges that this process lacks: " + missing +
               "; run offwait as root, for example with sudo"};
}

}  // namespace offwait
