// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the privileges of this process, and gives them up.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace offwait {

/// A capability without which nothing is recorded.
struct NeededCapability {
  const char* name;  ///< "CAP_BPF"
  int number;
  const char* use;  ///< what it is needed for
};

std::span<const NeededCapability> needed_capabilities();

/// Whether the capability is effective. CAP_SYS_ADMIN includes CAP_BPF, CAP_PERFMON and
/// CAP_CHECKPOINT_RESTORE.
bool has_capability(int number);

/// Whether /proc/kallsyms hides addresses from this process because it lacks CAP_SYSLOG. False if
/// kernel.kptr_restrict hides them from every process.
bool kernel_symbols_hidden_from_us();

/// Whether this is the host's PID namespace. In another one processes have other numbers than in the kernel.
bool in_host_pid_namespace();

/// Whether this is the host's user namespace. The capabilities of another one do not count for BPF.
bool in_host_user_namespace();

/// Succeeds if this process may record: the needed capabilities are effective in the host's namespaces.
/// Otherwise the error names the missing ones and says how to give them.
Status check_privileges();

/// Fails in a PID or user namespace that is not the host's. Numbers of processes mean others there.
Status check_namespaces();

/// The work that still has to be done.
enum class Remaining : std::uint8_t {
  recording,  ///< reading BPF maps and making more of them, before other threads; then naming and analysis
  naming,     ///< reading the mappings of processes and the kernel's symbols; then analysis
  analysis,   ///< needs no capability
};

/// Whether other programs will be run, and as which user.
enum class Commands : std::uint8_t { none, as_own_user, as_any_user };

/// Gives up, for good, every capability that the remaining work does not need. Programs that are run later
/// get none of them, except that programs run by root have root's. If no programs will be run, nothing that
/// this process executes can gain privileges any more. `ends_child`: this process will send signals to a
/// child, which may run as another user by then. Call it while the process has one thread, but for those that
/// have given up theirs.
Status give_up_privileges(Remaining remaining, Commands commands, bool ends_child);

/// For a command that records nothing: gives up the capabilities of the executable (setcap), so that it opens
/// what the user may open and nothing else. Root keeps its own. Call it while the process has one thread.
Status give_up_lent_privileges();

}  // namespace offwait
