// SPDX-License-Identifier: GPL-2.0-or-later
// The calls by which programs use files, by the names of functions in libc and in the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/frame.h"

namespace offwait {

/// What a call does with a file: it makes sure that what was written is on a disk (fsync and the like), or
/// writes, or reads, or it is not known.
enum class FileAction : std::uint8_t { sync, write, read, other };
inline constexpr std::size_t kFileActions = 4;
/// `call` is as of call_of().
FileAction action_of(std::string_view call);
/// Whether the call may write to a file, and make sure of it at once. `call` is as of call_of().
bool may_write(std::string_view call);

/// The system call that a frame of the kernel begins, or `page fault`; of a user frame, the call whose action
/// is known and that libc calls so. Empty if the frame is neither. Variants have one name:
/// `__x64_sys_pwrite64` and `__libc_pwrite` are `pwrite`.
std::string_view call_of(const Frame& frame);

/// A function of libc has several names, and two recordings may have different ones:
/// `__libc_sendmsg`, `__sendmsg`, `sendmsg`; `pwrite`, `pwrite64`. This is the shortest; empty if nothing is
/// left.
std::string_view without_alias(std::string_view function);

}  // namespace offwait
