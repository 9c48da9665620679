// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit/unwind/oracle.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>

#include "base/unique_fd.h"
#include "unwind/eh_frame.h"

namespace offwait::test {
namespace {

/// Invented memory: any function of the address will do.
std::uint64_t memory_at(std::uint64_t address) {
  std::uint64_t mixed = address * 0x9e3779b97f4a7c15U;
  mixed ^= mixed >> 29U;
  return mixed * 0xbf58476d1ce4e5b9U;
}

struct Machine {
  bool arm64;
  std::uint64_t pc;
  std::uint64_t reg(std::uint64_t number) const {
    return !arm64 && number == 16 ? pc : 0x7f0000000000 + number * 0x10000000;
  }
  std::uint64_t sp() const { return reg(arm64 ? 31 : 7); }
  std::uint64_t fp() const { return reg(arm64 ? 29 : 6); }
  std::uint64_t lr() const { return reg(30); }
};

struct Caller {
  std::uint64_t cfa = 0;
  std::optional<std::uint64_t> fp;
  std::uint64_t ra = 0;
};

/// Executes DWARF's stack machine, as far as call frame information uses it; nothing for an unknown
/// operation.
std::optional<std::uint64_t> run(const Machine& machine, const Dwarf_Op* ops, std::size_t count,
                                 std::uint64_t cfa, bool* is_value) {
  std::vector<std::uint64_t> stack;
  const auto pop = [&] {
    const std::uint64_t top = stack.empty() ? 0 : stack.back();
    if (!stack.empty()) {
      stack.pop_back();
    }
    return top;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Dwarf_Op& op = ops[i];
    if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
      stack.push_back(machine.reg(op.atom - DW_OP_breg0) + op.number);
    } else if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) {
      stack.push_back(op.atom - DW_OP_lit0);
    } else if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) {
      stack.push_back(machine.reg(op.atom - DW_OP_reg0));
      *is_value = true;
    } else if (op.atom == DW_OP_bregx) {
      stack.push_back(machine.reg(op.number) + op.number2);
    } else if (op.atom == DW_OP_regx) {
      stack.push_back(machine.reg(op.number));
      *is_value = true;
    } else if (op.atom == DW_OP_call_frame_cfa) {
      stack.push_back(cfa);
    } else if (op.atom == DW_OP_plus_uconst) {
      stack.push_back(pop() + op.number);
    } else if (op.atom == DW_OP_deref) {
      stack.push_back(memory_at(pop()));
    } else if (op.atom == DW_OP_const1u || op.atom == DW_OP_const2u || op.atom == DW_OP_const1s ||
               op.atom == DW_OP_const2s || op.atom == DW_OP_constu || op.atom == DW_OP_consts) {
      stack.push_back(op.number);
    } else if (op.atom == DW_OP_stack_value) {
      *is_value = true;
    } else if (op.atom == DW_OP_plus || op.atom == DW_OP_minus || op.atom == DW_OP_and ||
               op.atom == DW_OP_ge || op.atom == DW_OP_shl || op.atom == DW_OP_mul) {
      const std::uint64_t right = pop();
      const std::uint64_t left = pop();
      stack.push_back(op.atom == DW_OP_plus    ? left + right
                      : op.atom == DW_OP_minus ? left - right
                      : op.atom == DW_OP_and   ? left & right
                      : op.atom == DW_OP_mul   ? left * right
                      : op.atom == DW_OP_ge    ? static_cast<std::uint64_t>(static_cast<std::int64_t>(left) >=
                                                                         static_cast<std::int64_t>(right))
                                               : left << right);
    } else {
      return std::nullopt;
    }
  }
  // The stack begins with the CFA; the result is on top of it.
  return stack.empty() ? std::nullopt : std::optional(stack.back());
}

enum class Known { value, undefined, not_known };
struct CallerRegister {
  Known known = Known::not_known;
  std::uint64_t value = 0;
};

