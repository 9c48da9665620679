// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/call_frame.h"

#include <array>
#include <limits>

#include <dwarf.h>

namespace offwait {
namespace {

using How = RegisterRule::How;
using Form = CallFrame::Form;
using Base = CallFrame::Base;

constexpr std::int64_t kWord = 8;
// GCC and LLVM nest remembered states two deep.
constexpr std::size_t kMostRemembered = 64;

/// DWARF's numbers of the registers that rules use.
struct RegisterNumbers {
  std::uint64_t sp;
  std::uint64_t fp;
  std::uint64_t ra;
};
constexpr RegisterNumbers registers_of(Architecture architecture) {
  return architecture == Architecture::arm64 ? RegisterNumbers{31, 29, 30} : RegisterNumbers{7, 6, 16};
}

/// A location as the expressions of compilers and of hand-written assembly compute it.
struct Location {
  Form form = Form::unknown;
  Base base = Base::other;
  std::int64_t offset = 0;
  std::int64_t added = 0;
};

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

class Program {
 public:
  Program(Architecture architecture, const EhFrameSection& section)
      : arm64_(architecture == Architecture::arm64),
        registers_(registers_of(architecture)),
        section_(section) {}

  /// Executes the call frame instructions from `cursor` on `frame`. Before each change of the place in the
  /// code it calls `advance(distance or address, absolute)`, which returns whether to go on. Returns false if
  /// an instruction is not understood or the bytes end in the middle of one.
  template <class Advance>
  bool run(Cursor cursor, const CommonInformation& cie, CallFrame& frame, const Advance& advance) const {
    std::vector<CallFrame> remembered;
    while (!cursor.at_end()) {
      const auto opcode = cursor.fixed<std::uint8_t>();
      const std::uint8_t operand = opcode & 0x3fU;
      switch (opcode & 0xc0U) {
        case DW_CFA_advance_loc:
          if (!advance(operand * cie.code_alignment, false)) {
            return true;
          }
          continue;
        case DW_CFA_offset:
          set(frame, operand, {How::at_cfa, factored(cursor, cie)});
          continue;
        case DW_CFA_restore:
          restore(frame, operand, cie.initial);
          continue;
        default:
          break;
      }
      switch (opcode) {
        case DW_CFA_set_loc: {
          const auto place = read_pointer(cursor, cie.pointer_encoding, section_);
          if (!place) {
            return false;
          }
          if (!advance(*place, true)) {
            return true;
          }
          break;
        }
        case DW_CFA_advance_loc1:
          if (!advance(cursor.fixed<std::uint8_t>() * cie.code_alignment, false)) {
            return !cursor.failed();
          }
          break;
        case DW_CFA_advance_loc2:
          if (!advance(cursor.fixed<std::uint16_t>() * cie.code_alignment, false)) {
            return !cursor.failed();
          }
          break;
        case DW_CFA_advance_loc4:
          if (!advance(cursor.fixed<std::uint32_t>() * cie.code_alignment, false)) {
            return !cursor.failed();
          }
          break;
        case DW_CFA_remember_state:
          if (remembered.size() == kMostRemembered) {
            return false;
          }
          remembered.push_back(frame);
          break;
        case DW_CFA_restore_state:
          if (remembered.empty()) {
            return false;
          }
          frame = remembered.back();
          remembered.pop_back();
          break;
        default:
          if (!change_cfa(opcode, cursor, cie, frame) && !change_register(opcode, cursor, cie, frame) &&
              !skip(opcode, cursor)) {
            return false;
          }
      }
    }
    return !cursor.failed();
  }

  UnwindRule rule_of(const CallFrame& frame, bool signal) const {
    if (signal) {
      return {OFFWAIT_UNWIND_SIGNAL, 0, 0};
    }
    if (frame.ra.how == How::undefined) {
      return {OFFWAIT_UNWIND_STOP, 0, 0};
    }
    if (frame.sp.how != How::same) {
      return {};
    }
    const UnwindRule rule = cfa_rule(frame);
    if (rule.kind == OFFWAIT_UNWIND_NONE) {
      return rule;
    }
    return arm64_ ? with_saved_arm64(frame, rule) : with_saved_x86_64(frame, rule);
  }

