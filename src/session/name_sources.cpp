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
#include "process/program_path.h"

namespace offwait {

Status check_name_sources(bool java, bool debuginfod) {
  if (java && !program_path("jcmd")) {
    return Error{
        "--java needs jcmd, and there is none in PATH: install a JDK of version 17 or later (on Debian "
        "openjdk-17-jdk-headless), or add its directory bin to PATH"};
  }
  if (!debuginfod) return success();
  if (!program_path("debuginfod-find")) {
    return Error{
        "--debuginfod needs debuginfod-find, and there is none in PATH: install it (on Debian the package "
        "debuginfod)"};
  }
  const char* const servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') {
    return Error{
        "--debuginfod needs the addresses of servers in DEBUGINFOD_URLS: set it (sudo does not pass it on), "
        "as in 'sudo DEBUGINFOD_URLS=https://debuginfod.debian.net offwait ...'"};
  }
  return success();
}

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
