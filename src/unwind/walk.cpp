// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/walk.h"

#include <algorithm>

namespace offwait {
namespace {

constexpr std::uint64_t kWordBytes = 8;

struct SignalFrame {
  std::uint64_t fp, lr, sp, pc;
};
constexpr SignalFrame kSignalX86 = {
    .fp = OFFWAIT_SIGNAL_X86_64_FP, .lr = 0, .sp = OFFWAIT_SIGNAL_X86_64_SP, .pc = OFFWAIT_SIGNAL_X86_64_PC};
constexpr SignalFrame kSignalArm64 = {.fp = OFFWAIT_SIGNAL_ARM64_FP,
                                      .lr = OFFWAIT_SIGNAL_ARM64_LR,
                                      .sp = OFFWAIT_SIGNAL_ARM64_SP,
                                      .pc = OFFWAIT_SIGNAL_ARM64_PC};

class Walk {
 public:
  Walk(Architecture architecture, const UserRegisters& registers, const FindCode& find_code,
       const ReadWord& read_word)
      : arm64_(architecture == Architecture::arm64),
        find_code_(find_code),
        read_word_(read_word),
        pc_(registers.pc),
        sp_(registers.sp),
        fp_(registers.fp),
        lr_(registers.lr) {}

  UserStack run() {
    UserStack stack;
    std::optional<offwait_stack_end> end;
    stack.pcs.push_back(pc_);
    auto code = find_code_(pc_);
    if (!code) {
      end = OFFWAIT_STACK_NO_MAPPING;
    }
    while (!end) {
      end = step(*code);
      if (end) {
        break;
      }
      if (pc_ == 0) {
        end = OFFWAIT_STACK_ROOT;
        break;
      }
      if (stack.pcs.size() == kMostFrames) {
        end = OFFWAIT_STACK_DEEP;
        break;
      }
      code = find_code_(place());
      if (!code) {
        end = OFFWAIT_STACK_NO_MAPPING;
        break;
      }
      stack.pcs.push_back(pc_);
    }
    stack.end = *end;
    return stack;
  }

 private:
  using End = std::optional<offwait_stack_end>;

  /// The address to look up: a return address lies behind its call, and possibly behind the function.
  std::uint64_t place() const { return exact_ ? pc_ : pc_ - 1; }

  bool read(std::uint64_t address, std::uint64_t& value) const {
    const auto word = read_word_(address);
    value = word.value_or(0);
    return word.has_value();
  }

  std::uint64_t return_address(std::uint64_t value) const {
    return arm64_ ? value & OFFWAIT_ARM64_ADDRESS_MASK : value;
  }

  /// The rule for code without a table, if the code itself shows it.
  std::optional<offwait_unwind_row> row_of_code() const {
    std::uint64_t code = 0;
    if (arm64_ || exact_ || !read(pc_, code) ||
        (code & OFFWAIT_X86_64_EPILOGUE_MASK) != OFFWAIT_X86_64_EPILOGUE) {
      return std::nullopt;
    }
    const auto words = static_cast<std::uint16_t>(OFFWAIT_X86_64_EPILOGUE_WORDS(code));
    return offwait_unwind_row{0, OFFWAIT_UNWIND_SP, OFFWAIT_UNWIND_FP_SAME,
                              static_cast<std::uint16_t>(words + 1)};
  }

  /// Goes to the caller, or returns why it cannot.
  End step(const MappedCode& code) {
    if (!code.has_table) {
      const std::optional<offwait_unwind_row> row = row_of_code();
      return row ? step_by_row(*row) : step_by_fp();
    }
    switch (code.row.kind & OFFWAIT_UNWIND_KIND_MASK) {
      case OFFWAIT_UNWIND_NONE: {
        // Code that was generated when the file was built (node's builtins) has frame pointers.
        const End end = step_by_fp();
        return end == OFFWAIT_STACK_NO_FP ? OFFWAIT_STACK_NO_RULE : end;
      }
      case OFFWAIT_UNWIND_STOP:
        return OFFWAIT_STACK_ROOT;
      case OFFWAIT_UNWIND_SIGNAL:
        return step_by_signal();
      default:
        return step_by_row(code.row);
    }
  }

  End step_by_signal() {
    const SignalFrame& frame = arm64_ ? kSignalArm64 : kSignalX86;
    std::uint64_t sp = 0;
    if (!read(sp_ + frame.pc, pc_) || !read(sp_ + frame.fp, fp_) || !read(sp_ + frame.sp, sp) ||
        (arm64_ && !read(sp_ + frame.lr, lr_))) {
      return OFFWAIT_STACK_UNREADABLE;
    }
    sp_ = sp;
    fp_known_ = true;
    lr_known_ = true;
    exact_ = true;
    return std::nullopt;
  }

