// SPDX-License-Identifier: GPL-2.0-or-later
// How long an instruction of x86_64 is, and what it does to the stack pointer and to the frame pointer (Intel
// SDM volume 2, chapter 2 and appendix A).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace offwait {

struct X86Instruction {
  enum class Does : std::uint8_t {
    other,         ///< nothing to sp
    push,          ///< sp -= 8
    pop,           ///< sp += 8
    push_fp,       ///< as push, of the frame pointer
    pop_fp,        ///< as pop, into the frame pointer
    move_sp,       ///< sp += value
    sp_to_fp,      ///< fp = sp + value
    fp_to_sp,      ///< sp = fp + value
    leave,         ///< sp = fp, and then pop_fp
    save_fp,       ///< stores fp at sp + value
    set_sp,        ///< sp has a value that the instruction alone does not tell
    clear_fp,      ///< fp = 0
    address,       ///< value: how far behind the instruction the place is whose address it takes
    call,          ///< value: how far behind the instruction the function is
    jump,          ///< the same, of where it goes on
    branch,        ///< the same, if it jumps
    goes_nowhere,  ///< ends the flow: returns, traps or jumps to an address that is not known
    returns,
  };
  Does does = Does::other;
  std::size_t size = 0;  ///< bytes; 0: no instruction
  std::int64_t value = 0;
};

/// The first instruction of the code.
X86Instruction x86_instruction(std::string_view code);

}  // namespace offwait