 private:
  /// An unsigned offset, which is stored in units of the data alignment.
  static std::int64_t factored(Cursor& cursor, const CommonInformation& cie) {
    return static_cast<std::int64_t>(cursor.uleb() * static_cast<std::uint64_t>(cie.data_alignment));
  }

  /// A signed offset, which is stored in units of the data alignment.
  static std::int64_t factored_signed(Cursor& cursor, const CommonInformation& cie) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(cursor.sleb()) *
                                     static_cast<std::uint64_t>(cie.data_alignment));
  }

  /// Executes an instruction that says where the CFA is; returns false, with nothing read, if `opcode` is
  /// another one.
  /// Inlined, because these instructions are frequent: a call would add 8 % to the time for a whole table.
  [[gnu::always_inline]] bool change_cfa(std::uint8_t opcode, Cursor& cursor, const CommonInformation& cie,
                                         CallFrame& frame) const {
    switch (opcode) {
      case DW_CFA_def_cfa: {
        const std::uint64_t number = cursor.uleb();
        define(frame, base_of(number), static_cast<std::int64_t>(cursor.uleb()));
        return true;
      }
      case DW_CFA_def_cfa_sf: {
        const std::uint64_t number = cursor.uleb();
        define(frame, base_of(number), factored_signed(cursor, cie));
        return true;
      }
      case DW_CFA_def_cfa_register:
        redefine(frame, base_of(cursor.uleb()), frame.offset);
        return true;
      case DW_CFA_def_cfa_offset:
        redefine(frame, frame.base, static_cast<std::int64_t>(cursor.uleb()));
        return true;
      case DW_CFA_def_cfa_offset_sf:
        redefine(frame, frame.base, factored_signed(cursor, cie));
        return true;
      case DW_CFA_def_cfa_expression: {
        const Location cfa = evaluate(cursor.bytes(cursor.uleb()));
        frame.form = cfa.form;
        frame.base = cfa.base;
        frame.offset = cfa.offset;
        frame.added = cfa.added;
        return true;
      }
      default:
        return false;
    }
  }

  /// Executes an instruction that says where a register of the caller is; returns false, with nothing read,
  /// if `opcode` is another one.
  bool change_register(std::uint8_t opcode, Cursor& cursor, const CommonInformation& cie,
                       CallFrame& frame) const {
    switch (opcode) {
      case DW_CFA_restore_extended:
        restore(frame, cursor.uleb(), cie.initial);
        return true;
      case DW_CFA_offset_extended:
      case DW_CFA_offset_extended_sf:
      case DW_CFA_GNU_negative_offset_extended:
      case DW_CFA_undefined:
      case DW_CFA_same_value:
      case DW_CFA_register:
      case DW_CFA_val_offset:
      case DW_CFA_val_offset_sf:
      case DW_CFA_expression:
      case DW_CFA_val_expression: {
        const std::uint64_t number = cursor.uleb();
        set(frame, number, read_rule(opcode, number, cursor, cie));
        return true;
      }
      default:
        return false;
    }
  }

  /// The rule that `opcode` sets for the register `number`, which has been read already.
  RegisterRule read_rule(std::uint8_t opcode, std::uint64_t number, Cursor& cursor,
                         const CommonInformation& cie) const {
    switch (opcode) {
      case DW_CFA_offset_extended:
        return {How::at_cfa, factored(cursor, cie)};
      case DW_CFA_offset_extended_sf:
        return {How::at_cfa, factored_signed(cursor, cie)};
      case DW_CFA_GNU_negative_offset_extended:
        return {How::at_cfa, static_cast<std::int64_t>(-static_cast<std::uint64_t>(factored(cursor, cie)))};
      case DW_CFA_undefined:
        return {How::undefined, 0};
      case DW_CFA_same_value:
        return {How::same, 0};
      case DW_CFA_register:
        return {cursor.uleb() == number ? How::same : How::lost, 0};
      case DW_CFA_val_offset:
        return {How::lost, factored(cursor, cie)};
      case DW_CFA_val_offset_sf:
        return {How::lost, factored_signed(cursor, cie)};
      case DW_CFA_expression:
        return saved_at(evaluate(cursor.bytes(cursor.uleb())));
      default:  // DW_CFA_val_expression: the value itself is computed, and not supported
        (void)cursor.bytes(cursor.uleb());
        return {How::lost, 0};
    }
  }