  End step_by_row(const offwait_unwind_row& row) {
    const unsigned kind = row.kind & OFFWAIT_UNWIND_KIND_MASK;
    const bool by_fp =
        kind == OFFWAIT_UNWIND_FP || kind == OFFWAIT_UNWIND_DEREF_FP || kind == OFFWAIT_UNWIND_DEREF_FP_PLUS;
    const bool from_base = (row.kind & OFFWAIT_UNWIND_FP_FROM_BASE) != 0;
    const bool fp_at_fp = row.fp == OFFWAIT_UNWIND_FP_AT_FP;
    if ((by_fp || fp_at_fp) && !fp_known_) {
      return OFFWAIT_STACK_NO_RULE;
    }
    const std::uint64_t base = by_fp ? fp_ : sp_;
    std::uint64_t cfa = 0;
    switch (kind) {
      case OFFWAIT_UNWIND_SP:
      case OFFWAIT_UNWIND_FP:
        cfa = base + row.cfa * kWordBytes;
        break;
      case OFFWAIT_UNWIND_PLT:
        cfa = sp_ + kWordBytes + ((place() & 15U) >= row.cfa ? kWordBytes : 0);
        break;
      default:
        if (!read(base + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(row.cfa)}) *
                             kWordBytes,
                  cfa)) {
          return OFFWAIT_STACK_UNREADABLE;
        }
        if (kind == OFFWAIT_UNWIND_DEREF_SP_PLUS || kind == OFFWAIT_UNWIND_DEREF_FP_PLUS) {
          cfa += kWordBytes;
        }
    }
    const bool in_lr = (row.kind & OFFWAIT_UNWIND_RA_IN_LR) != 0;
    // Only a leaf can have an empty frame: a function that called another one has saved its return address.
    if (in_lr && !lr_known_) {
      return OFFWAIT_STACK_NO_RULE;
    }
    if (cfa < sp_ || (cfa == sp_ && !in_lr)) {
      return OFFWAIT_STACK_UNREADABLE;
    }

    const bool ra_alone = (row.kind & OFFWAIT_UNWIND_RA_ALONE) != 0;
    const std::uint64_t saved =
        (from_base ? base : cfa) + static_cast<std::uint64_t>(std::int64_t{row.fp}) * kWordBytes;
    std::uint64_t ra_place = cfa - kWordBytes;
    if (arm64_) {
      ra_place = ra_alone ? saved : saved + kWordBytes;
    }
    std::uint64_t pc = lr_;
    if (!in_lr && !read(ra_place, pc)) {
      return OFFWAIT_STACK_UNREADABLE;
    }
    if (row.fp == OFFWAIT_UNWIND_FP_LOST) {
      fp_known_ = false;
    } else if (!ra_alone && (row.fp != OFFWAIT_UNWIND_FP_SAME || from_base)) {
      if (!read(fp_at_fp ? fp_ : saved, fp_)) {
        return OFFWAIT_STACK_UNREADABLE;
      }
      fp_known_ = true;
    }
    go_to(pc, cfa);
    return std::nullopt;
  }

  End step_by_fp() {
    std::uint64_t fp = 0;
    std::uint64_t pc = 0;
    if (!fp_known_ || fp_ % kWordBytes != 0 || fp_ < sp_ || fp_ - sp_ > OFFWAIT_FARTHEST_FP) {
      return OFFWAIT_STACK_NO_FP;
    }
    if (!read(fp_, fp) || !read(fp_ + kWordBytes, pc)) {
      return OFFWAIT_STACK_UNREADABLE;
    }
    if (return_address(pc) != 0 && !find_code_(return_address(pc) - 1)) {
      return OFFWAIT_STACK_NO_FP;
    }
    const std::uint64_t cfa = fp_ + 2 * kWordBytes;
    fp_ = fp;
    go_to(pc, cfa);
    return std::nullopt;
  }

  void go_to(std::uint64_t pc, std::uint64_t cfa) {
    pc_ = return_address(pc);
    sp_ = cfa;
    lr_known_ = false;
    exact_ = false;
  }

  bool arm64_;
  const FindCode& find_code_;
  const ReadWord& read_word_;
  std::uint64_t pc_;
  std::uint64_t sp_;
  std::uint64_t fp_;
  std::uint64_t lr_;
  bool fp_known_ = true;
  bool lr_known_ = true;
  bool exact_ = true;
};

}  // namespace

UserStack walk_stack(Architecture architecture, const UserRegisters& registers, const FindCode& find_code,
                     const ReadWord& read_word) {
  return Walk(architecture, registers, find_code, read_word).run();
}

MappedCode code_at(const UnwindTable& table, std::uint64_t address) {
  MappedCode code{!table.rows.empty(), {}};
  if (address < table.base || address - table.base > UINT32_MAX) {
    return code;
  }
  const auto after =
      std::upper_bound(table.rows.begin(), table.rows.end(), address - table.base,
                       [](std::uint64_t pc, const offwait_unwind_row& row) { return pc < row.pc; });
  if (after != table.rows.begin()) {
    code.row = *(after - 1);
  }
  return code;
}

}  // namespace offwait
