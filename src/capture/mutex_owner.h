// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the holder of the pthread mutex for which a thread is blocked. glibc writes it beside the futex word.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "unwind/walk.h"

namespace offwait {

/// The tid of the owner, in the PID namespace of the process. `arguments` are those of the futex call in
/// which the thread is blocked. Nothing if the memory does not look like a locked mutex of glibc. Other locks
/// (of stdio, malloc, Go …) may call futex the same way, so the caller must check that the tid is a thread of
/// the process.
std::optional<std::int32_t> mutex_owner(const std::array<std::uint64_t, 3>& arguments,
                                        const ReadWord& read_word);

}  // namespace offwait
