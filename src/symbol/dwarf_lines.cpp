// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/dwarf_lines.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbol/elf_file.h"
#include "symbol/zstd_sections.h"

namespace offwait {
namespace {

constexpr int kDeepestScope = 64;
constexpr int kDeepestInlining = 256;
constexpr std::size_t kLongestText = 4096;

struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using DwarfHandle = std::unique_ptr<Dwarf, EndDwarf>;

/// The addresses [begin, end) of the code that a DIE describes.
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

/// The functions of one compilation unit.
struct UnitFunctions {
  std::vector<CodeRange> ranges;
  /// For each DIE that describes or declares a function, by its offset: the enclosing scope, as C++ writes it
  /// (`ns::Class::`).
  std::unordered_map<Dwarf_Off, std::shared_ptr<const std::string>> scopes;
};

/// Adds the functions in `parent` and in its namespaces (where Rust defines functions) and classes, but not
/// functions inside functions.
void append_functions(Dwarf_Die& parent, const std::shared_ptr<const std::string>& scope, int depth,
                      UnitFunctions& out) {
  if (depth > kDeepestScope || scope->size() > kLongestText) return;
  for_each_child(parent, [&](Dwarf_Die& child) {
    switch (const int tag = dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        append_ranges(child, out.ranges);
        if (!scope->empty()) out.scopes.emplace(dwarf_dieoffset(&child), scope);
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type: {
        const char* const name = dwarf_diename(&child);
        const std::string shown = name != nullptr           ? name
                                  : tag == DW_TAG_namespace ? "(anonymous namespace)"
                                                            : "";
        append_functions(child, std::make_shared<std::string>(*scope + shown + (shown.empty() ? "" : "::")),
                         depth + 1, out);
        break;
      }
      default:
        break;
    }
  });
}

/// Adds the functions inlined at the address, outermost first.
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

/// The scope of the function's declaration; empty if that is in another unit.
std::string scope_of(Dwarf_Die die, const UnitFunctions& unit) {
  constexpr int kMostSteps = 16;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto known = unit.scopes.find(dwarf_dieoffset(&die));
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
         dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) ||
        dwarf_formref_die(&attribute, &next) == nullptr) {
      return known == unit.scopes.end() ? std::string() : *known->second;
    }
    die = next;
  }
  return {};
}

std::string function_name(Dwarf_Die& die, const UnitFunctions& unit) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) continue;
    const std::string value = text(dwarf_formstring(&attribute));
    if (value.empty()) continue;
    return name == DW_AT_name ? scope_of(die, unit) + value : value;
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

/// Sets the line of `caller` to the place of the call that was inlined.
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
  std::vector<std::vector<char>> unpacked;  ///< must outlive the files
  ElfHandle elf;
  ElfHandle supplement_elf;
  DwarfHandle supplement;
  DwarfHandle dwarf;  // must end before the files that it refers to
  std::vector<CodeRange> units;
  /// The unit that was asked for last, and its functions.
  const void* unit = nullptr;
  UnitFunctions functions;

  void unpack(const ElfHandle& file) {
    for (std::vector<char>& section : unpack_zstd_sections(file.get()))
      unpacked.push_back(std::move(section));
  }
};

DwarfLines::DwarfLines() : state_(std::make_unique<State>()) {}
DwarfLines::~DwarfLines() = default;

std::unique_ptr<DwarfLines> DwarfLines::open(int fd, int supplement) {
  auto elf = map_elf(fd);
  if (!elf.ok()) return nullptr;
  std::unique_ptr<DwarfLines> lines(new DwarfLines);
  State& state = *lines->state_;
  state.elf = std::move(elf).value();
  state.unpack(state.elf);
  state.dwarf.reset(dwarf_begin_elf(state.elf.get(), DWARF_C_READ, nullptr));
  if (state.dwarf == nullptr) return nullptr;
  if (supplement >= 0) {
    if (auto other = map_elf(supplement); other.ok()) {
      state.supplement_elf = std::move(other).value();
      state.unpack(state.supplement_elf);
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
    state_->functions = UnitFunctions();
    append_functions(unit, std::make_shared<std::string>(), 0, state_->functions);
    sort(state_->functions.ranges);
  }
  std::vector<SourceFrame> frames(1);
  if (const CodeRange* const function = find(state_->functions.ranges, address)) {
    Dwarf_Die die = function->die;
    frames.back().function = function_name(die, state_->functions);
    frames.back().begin = function->begin;
    std::vector<Dwarf_Die> inlined;
    append_inlined(die, address, 0, inlined);
    for (Dwarf_Die& callee : inlined) {
      set_call(callee, unit, frames.back());
      frames.emplace_back().function = function_name(callee, state_->functions);
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
