// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/dwarf_lines.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbol/elf_file.h"

namespace offwait {
namespace {

constexpr int kDeepestScope = 64;
constexpr int kDeepestInlining = 256;
constexpr std::size_t kLongestText = 4096;

struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using DwarfHandle = std::unique_ptr<Dwarf, EndDwarf>;

/// Addresses [begin, end) of what the DIE describes.
struct CodeRange {
  std::uint64_t begin;
  std::uint64_t end;
  Dwarf_Die die;
};

void append_ranges(Dwarf_Die die, std::vector<CodeRange>& out) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
    if (begin < end) out.push_back({begin, end, die});
  }
}

void sort(std::vector<CodeRange>& ranges) {
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
}

const CodeRange* find(const std::vector<CodeRange>& ranges, std::uint64_t address) {
  auto after =
      std::upper_bound(ranges.begin(), ranges.end(), address,
                       [](std::uint64_t value, const CodeRange& range) { return value < range.begin; });
  return after != ranges.begin() && address < (--after)->end ? &*after : nullptr;
}

template <class Visit>
void for_each_child(Dwarf_Die& parent, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    visit(child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

/// Functions that are defined in the unit, also those in namespaces (Rust) and classes, but not those in
/// functions.
void append_functions(Dwarf_Die& parent, int depth, std::vector<CodeRange>& out) {
  if (depth > kDeepestScope) return;
  for_each_child(parent, [&](Dwarf_Die& child) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        append_ranges(child, out);
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type:
        append_functions(child, depth + 1, out);
        break;
      default:
        break;
    }
  });
}

/// Functions inlined at the address, outermost first.
void append_inlined(Dwarf_Die& scope, std::uint64_t address, int depth, std::vector<Dwarf_Die>& out) {
  if (depth > kDeepestInlining) return;
  bool found = false;
  for_each_child(scope, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    const bool inlined = tag == DW_TAG_inlined_subroutine;
    if (found ||
        (!inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block && tag != DW_TAG_catch_block)) {
      return;
    }
    if (dwarf_haspc(&child, address) == 1) {
      found = true;
      if (inlined) out.push_back(child);
      append_inlined(child, address, depth + 1, out);
    }
  });
}

std::string text(const char* value) {
  return value == nullptr ? std::string() : std::string(value).substr(0, kLongestText);
}

std::string function_name(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (dwarf_attr_integrate(&die, name, &attribute) != nullptr) {
      if (const char* value = dwarf_formstring(&attribute); value != nullptr && *value != '\0')
        return text(value);
    }
  }
  return {};
}

std::optional<Dwarf_Word> number(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) {
    return std::nullopt;
  }
  return value;
}

/// Where the function was called that has been inlined.
void set_call(Dwarf_Die& inlined, Dwarf_Die& unit, SourceFrame& caller) {
  const auto file = number(inlined, DW_AT_call_file);
  const auto line = number(inlined, DW_AT_call_line);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (file && line && dwarf_getsrcfiles(&unit, &files, &count) == 0 && *file < count) {
    caller.file = text(dwarf_filesrc(files, *file, nullptr, nullptr));
    caller.line = static_cast<std::uint32_t>(*line);
  }
}

}  // namespace

struct DwarfLines::State {
  ElfHandle elf;
  ElfHandle supplement_elf;
  DwarfHandle supplement;
  DwarfHandle dwarf;  // ends before what it refers to
  std::vector<CodeRange> units;
  /// Of the unit that was asked last.
  const void* unit = nullptr;
  std::vector<CodeRange> functions;
};

DwarfLines::DwarfLines() : state_(std::make_unique<State>()) {}
DwarfLines::~DwarfLines() = default;

std::unique_ptr<DwarfLines> DwarfLines::open(int fd, int supplement) {
  auto elf = map_elf(fd);
  if (!elf.ok()) return nullptr;
  std::unique_ptr<DwarfLines> lines(new DwarfLines);
  State& state = *lines->state_;
  state.elf = std::move(elf).value();
  state.dwarf.reset(dwarf_begin_elf(state.elf.get(), DWARF_C_READ, nullptr));
  if (state.dwarf == nullptr) return nullptr;
  if (supplement >= 0) {
    if (auto other = map_elf(supplement); other.ok()) {
      state.supplement_elf = std::move(other).value();
      state.supplement.reset(dwarf_begin_elf(state.supplement_elf.get(), DWARF_C_READ, nullptr));
      dwarf_setalt(state.dwarf.get(), state.supplement.get());
    }
  }
  Dwarf_CU* unit = nullptr;
  Dwarf_Half version = 0;
  std::uint8_t type = 0;
  Dwarf_Die die;
  while (dwarf_get_units(state.dwarf.get(), unit, &unit, &version, &type, &die, nullptr) == 0) {
    if (type == DW_UT_compile || type == DW_UT_skeleton) append_ranges(die, state.units);
  }
  sort(state.units);
  return lines;
}

std::vector<SourceFrame> DwarfLines::frames_at(std::uint64_t address) {
  const CodeRange* const found = find(state_->units, address);
  if (found == nullptr) return {};
  Dwarf_Die unit = found->die;
  if (state_->unit != unit.addr) {
    state_->unit = unit.addr;
    state_->functions.clear();
    append_functions(unit, 0, state_->functions);
    sort(state_->functions);
  }
  std::vector<SourceFrame> frames(1);
  if (const CodeRange* const function = find(state_->functions, address)) {
    Dwarf_Die die = function->die;
    frames.back().function = function_name(die);
    frames.back().begin = function->begin;
    std::vector<Dwarf_Die> inlined;
    append_inlined(die, address, 0, inlined);
    for (Dwarf_Die& callee : inlined) {
      set_call(callee, unit, frames.back());
      frames.emplace_back().function = function_name(callee);
      frames.back().inlined = true;
    }
  }
  if (Dwarf_Line* const line = dwarf_getsrc_die(&unit, address)) {
    int number = 0;
    if (dwarf_lineno(line, &number) == 0 && number > 0) {
      frames.back().file = text(dwarf_linesrc(line, nullptr, nullptr));
      frames.back().line = static_cast<std::uint32_t>(number);
    }
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace offwait
