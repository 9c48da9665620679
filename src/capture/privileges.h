// SPDX-License-Identifier: GPL-2.0-or-later
// What this process may do, and giving that up.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace offwait {

/// A capability without which nothing is recorded.
struct NeededCapability {
  const char* name;  ///< "CAP_BPF"
  int number;
  const char* use;  ///< what for
};

std::span<const NeededCapability> needed_capabilities();

/// Is it effective? CAP_SYS_ADMIN includes CAP_BPF, CAP_PERFMON and CAP_CHECKPOINT_RESTORE.
bool has_capability(int number);

/// Does /proc/kallsyms show no addresses to this process alone, for want of CAP_SYSLOG? Not when
/// kernel.kptr_restrict hides them from everybody.
bool kernel_symbols_hidden_from_us();

/// Is this the host's PID namespace? In another one processes have other numbers than in the kernel.
bool in_host_pid_namespace();

/// Is this the host's user namespace? The capabilities of another one do not count for BPF.
bool in_host_user_namespace();

/// Success if this process may record: the needed capabilities are effective, in the host's namespaces.
/// Otherwise the error names those that are missing, and says how to give them.
Status check_privileges();

/// What is left to be done.
enum class Remaining : std::uint8_t {
  recording,  ///< reading BPF maps and making more; and what follows
  naming,     ///< reading what processes have mapped, the kernel's symbols; and what follows
  analysis,   ///< nothing that needs a capability
};

/// Whether other programs are going to be run, and as which user.
enum class Commands : std::uint8_t { none, as_own_user, as_any_user };

/// Gives up, for good, every capability that the remaining work does not need. Programs that are run later
/// get none of them, except that programs run by root have what root has. If no programs are going to be run,
/// nothing that this process executes can gain privileges any more. `ends_child`: signals are going to be
/// sent to a child, which may have become another user. Call it while the process has one thread.
Status give_up_privileges(Remaining remaining, Commands commands, bool ends_child);

}  // namespace offwait