  /// Reads an instruction that changes no rule; returns false if `opcode` is none of these.
  bool skip(std::uint8_t opcode, Cursor& cursor) const {
    switch (opcode) {
      case DW_CFA_nop:
        return true;
      case DW_CFA_GNU_args_size:
        (void)cursor.uleb();
        return true;
      case DW_CFA_AARCH64_negate_ra_state:
        // The walk removes the signature from every return address, so it does not matter which ones are
        // signed.
        return arm64_;
      default:
        return false;
    }
  }

  Base base_of(std::uint64_t number) const {
    return number == registers_.sp ? Base::sp : number == registers_.fp ? Base::fp : Base::other;
  }

  void set(CallFrame& frame, std::uint64_t number, RegisterRule rule) const {
    if (number == registers_.fp) {
      frame.fp = rule;
    } else if (number == registers_.ra) {
      frame.ra = rule;
    } else if (number == registers_.sp) {
      frame.sp = rule;
    }
  }

  void restore(CallFrame& frame, std::uint64_t number, const CallFrame& initial) const {
    set(frame, number,
        number == registers_.fp   ? initial.fp
        : number == registers_.ra ? initial.ra
                                  : initial.sp);
  }

  static void define(CallFrame& frame, Base base, std::int64_t offset) {
    frame.form = Form::plain;
    frame.base = base;
    frame.offset = offset;
    frame.added = 0;
  }

  static void redefine(CallFrame& frame, Base base, std::int64_t offset) {
    if (frame.form == Form::plain) {
      define(frame, base, offset);
    } else {
      frame.form = Form::unknown;
    }
  }

  static RegisterRule saved_at(const Location& location) {
    if (location.form == Form::plain && location.base != Base::other) {
      return {location.base == Base::fp ? How::at_fp : How::at_sp, location.offset};
    }
    return {How::lost, 0};
  }

  Location evaluate(std::string_view expression) const {
    const Location plt = evaluate_plt(expression);
    if (plt.form != Form::unknown) {
      return plt;
    }
    Cursor cursor(expression);
    Location location;
    const auto first = cursor.fixed<std::uint8_t>();
    if (first >= DW_OP_breg0 && first <= DW_OP_breg31) {
      location.base = base_of(first - DW_OP_breg0);
    } else if (first == DW_OP_bregx) {
      location.base = base_of(cursor.uleb());
    } else {
      return {};
    }
    location.offset = sum(cursor.sleb(), added_to(cursor));
    if (!cursor.at_end()) {
      if (cursor.fixed<std::uint8_t>() != DW_OP_deref) {
        return {};
      }
      location.added = added_to(cursor);
      location.form = Form::deref;
    } else {
      location.form = Form::plain;
    }
    return cursor.at_end() && !cursor.failed() ? location : Location{};
  }

  static std::int64_t added_to(Cursor& cursor) {
    Cursor next = cursor;
    if (!next.at_end() && next.fixed<std::uint8_t>() == DW_OP_plus_uconst) {
      const auto added = static_cast<std::int64_t>(next.uleb());
      cursor = next;
      return added;
    }
    return 0;
  }

  /// `rsp + 8 + ((rip & 15) >= n) << 3`: the linkers' one FDE for all of the PLT, whose entries push a word.
  Location evaluate_plt(std::string_view expression) const {
    constexpr std::array<std::uint8_t, 11> kPattern = {DW_OP_breg7, 8,         DW_OP_breg16, 0,
                                                       DW_OP_lit15, DW_OP_and, DW_OP_lit0,   DW_OP_ge,
                                                       DW_OP_lit3,  DW_OP_shl, DW_OP_plus};
    constexpr std::size_t kVariable = 6;
    if (arm64_ || expression.size() != kPattern.size()) {
      return {};
    }
    const auto variable = static_cast<std::uint8_t>(expression[kVariable]);
    for (std::size_t i = 0; i < kPattern.size(); ++i) {
      if (i != kVariable && static_cast<std::uint8_t>(expression[i]) != kPattern.at(i)) {
        return {};
      }
    }
    if (variable < DW_OP_lit0 || variable > DW_OP_lit15) {
      return {};
    }
    return {Form::plt, Base::sp, variable - DW_OP_lit0, 0};
  }

