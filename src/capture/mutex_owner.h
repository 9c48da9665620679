// SPDX-License-Identifier: GPL-2.0-or-later
// Who holds the pthread mutex that a thread is blocked on. glibc writes it beside the futex word.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "unwind/walk.h"

namespace offwait {

/// The tid of the owner, in the PID namespace of the process. `arguments`: those of the futex call that the
/// thread is blocked in. Nothing if it does not look like a locked mutex of glibc's: other locks (of stdio,
/// malloc, Go …) may call futex the same way, so that the tid has to be looked up among the process' threads.
std::optional<std::int32_t> mutex_owner(const std::array<std::uint64_t, 3>& arguments,
                                        const ReadWord& read_word);

}  // namespace offwait
