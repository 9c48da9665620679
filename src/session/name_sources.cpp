// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/name_sources.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "capture/privileges.h"
#include "process/command.h"
#include "process/process_root.h"

namespace offwait {

Status write_java_perf_map(std::int32_t tgid) {
  const std::string process = "process " + std::to_string(tgid);
  const std::optional<ProcessStatus> status = process_status(tgid);
  if (!status) return Error{fmt::format("--java: {} is gone", process)};
  if ((status->caught_signals >> (SIGQUIT - 1) & 1U) == 0) {
    return Error{
        fmt::format("--java: {} does not handle SIGQUIT, with which jcmd would call its JVM", process)};
  }
  if (status->uid != ::geteuid() && !has_capability(CAP_SETUID)) {
    return Error{
        fmt::format("--java: jcmd has to be run by user {}, as {} is: run offwait as that user or as root",
                    status->uid, process)};
  }
  const auto output = run_command({{"jcmd", std::to_string(tgid), "Compiler.perfmap"},
                                   CommandUser{status->uid, status->gid},
                                   std::chrono::seconds(10),
                                   1U << 20U});
  if (!output)
    return Error{fmt::format("--java: {} for {} (JDK 17 or later has it)", output.error().message, process)};
  return success();
}

DebugServer debuginfod(std::vector<std::string>& notes) {
  return [&notes, asks = std::make_shared<bool>(true)](const std::string& build_id) -> std::string {
    constexpr std::chrono::seconds kLongest{30};
    if (!*asks) return {};
    const char* const servers = std::getenv("DEBUGINFOD_URLS");
    if (servers == nullptr || *servers == '\0') {
      *asks = false;
      notes.emplace_back("--debuginfod: DEBUGINFOD_URLS names no servers");
      return {};
    }
    const Nanos begin = monotonic_now();
    const auto path =
        run_command({{"debuginfod-find", "debuginfo", build_id}, std::nullopt, kLongest, 1U << 16U});
    if (path) return path->substr(0, path->find('\n'));
    // An error usually means that the servers do not have the file, which is no reason to stop asking.
    const bool slow = monotonic_now() - begin >= std::chrono::nanoseconds(kLongest).count();
    if (slow || path.error().message.ends_with("cannot be run")) {
      *asks = false;
      notes.push_back("--debuginfod: " + path.error().message);
    }
    return {};
  };
}

}  // namespace offwait