  static UnwindRule cfa_rule(const CallFrame& frame) {
    UnwindRule rule;
    if (frame.form == Form::unknown || frame.base == Base::other) {
      return rule;
    }
    if (frame.form == Form::plt) {
      return {OFFWAIT_UNWIND_PLT, 0, static_cast<std::uint16_t>(frame.offset)};
    }
    if (frame.offset % kWord != 0) {
      return rule;
    }
    const std::int64_t words = frame.offset / kWord;
    const bool sp = frame.base == Base::sp;
    if (frame.form == Form::plain) {
      if (words < 0 || words > std::numeric_limits<std::uint16_t>::max()) {
        return rule;
      }
      rule.kind = sp ? OFFWAIT_UNWIND_SP : OFFWAIT_UNWIND_FP;
    } else {
      if (words < std::numeric_limits<std::int16_t>::min() ||
          words > std::numeric_limits<std::int16_t>::max() || (frame.added != 0 && frame.added != kWord)) {
        return rule;
      }
      rule.kind = frame.added == 0 ? (sp ? OFFWAIT_UNWIND_DEREF_SP : OFFWAIT_UNWIND_DEREF_FP)
                                   : (sp ? OFFWAIT_UNWIND_DEREF_SP_PLUS : OFFWAIT_UNWIND_DEREF_FP_PLUS);
    }
    rule.cfa = static_cast<std::uint16_t>(words);
    return rule;
  }

  /// The distance from the CFA at which a register is saved; nothing if it is not known.
  static std::optional<std::int64_t> from_cfa(const CallFrame& frame, const RegisterRule& rule) {
    const bool plain = frame.form == Form::plain;
    if (rule.how == How::at_cfa) {
      return rule.offset;
    }
    if ((rule.how == How::at_fp && plain && frame.base == Base::fp) ||
        (rule.how == How::at_sp && plain && frame.base == Base::sp)) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(rule.offset) -
                                       static_cast<std::uint64_t>(frame.offset));
    }
    return std::nullopt;
  }

  /// The offset in words, if it fits and is not a value with another meaning.
  static std::optional<std::int8_t> in_words(std::optional<std::int64_t> offset, bool zero_is_one) {
    if (!offset || *offset % kWord != 0) {
      return std::nullopt;
    }
    const std::int64_t words = *offset / kWord;
    if (words <= OFFWAIT_UNWIND_FP_LOST || words >= OFFWAIT_UNWIND_FP_AT_FP || (words == 0 && !zero_is_one)) {
      return std::nullopt;
    }
    return static_cast<std::int8_t>(words);
  }

  static UnwindRule with_saved_x86_64(const CallFrame& frame, UnwindRule rule) {
    if (frame.ra.how != How::at_cfa || frame.ra.offset != -kWord) {
      return {};
    }
    if (frame.fp.how == How::same) {
      rule.fp = OFFWAIT_UNWIND_FP_SAME;
    } else if (frame.fp.how == How::at_fp && frame.fp.offset == 0) {
      rule.fp = OFFWAIT_UNWIND_FP_AT_FP;
    } else {
      rule.fp = in_words(from_cfa(frame, frame.fp), false).value_or(OFFWAIT_UNWIND_FP_LOST);
    }
    return rule;
  }

  static UnwindRule with_saved_arm64(const CallFrame& frame, UnwindRule rule) {
    const std::optional<std::int64_t> fp = from_cfa(frame, frame.fp);
    if (frame.ra.how == How::same) {
      rule.kind |= OFFWAIT_UNWIND_RA_IN_LR;
      if (frame.fp.how != How::same) {
        place(frame, fp, rule);
      }
      return rule;
    }
    const std::optional<std::int64_t> ra = from_cfa(frame, frame.ra);
    if (frame.fp.how == How::same) {
      rule.kind |= OFFWAIT_UNWIND_RA_ALONE;
      return ra && place(frame, ra, rule) ? rule : UnwindRule{};
    }
    return ra && fp && *ra == sum(*fp, kWord) && place(frame, fp, rule) ? rule : UnwindRule{};
  }

  /// Sets `rule` to the place at this distance from the CFA, or to FP_LOST; returns whether the place fits.
  static bool place(const CallFrame& frame, std::optional<std::int64_t> from, UnwindRule& rule) {
    std::optional<std::int8_t> words = in_words(from, false);
    if (!words && from && frame.form == Form::plain) {
      words = in_words(sum(*from, frame.offset), true);
      if (words) {
        rule.kind |= OFFWAIT_UNWIND_FP_FROM_BASE;
      }
    }
    rule.fp = words.value_or(OFFWAIT_UNWIND_FP_LOST);
    return words.has_value();
  }

  bool arm64_;
  RegisterNumbers registers_;
  const EhFrameSection& section_;
};

}  // namespace