CallerRegister register_by_libdw(const Machine& machine, Dwarf_Frame* frame, int number, std::uint64_t cfa) {
  std::array<Dwarf_Op, 3> memory{};
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_register(frame, number, memory.data(), &ops, &count) != 0) {
    return {};
  }
  if (count == 0) {
    return ops == nullptr ? CallerRegister{Known::value, machine.reg(static_cast<std::uint64_t>(number))}
                          : CallerRegister{Known::undefined, 0};
  }
  bool is_value = false;
  const auto location = run(machine, ops, count, cfa, &is_value);
  if (!location) {
    return {};
  }
  return {Known::value, is_value ? *location : memory_at(*location)};
}

/// Follows the contract of offwait/unwind.h word by word. STOP, SIGNAL and NONE have no caller here.
Caller caller_by_row(const Machine& machine, const offwait_unwind_row& row) {
  Caller caller;
  const auto words = static_cast<std::uint64_t>(static_cast<std::int16_t>(row.cfa)) * 8;
  const unsigned kind = row.kind & OFFWAIT_UNWIND_KIND_MASK;
  std::uint64_t base = machine.sp();
  switch (kind) {
    case OFFWAIT_UNWIND_SP:
      caller.cfa = machine.sp() + row.cfa * 8U;
      break;
    case OFFWAIT_UNWIND_FP:
      base = machine.fp();
      caller.cfa = machine.fp() + row.cfa * 8U;
      break;
    case OFFWAIT_UNWIND_PLT:
      caller.cfa = machine.sp() + 8 + ((machine.pc & 15U) >= row.cfa ? 8 : 0);
      break;
    case OFFWAIT_UNWIND_DEREF_SP:
      caller.cfa = memory_at(machine.sp() + words);
      break;
    case OFFWAIT_UNWIND_DEREF_SP_PLUS:
      caller.cfa = memory_at(machine.sp() + words) + 8;
      break;
    case OFFWAIT_UNWIND_DEREF_FP:
      caller.cfa = memory_at(machine.fp() + words);
      break;
    case OFFWAIT_UNWIND_DEREF_FP_PLUS:
      caller.cfa = memory_at(machine.fp() + words) + 8;
      break;
    default:
      std::abort();
  }
  const bool from_base = (row.kind & OFFWAIT_UNWIND_FP_FROM_BASE) != 0;
  const std::uint64_t saved =
      (from_base ? base : caller.cfa) + static_cast<std::uint64_t>(std::int64_t{row.fp}) * 8;
  const bool alone = (row.kind & OFFWAIT_UNWIND_RA_ALONE) != 0;
  if (row.fp == OFFWAIT_UNWIND_FP_LOST) {
    caller.fp = std::nullopt;
  } else if (alone || (row.fp == OFFWAIT_UNWIND_FP_SAME && !from_base)) {
    caller.fp = machine.fp();
  } else {
    caller.fp = memory_at(row.fp == OFFWAIT_UNWIND_FP_AT_FP ? machine.fp() : saved);
  }
  if (!machine.arm64) {
    caller.ra = memory_at(caller.cfa - 8);
  } else if ((row.kind & OFFWAIT_UNWIND_RA_IN_LR) != 0) {
    caller.ra = machine.lr();
  } else {
    caller.ra = memory_at(alone ? saved : saved + 8);
  }
  return caller;
}

/// Returns "" if libdw and the row agree at `pc`, else what differs.
std::string compare_at(const Machine& machine, Dwarf_Frame* frame, const offwait_unwind_row& row,
                       Comparison& comparison) {
  const int fp = machine.arm64 ? 29 : 6;
  const int ra = machine.arm64 ? 30 : 16;
  bool signal = false;
  (void)dwarf_frame_info(frame, nullptr, nullptr, &signal);
  const unsigned kind = row.kind & OFFWAIT_UNWIND_KIND_MASK;
  if (signal || kind == OFFWAIT_UNWIND_SIGNAL) {
    return signal && kind == OFFWAIT_UNWIND_SIGNAL ? "" : "signal frame";
  }
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  bool is_value = false;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0) {
    return "no CFA by libdw";
  }
  const auto cfa = run(machine, ops, count, 0, &is_value);
  const CallerRegister caller_ra = register_by_libdw(machine, frame, ra, cfa.value_or(0));
  if (caller_ra.known == Known::undefined || kind == OFFWAIT_UNWIND_STOP) {
    return caller_ra.known == Known::undefined && kind == OFFWAIT_UNWIND_STOP ? "" : "outermost frame";
  }
  if (kind == OFFWAIT_UNWIND_NONE) {
    ++comparison.unfit;
    return "";
  }
  const Caller caller = caller_by_row(machine, row);
  const CallerRegister caller_fp = register_by_libdw(machine, frame, fp, *cfa);
  if (!cfa || *cfa != caller.cfa) {
    return "CFA";
  }
  if (caller_ra.known != Known::value || caller_ra.value != caller.ra) {
    return "return address";
  }
  if (!caller.fp) {
    comparison.fp_lost += caller_fp.known == Known::value ? 1 : 0;
    return "";
  }
  return caller_fp.known == Known::value && caller_fp.value == *caller.fp ? "" : "frame pointer";
}

}  // namespace

