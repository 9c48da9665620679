// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace offwait {

/// The number here of the system call that has `number` on `architecture` (`x86_64` or `aarch64`, as uname -m
/// says), or of one that waits for the same; OFFWAIT_SYSCALL_UNKNOWN for one that classify() does not tell
/// from others. Numbers of this architecture and OFFWAIT_NO_SYSCALL stay as they are.
std::int16_t native_syscall(std::string_view architecture, std::int16_t number);

/// The number here of the call for which threads wait as for `number`, if that is of a 32-bit program
/// (OFFWAIT_CALL_OF_32_BITS); OFFWAIT_SYSCALL_UNKNOWN for one that classify() does not tell from others. All
/// other numbers stay as they are.
std::int16_t call_of_64_bits(std::int16_t number);

/// What `uname -m` says where this program runs.
std::string_view native_architecture();

}  // namespace offwait