void UnwindRows::add(std::uint32_t pc, UnwindRule rule) {
  if (!rows_.empty() && rows_.back().pc == pc) {
    rows_.pop_back();
  }
  if (!rows_.empty()) {
    const offwait_unwind_row& last = rows_.back();
    if (UnwindRule{last.kind, last.fp, last.cfa} == rule) {
      return;
    }
  }
  rows_.push_back({pc, rule.kind, rule.fp, rule.cfa});
}

CommonInformation read_common_information(Cursor cursor, Architecture architecture,
                                          const EhFrameSection& section) {
  CommonInformation cie;
  const auto version = cursor.fixed<std::uint8_t>();
  if (version != 1 && version != 3 && version != 4) {
    return cie;
  }
  std::string_view augmentation = cursor.string();
  if (version == 4) {
    const auto address_size = cursor.fixed<std::uint8_t>();
    const auto selector_size = cursor.fixed<std::uint8_t>();
    if (address_size != kWord || selector_size != 0) {
      return cie;
    }
  }
  cie.code_alignment = cursor.uleb();
  cie.data_alignment = cursor.sleb();
  const std::uint64_t ra = version == 1 ? cursor.fixed<std::uint8_t>() : cursor.uleb();
  if (ra != registers_of(architecture).ra || cursor.failed()) {
    return cie;
  }
  if (augmentation.starts_with('z')) {
    augmentation.remove_prefix(1);
    cie.augmented = true;
    Cursor data(cursor.bytes(cursor.uleb()));
    for (const char letter : augmentation) {
      if (letter == 'S') {
        cie.signal = true;
      } else if (letter == 'R') {
        cie.pointer_encoding = data.fixed<std::uint8_t>();
      } else if (letter == 'L') {
        (void)data.fixed<std::uint8_t>();
      } else if (letter == 'P') {
        const auto encoding = data.fixed<std::uint8_t>();
        // The personality routine is usually reached through memory; its address does not matter.
        if (!read_pointer(data, encoding & 0x0fU, section)) {
          return cie;
        }
      } else if (architecture != Architecture::arm64 || (letter != 'B' && letter != 'G')) {
        return cie;
      }
    }
    if (data.failed()) {
      return cie;
    }
  } else if (!augmentation.empty()) {
    return cie;
  }
  const Program program(architecture, section);
  const std::string_view rest = cursor.bytes(cursor.left());
  // DW_CFA_restore goes back to the rules that the CIE's program sets.
  CallFrame initial;
  cie.usable =
      !cursor.failed() && program.run(Cursor(rest), cie, initial, [](std::uint64_t, bool) { return false; });
  cie.initial = initial;
  return cie;
}

std::uint64_t return_address_register(Architecture architecture) { return registers_of(architecture).ra; }

void run_program(Cursor cursor, const CommonInformation& cie, Architecture architecture,
                 const EhFrameSection& section, std::uint64_t base, std::uint32_t begin, std::uint32_t end,
                 UnwindRows& rows) {
  const Program program(architecture, section);
  CallFrame frame = cie.initial;
  std::uint32_t at = begin;
  const auto advance = [&](std::uint64_t to, bool absolute) {
    rows.add(at, program.rule_of(frame, cie.signal));
    const std::uint64_t next = absolute ? to - base : at + to;
    // A pc must not go backwards; a huge advance wraps around to a lower one.
    if (next < at || next >= end) {
      at = end;
      return false;
    }
    at = static_cast<std::uint32_t>(next);
    return true;
  };
  const bool understood = program.run(cursor, cie, frame, advance);
  if (at < end) {
    rows.add(at, understood ? program.rule_of(frame, cie.signal) : UnwindRule{});
  }
}

}  // namespace offwait
