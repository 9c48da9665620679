// SPDX-License-Identifier: GPL-2.0-or-later
// Walks a user stack with the unwind tables, as the BPF programs do (offwait/unwind.h). All that it knows of
// the process comes through its arguments, so tests can invent a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "offwait/event.h"
#include "offwait/unwind.h"
#include "unwind/eh_frame.h"

namespace offwait {

/// Registers of a thread at the place where it left user mode.
struct UserRegisters {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;  ///< rbp, x29
  std::uint64_t lr = 0;  ///< x30; x86_64 has none
};

/// The executable mapping at an address.
struct MappedCode {
  bool has_table = false;    ///< without one (JIT), frame pointers are tried
  offwait_unwind_row row{};  ///< the row that holds at the address
};

using FindCode = std::function<std::optional<MappedCode>(std::uint64_t address)>;
/// The eight bytes at an address; nothing if they cannot be read.
using ReadWord = std::function<std::optional<std::uint64_t>(std::uint64_t address)>;

struct UserStack {
  /// Leaf first: the pc, in any case, and then return addresses, each in mapped code.
  std::vector<std::uint64_t> pcs;
  offwait_stack_end end = OFFWAIT_STACK_ROOT;
};

inline constexpr std::size_t kMostFrames = OFFWAIT_STACK_FRAMES;

/// A return address of 0 ends the stack as an outermost frame does. Each caller's sp must be above its
/// callee's, except in a frame that a signal interrupted; so the walk ends whatever the memory holds.
UserStack walk_stack(Architecture architecture, const UserRegisters& registers, const FindCode& find_code,
                     const ReadWord& read_word);

/// The code at a virtual address of the file.
MappedCode code_at(const UnwindTable& table, std::uint64_t address);

}  // namespace offwait
