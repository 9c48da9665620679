// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/privileges.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/read_file.h"

namespace offwait {
namespace {

constexpr std::array kNeeded = {
    NeededCapability{"CAP_BPF", CAP_BPF, "BPF programs and maps"},
    NeededCapability{"CAP_PERFMON", CAP_PERFMON, "reading the kernel's memory in BPF, and CPU samples"},
    NeededCapability{"CAP_SYS_PTRACE", CAP_SYS_PTRACE, "what the target has mapped, and its memory"},
    NeededCapability{"CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, "the target's files"},
};

/// All needed capabilities, as setcap(8) takes them.
constexpr const char* kSetcap = "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep";

constexpr Capabilities kInSysAdmin = bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_CHECKPOINT_RESTORE);

/// Whether the namespace is the first of its kind, which has a fixed number (the kernel's PROC_*_INIT_INO).
bool is_first_namespace(const char* path, ino_t number) {
  struct stat status {};
  return ::stat(path, &status) == 0 && status.st_ino == number;
}

std::string own_path() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : "offwait";
}

}  // namespace

std::span<const NeededCapability> needed_capabilities() { return kNeeded; }

bool has_capability(int number) {
  const Capabilities effective = own_capabilities().effective;
  return (effective & bit(number)) != 0 ||
         ((kInSysAdmin & bit(number)) != 0 && (effective & bit(CAP_SYS_ADMIN)) != 0);
}

bool kernel_symbols_hidden_from_us() {
  return !has_capability(CAP_SYSLOG) && read_file("/proc/sys/kernel/kptr_restrict") != "2\n";
}

bool in_host_pid_namespace() { return is_first_namespace("/proc/self/ns/pid", 0xEFFFFFFCU); }

bool in_host_user_namespace() { return is_first_namespace("/proc/self/ns/user", 0xEFFFFFFDU); }

Status check_privileges() {
  std::string missing;
  bool obtainable = true;
  for (const NeededCapability& one : kNeeded) {
    if (has_capability(one.number)) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(one.name);
    obtainable = obtainable && ::prctl(PR_CAPBSET_READ, one.number, 0, 0, 0) == 1;
  }
  if (!missing.empty()) {
    const std::string how =
        obtainable
            ? fmt::format(
                  "run offwait with sudo, or let everybody here record, and so read the memory of every "
                  "process: sudo setcap {} {}",
                  kSetcap, own_path())
            : "they have to be given to the container or service that offwait runs in";
    return Error{fmt::format("recording needs privileges that this process lacks: {}; {}", missing, how)};
  }
  return check_namespaces();
}

Status check_namespaces() {
  if (!in_host_user_namespace()) {
    return Error{
        "this is a user namespace, whose capabilities do not reach the kernel: run offwait outside of it"};
  }
  if (!in_host_pid_namespace()) {
    return Error{
        "this is a PID namespace, in which processes have other numbers than in the kernel: run offwait "
        "outside of it, or in a container that shares the host's (--pid=host, hostPID: true)"};
  }
  return success();
}

Status give_up_lent_privileges() {
  if (::getuid() == 0 || own_capabilities().permitted == 0) return success();
  return give_up_privileges(Remaining::analysis, Commands::none, false);
}

Status give_up_privileges(Remaining remaining, Commands commands, bool ends_child) {
  Capabilities kept = 0;
  const Capabilities permitted = own_capabilities().permitted;
  if (remaining != Remaining::analysis) {
    kept = bit(CAP_SYS_PTRACE) | bit(CAP_DAC_READ_SEARCH) | bit(CAP_CHECKPOINT_RESTORE) | bit(CAP_SYSLOG);
    if (commands == Commands::as_any_user) kept |= bit(CAP_SETUID) | bit(CAP_SETGID);
    if (ends_child) kept |= bit(CAP_KILL);
  }
  if (remaining == Remaining::recording) {
    kept |= (permitted & bit(CAP_BPF)) != 0 ? bit(CAP_BPF) : bit(CAP_SYS_ADMIN);
    kept |= bit(CAP_SYS_NICE);
  }

  const bool runs_commands = remaining != Remaining::analysis && commands != Commands::none;
  if (!runs_commands) {
    // Dropping needs CAP_SETPCAP. Without it no_new_privs still keeps later programs from gaining privileges.
    for (int capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;) ++capability;
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      return Error{std::string("cannot give up gaining privileges: ") + std::strerror(errno)};
  }
  if (!set_capabilities(permitted & kept))
    return Error{std::string("cannot give up capabilities: ") + std::strerror(errno)};
  return success();
}

}  // namespace offwait