Comparison compare_with_libdw(const std::string& path) {
  Comparison comparison;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto table = read_unwind_table(fd.get());
  if (!table.ok() || table->functions.empty()) {
    return comparison;
  }
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd.get(), ELF_C_READ, nullptr), elf_end);
  const std::unique_ptr<Dwarf_CFI, int (*)(Dwarf_CFI*)> cfi(dwarf_getcfi_elf(elf.get()), dwarf_cfi_end);
  const auto& rows = table->rows;
  const auto differ = [&](std::uint64_t pc, const std::string& what) {
    std::ostringstream text;
    text << path << " 0x" << std::hex << pc << ": " << what;
    comparison.differences.push_back(text.str());
  };
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i - 1].pc >= rows[i].pc) {
      differ(table->base + rows[i].pc, "order");
    }
  }
  comparison.functions = table->functions.size();
  const auto row_of = [&](std::uint64_t pc) {
    return std::upper_bound(rows.begin(), rows.end(), pc - table->base,
                            [](std::uint64_t at, const offwait_unwind_row& row) { return at < row.pc; }) -
           1;
  };
  for (const FunctionExtent& function : table->functions) {
    const std::uint64_t end = table->base + function.begin + function.size;
    for (Dwarf_Addr pc = table->base + function.begin; pc < end;) {
      Dwarf_Frame* found = nullptr;
      if (dwarf_cfi_addrframe(cfi.get(), pc, &found) != 0) {
        differ(pc, "unknown to libdw");
        break;
      }
      const std::unique_ptr<Dwarf_Frame, void (*)(void*)> frame(found, std::free);
      Dwarf_Addr row_begin = 0;
      Dwarf_Addr row_end = 0;
      (void)dwarf_frame_info(found, &row_begin, &row_end, nullptr);
      const auto row = row_of(pc);
      const std::string difference =
          compare_at({table->architecture == Architecture::arm64, pc}, found, *row, comparison);
      if (!difference.empty()) {
        differ(pc, difference);
      } else if (row_of(row_end - 1) != row) {
        differ(pc, "the table's row ends before libdw's");
      }
      ++comparison.rows;
      if (row_end <= pc) {
        differ(pc, "libdw stays where it is");
        break;
      }
      pc = row_end;
    }
  }
  // Every FDE that libdw finds in the section must be a function of the table.
  Elf_Scn* section = nullptr;
  std::size_t names = 0;
  (void)elf_getshdrstrndx(elf.get(), &names);
  while ((section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr ||
        std::string_view(elf_strptr(elf.get(), names, header.sh_name)) != ".eh_frame") {
      continue;
    }
    Elf_Data* data = elf_rawdata(section, nullptr);
    Dwarf_CFI_Entry entry;
    Dwarf_Off next = 0;
    const auto* ident = reinterpret_cast<const unsigned char*>(elf_getident(elf.get(), nullptr));
    for (Dwarf_Off offset = 0; data != nullptr; offset = next) {
      const int result = dwarf_next_cfi(ident, data, true, offset, &next, &entry);
      if (result != 0) {
        break;
      }
      comparison.entries += dwarf_cfi_cie_p(&entry) ? 0 : 1;
    }
  }
  return comparison;
}

}  // namespace offwait::test
