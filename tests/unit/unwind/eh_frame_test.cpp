// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/eh_frame.h"

#include <catch2/catch.hpp>
#include <limits>
#include <ostream>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "unit/unwind/eh_frame_image.h"

namespace offwait::test {
namespace {

struct Row {
  std::uint32_t pc;
  unsigned kind;
  int fp = OFFWAIT_UNWIND_FP_SAME;
  int cfa = 0;
  friend bool operator==(const Row&, const Row&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << std::hex << "{0x" << row.pc << ", kind 0x" << row.kind << std::dec << ", fp " << row.fp
               << ", cfa " << row.cfa << "}";
  }
};

std::vector<Row> rows_of(const UnwindTable& table) {
  std::vector<Row> rows;
  for (const offwait_unwind_row& row : table.rows) {
    const unsigned kind = row.kind & OFFWAIT_UNWIND_KIND_MASK;
    const bool deref = kind >= OFFWAIT_UNWIND_DEREF_SP && kind <= OFFWAIT_UNWIND_DEREF_FP_PLUS;
    rows.push_back({row.pc, row.kind, row.fp, deref ? static_cast<std::int16_t>(row.cfa) : int{row.cfa}});
  }
  return rows;
}

/// Reads the image from memory and from a file, which must give the same table.
Result<UnwindTable> read(const std::string& image) {
  auto table = read_unwind_table(image);
  const UniqueFd fd(memfd_create("eh_frame_test", MFD_CLOEXEC));
  REQUIRE(write(fd.get(), image.data(), image.size()) == static_cast<ssize_t>(image.size()));
  const auto from_file = read_unwind_table(fd.get());
  REQUIRE(from_file.ok() == table.ok());
  if (table.ok()) {
    REQUIRE(rows_of(*from_file) == rows_of(*table));
    REQUIRE(from_file->functions == table->functions);
  } else {
    REQUIRE(from_file.error().message == table.error().message);
  }
  return table;
}

std::vector<Row> rows(const EhFrame& section, std::uint16_t machine = EM_X86_64) {
  const auto table = read(section.file(machine));
  REQUIRE(table.ok());
  return rows_of(*table);
}

/// The rows of one function of 64 bytes at the beginning of the code.
std::vector<Row> rows(const Bytes& program, const CieParts& cie = {}, std::uint16_t machine = EM_X86_64) {
  EhFrame section;
  section.fde(section.cie(cie), kCode, 64, program);
  return rows(section, machine);
}

constexpr auto kSp = OFFWAIT_UNWIND_SP;
constexpr auto kFp = OFFWAIT_UNWIND_FP;
constexpr auto kNone = OFFWAIT_UNWIND_NONE;
constexpr auto kStop = OFFWAIT_UNWIND_STOP;
constexpr std::uint8_t kAdvance = DW_CFA_advance_loc;
constexpr std::uint8_t kOffset = DW_CFA_offset;

CieParts arm64_cie() {
  return {.return_register = 30, .code_alignment = 4, .program = {DW_CFA_def_cfa, 31, 0}};
}

}  // namespace

TEST_CASE("a function with a frame pointer, and what the table says beside its rows") {
  EhFrame section;
  section.fde(section.cie(), kCode + 0x20, 64,
              {kAdvance | 1, DW_CFA_def_cfa_offset, 16, kOffset | 6, 2, kAdvance | 3, DW_CFA_def_cfa_register,
               6, DW_CFA_advance_loc1, 40, DW_CFA_restore | 6, DW_CFA_def_cfa, 7, 8});
  const auto table = read(section.file());
  REQUIRE(table.ok());
  CHECK(table->architecture == Architecture::x86_64);
  CHECK(table->base == kCode);
  REQUIRE(table->segments.size() == 1);
  CHECK(table->segments[0].offset == 0x1000);
  CHECK(table->segments[0].address == kCode);
  CHECK(table->segments[0].size == 0x2000);
  CHECK(table->functions == std::vector<FunctionExtent>{{0x20, 64}});
  CHECK(rows_of(*table) ==
        std::vector<Row>{
            {0x20, kSp, 0, 1}, {0x21, kSp, -2, 2}, {0x24, kFp, -2, 2}, {0x4c, kSp, 0, 1}, {0x60, kNone}});
}

TEST_CASE("states remembered and restored, advances of every width, arguments' size") {
  CHECK(rows({DW_CFA_def_cfa_offset, 24, DW_CFA_remember_state, DW_CFA_GNU_args_size, 16, DW_CFA_advance_loc2,
              4, 0, DW_CFA_def_cfa_offset, 8, DW_CFA_advance_loc4, 4, 0, 0, 0, DW_CFA_restore_state,
              DW_CFA_nop}) == std::vector<Row>{{0, kSp, 0, 3}, {4, kSp, 0, 1}, {8, kSp, 0, 3}, {64, kNone}});
  // Only a state that was remembered can be restored.
  CHECK(rows({kAdvance | 4, DW_CFA_restore_state}) == std::vector<Row>{{0, kSp, 0, 1}, {4, kNone}});
  CHECK(rows(Bytes(64, DW_CFA_remember_state)) == std::vector<Row>{{0, kSp, 0, 1}, {64, kNone}});
  CHECK(rows(Bytes(65, DW_CFA_remember_state)) == std::vector<Row>{{0, kNone}});
}

TEST_CASE("places by set_loc") {
  EhFrame section;
  const std::size_t cie = section.cie();
  Bytes program = {DW_CFA_set_loc, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16};
  const std::uint64_t place = kEhFrameAddress + section.bytes().size() + 17 + 1;
  const auto distance = static_cast<std::uint32_t>(kCode + 0x10 - place);
  std::memcpy(program.data() + 1, &distance, sizeof distance);
  section.fde(cie, kCode, 64, program);
  CHECK(rows(section) == std::vector<Row>{{0, kSp, 0, 1}, {0x10, kSp, 0, 2}, {64, kNone}});
}

TEST_CASE("the PLT's expression") {
  for (const int entry : {10, 11}) {
    const auto lit = static_cast<std::uint8_t>(DW_OP_lit0 + entry);
    CHECK(rows({DW_CFA_def_cfa_offset, 16, kAdvance | 6, DW_CFA_def_cfa_offset, 24, kAdvance | 10,
                DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, lit,
                DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus}) ==
          std::vector<Row>{{0, kSp, 0, 2}, {6, kSp, 0, 3}, {16, OFFWAIT_UNWIND_PLT, 0, entry}, {64, kNone}});
  }
}

TEST_CASE("frames that align their stack") {
  // GCC: CFA in r10, then in memory below rbp; the caller's rbp where rbp points.
  CHECK(rows({kAdvance | 5, DW_CFA_def_cfa, 10, 0, kAdvance | 9, DW_CFA_expression, 6, 2, DW_OP_breg6, 0,
              kAdvance | 4, DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref}) ==
        std::vector<Row>{{0, kSp, 0, 1},
                         {5, kNone},
                         {18, OFFWAIT_UNWIND_DEREF_FP, OFFWAIT_UNWIND_FP_AT_FP, -1},
                         {64, kNone}});
  // OpenSSL: the caller's rsp is in memory above rsp, rbp under the return address.
  CHECK(rows({kOffset | 6, 2, DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0xf8, 0x00, DW_OP_deref,
              DW_OP_plus_uconst, 8}) ==
        std::vector<Row>{{0, OFFWAIT_UNWIND_DEREF_SP_PLUS, -2, 15}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 16, DW_OP_deref}) ==
        std::vector<Row>{{0, OFFWAIT_UNWIND_DEREF_SP, 0, 2}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_expression, 5, DW_OP_breg6, 0x70, DW_OP_deref, DW_OP_plus_uconst, 8}) ==
        std::vector<Row>{{0, OFFWAIT_UNWIND_DEREF_FP_PLUS, 0, -2}, {64, kNone}});
  // Only a word, or nothing, can be added.
  CHECK(rows({DW_CFA_def_cfa_expression, 5, DW_OP_breg6, 0x70, DW_OP_deref, DW_OP_plus_uconst, 16}) ==
        std::vector<Row>{{0, kNone}});
}

TEST_CASE("where the caller's frame pointer is") {
  const auto fp_of = [](const Bytes& program) { return rows(program).at(0).fp; };
  CHECK(fp_of({DW_CFA_undefined, 6}) == OFFWAIT_UNWIND_FP_LOST);
  CHECK(fp_of({DW_CFA_register, 6, 3}) == OFFWAIT_UNWIND_FP_LOST);
  CHECK(fp_of({DW_CFA_val_offset, 6, 2}) == OFFWAIT_UNWIND_FP_LOST);
  CHECK(fp_of({DW_CFA_val_expression, 6, 2, DW_OP_breg6, 0}) == OFFWAIT_UNWIND_FP_LOST);
  CHECK(fp_of({kOffset | 6, 2, DW_CFA_same_value, 6}) == OFFWAIT_UNWIND_FP_SAME);
  CHECK(fp_of({DW_CFA_offset_extended, 6, 126}) == -126);
  CHECK(fp_of({DW_CFA_offset_extended, 6, 127}) == -127);
  CHECK(fp_of({DW_CFA_offset_extended, 6, 0x80, 1}) == OFFWAIT_UNWIND_FP_LOST);
  CHECK(fp_of({DW_CFA_offset_extended_sf, 6, 0x7e}) == 2);
  CHECK(fp_of({DW_CFA_GNU_negative_offset_extended, 6, 3}) == 3);
  // An expression gives the place; the CFA is rsp + 8 here.
  CHECK(fp_of({DW_CFA_expression, 6, 2, DW_OP_breg7, 0x68}) == -4);
  CHECK(fp_of({DW_CFA_expression, 6, 2, DW_OP_breg6, 0x78}) == OFFWAIT_UNWIND_FP_LOST);
  CHECK(fp_of({DW_CFA_def_cfa, 6, 16, DW_CFA_expression, 6, 2, DW_OP_breg6, 8}) == -1);
}

TEST_CASE("large frames") {
  // 512 KiB less a word fit, 512 KiB do not.
  CHECK(rows({DW_CFA_def_cfa_offset, 0xf8, 0xff, 0x1f}) == std::vector<Row>{{0, kSp, 0, 65535}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_offset, 0x80, 0x80, 0x20}) == std::vector<Row>{{0, kNone}});
  CHECK(rows({DW_CFA_def_cfa_sf, 7, 0x7d}) == std::vector<Row>{{0, kSp, 0, 3}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_offset_sf, 0x7d}) == std::vector<Row>{{0, kSp, 0, 3}, {64, kNone}});
}

TEST_CASE("outermost frames and signal frames") {
  CHECK(rows({DW_CFA_undefined, 16}) == std::vector<Row>{{0, OFFWAIT_UNWIND_STOP}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 40, DW_OP_deref}, {.augmentation = "zRS"}) ==
        std::vector<Row>{{0, OFFWAIT_UNWIND_SIGNAL}, {64, kNone}});
}

TEST_CASE("a return address that is not where it always is has no rule") {
  CHECK(rows({kOffset | 16, 2}) == std::vector<Row>{{0, kNone}});
  CHECK(rows({DW_CFA_register, 16, 2}) == std::vector<Row>{{0, kNone}});
  CHECK(rows({DW_CFA_same_value, 16}) == std::vector<Row>{{0, kNone}});
  CHECK(rows({}, {.return_register = 8}).empty());
  // A function whose caller's stack pointer is not the CFA has no rule either.
  CHECK(rows({kOffset | 7, 2}) == std::vector<Row>{{0, kNone}});
}

TEST_CASE("arm64: link register, frame records, signed return addresses") {
  const unsigned in_lr = kSp | OFFWAIT_UNWIND_RA_IN_LR;
  CHECK(
      rows({kAdvance | 1, DW_CFA_AARCH64_negate_ra_state, kAdvance | 1, DW_CFA_def_cfa_offset, 32,
            kOffset | 29, 4, kOffset | 30, 3, kAdvance | 1, DW_CFA_def_cfa_register, 29, kAdvance | 4,
            DW_CFA_restore | 30, DW_CFA_restore | 29, DW_CFA_def_cfa, 31, 0},
           arm64_cie(), EM_AARCH64) ==
      std::vector<Row>{{0, in_lr, 0, 0}, {8, kSp, -4, 4}, {12, kFp, -4, 4}, {28, in_lr, 0, 0}, {64, kNone}});
  // Only x30 is saved, then only x29, then both but not beside each other.
  const unsigned alone = kSp | OFFWAIT_UNWIND_RA_ALONE;
  CHECK(rows({DW_CFA_def_cfa_offset, 16, kOffset | 30, 2}, arm64_cie(), EM_AARCH64) ==
        std::vector<Row>{{0, alone, -2, 2}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_offset, 16, kOffset | 29, 2}, arm64_cie(), EM_AARCH64) ==
        std::vector<Row>{{0, in_lr, -2, 2}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_offset, 32, kOffset | 29, 4, kOffset | 30, 2}, arm64_cie(), EM_AARCH64) ==
        std::vector<Row>{{0, kNone}});
  // GCC's frames of more than a kilobyte: the pair is at the low end, here at sp + 0 and at sp + 16.
  const unsigned from_base = kSp | OFFWAIT_UNWIND_FP_FROM_BASE;
  CHECK(rows({DW_CFA_def_cfa_offset, 0x80, 0x10, DW_CFA_offset_extended, 29, 0x80, 2, DW_CFA_offset_extended,
              30, 0xff, 1},
             arm64_cie(), EM_AARCH64) == std::vector<Row>{{0, from_base, 0, 256}, {64, kNone}});
  CHECK(rows({DW_CFA_def_cfa_offset, 0x90, 0x10, DW_CFA_offset_extended, 30, 0x80, 2}, arm64_cie(),
             EM_AARCH64) == std::vector<Row>{{0, from_base | OFFWAIT_UNWIND_RA_ALONE, 2, 258}, {64, kNone}});
  CHECK(rows({DW_CFA_undefined, 30}, arm64_cie(), EM_AARCH64) ==
        std::vector<Row>{{0, OFFWAIT_UNWIND_STOP}, {64, kNone}});
  CieParts signed_cie = arm64_cie();
  signed_cie.augmentation = "zRB";
  CHECK(rows({}, signed_cie, EM_AARCH64) == std::vector<Row>{{0, in_lr, 0, 0}, {64, kNone}});
  // x86_64 has neither of these.
  CHECK(rows({}, {.augmentation = "zRB"}).empty());
  CHECK(rows({DW_CFA_AARCH64_negate_ra_state}) == std::vector<Row>{{0, kNone}});
}

TEST_CASE("neighbours: equal ones, gaps, overlaps, any order") {
  EhFrame section;
  const std::size_t cie = section.cie();
  section.fde(cie, kCode + 0x200, 16, {DW_CFA_def_cfa_offset, 16});
  section.fde(cie, kCode + 0x10, 17, {});
  section.fde(cie, kCode + 0x30, 0x10, {});                            // 15 bytes later, the same rule
  section.fde(cie, kCode + 0x50, 0x10, {});                            // 16 bytes later
  section.fde(cie, kCode + 0x58, 0x100, {DW_CFA_def_cfa_offset, 24});  // begins later, so it counts
  const auto table = read(section.file());
  REQUIRE(table.ok());
  CHECK(rows_of(*table) == std::vector<Row>{{0xf, kStop},
                                            {0x10, kSp, 0, 1},
                                            {0x2f, kStop},
                                            {0x30, kSp, 0, 1},
                                            {0x40, kNone},
                                            {0x4f, kStop},
                                            {0x50, kSp, 0, 1},
                                            {0x58, kSp, 0, 3},
                                            {0x158, kNone},
                                            {0x200, kSp, 0, 2},
                                            {0x210, kNone}});
  CHECK(table->functions ==
        std::vector<FunctionExtent>{{0x10, 17}, {0x30, 0x10}, {0x50, 0x10}, {0x58, 0x100}, {0x200, 16}});
}

TEST_CASE("a return address at the begin of a function without a frame, behind a gap, is the stack's end") {
  EhFrame section;
  const std::size_t cie = section.cie();
  section.fde(cie, kCode, 16, {DW_CFA_def_cfa_offset, 16});
  section.fde(cie, kCode + 16, 16, {});                          // no gap: a call may end right before it
  section.fde(cie, kCode + 40, 8, {DW_CFA_def_cfa_offset, 16});  // it has a frame
  section.fde(cie, kCode + 50, 10, {DW_CFA_nop, DW_CFA_nop});
  section.fde(cie, kCode + 61, 3, {DW_CFA_undefined, 16});
  CHECK(rows(section) == std::vector<Row>{{0, kSp, 0, 2},
                                          {16, kSp, 0, 1},
                                          {40, kSp, 0, 2},
                                          {49, kStop},
                                          {50, kSp, 0, 1},
                                          {60, kStop},
                                          {64, kNone}});
}

TEST_CASE("the code that signal handlers return to is marked") {
  EhFrame section;
  const std::size_t ordinary = section.cie();
  const std::size_t of_signals = section.cie({.augmentation = "zRS"});
  section.fde(ordinary, kCode + 0x10, 16, {});
  section.fde(of_signals, kCode + 0x30, 10, {});
  const auto table = read(section.file());
  REQUIRE(table.ok());
  CHECK(table->functions == std::vector<FunctionExtent>{{0x10, 16, 0}, {0x30, 10, 1}});
}

TEST_CASE("pointer encodings and augmentations") {
  const auto of = [](const CieParts& parts, const std::string& begin_and_size) {
    EhFrame section;
    const std::size_t cie = section.cie(parts);
    std::string body = begin_and_size;
    body.append(parts.augmentation.starts_with('z') ? 1 : 0, '\0');
    section.entry(static_cast<std::uint32_t>(section.bytes().size() + 4 - cie), body);
    return rows(section);
  };
  const std::vector<Row> expected = {{0, kSp, 0, 1}, {64, kNone}};
  std::string wide;
  EhFrame::number<std::uint64_t>(wide, kCode);
  EhFrame::number<std::uint64_t>(wide, 64);
  std::string narrow;
  EhFrame::number<std::uint32_t>(narrow, kCode);
  EhFrame::number<std::uint32_t>(narrow, 64);
  CHECK(of({.augmentation = "", .augmentation_data = {}}, wide) == expected);
  CHECK(of({.augmentation = "z",
            .augmentation_data = {},
            .program = {0, DW_CFA_def_cfa, 7, 8, kOffset | 16, 1}},
           wide) == expected);
  CHECK(of({.augmentation_data = {DW_EH_PE_absptr}}, wide) == expected);
  CHECK(of({.augmentation_data = {DW_EH_PE_sdata8}}, wide) == expected);
  CHECK(of({.augmentation_data = {DW_EH_PE_udata4}}, narrow) == expected);
  CHECK(of({.augmentation_data = {DW_EH_PE_sdata4}}, narrow) == expected);
  CHECK(of({.augmentation_data = {DW_EH_PE_uleb128}}, std::string("\x80\xa0\x80\x02\x40", 5)) == expected);
  CHECK(of({.augmentation = "zPLR",
            .augmentation_data = {DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1, 2, 3, 4, 0x1b,
                                  DW_EH_PE_udata4}},
           narrow) == expected);
  // Pointers relative to a GOT and pointers in memory; augmentations that are unknown or cut short.
  CHECK(of({.augmentation_data = {DW_EH_PE_datarel | DW_EH_PE_sdata4}}, narrow).empty());
  CHECK(of({.augmentation_data = {DW_EH_PE_indirect | DW_EH_PE_sdata4}}, narrow).empty());
  CHECK(of({.augmentation = "zXR"}, narrow).empty());
  CHECK(of({.augmentation = "eh", .augmentation_data = {}}, narrow).empty());
  CHECK(of({.augmentation = "zPR", .augmentation_data = {DW_EH_PE_absptr, 1}}, narrow).empty());
}

TEST_CASE("a length of 64 bits") {
  EhFrame plain;
  plain.cie();
  EhFrame section;
  EhFrame::number<std::uint32_t>(section.bytes(), UINT32_MAX);
  EhFrame::number<std::uint64_t>(section.bytes(), plain.bytes().size() - 4);
  section.bytes() += plain.bytes().substr(4);
  section.fde(0, kCode, 64, {});
  CHECK(rows(section) == std::vector<Row>{{0, kSp, 0, 1}, {64, kNone}});
}

TEST_CASE("entries that lie say nothing") {
  SECTION("no CIE at that place: none, before the section, inside another, an FDE, itself") {
    EhFrame section;
    const std::size_t cie = section.cie();
    const std::size_t fde = section.fde(cie, kCode, 16, {});
    section.fde(cie + 4, kCode + 0x100, 16, {});
    section.fde(fde, kCode + 0x200, 16, {});
    section.fde(section.bytes().size(), kCode + 0x300, 16, {});
    section.fde(section.bytes().size() + 100, kCode + 0x400, 16, {});
    CHECK(rows(section) == std::vector<Row>{{0, kSp, 0, 1}, {16, kNone}});
    EhFrame without;
    without.fde(0, kCode, 16, {});
    CHECK(rows(without).empty());
  }
  SECTION("lengths beyond the end") {
    EhFrame section;
    const std::size_t cie = section.cie();
    section.fde(cie, kCode, 16, {});
    const std::size_t last = section.fde(cie, kCode + 0x100, 16, {});
    section.bytes()[last + 2] = '\x7f';
    CHECK(rows(section) == std::vector<Row>{{0, kSp, 0, 1}, {16, kNone}});
  }
  SECTION("the terminator, and what follows it") {
    EhFrame section;
    const std::size_t cie = section.cie();
    section.fde(cie, kCode, 16, {});
    EhFrame::number<std::uint32_t>(section.bytes(), 0);
    section.fde(cie, kCode + 0x100, 16, {});
    CHECK(rows(section) == std::vector<Row>{{0, kSp, 0, 1}, {16, kNone}});
  }
  SECTION("functions outside of the code, or without size") {
    EhFrame section;
    const std::size_t cie = section.cie();
    section.fde(cie, kCode - 1, 16, {});
    section.fde(cie, kCode, 0, {});
    section.fde(cie, kCode + 1, UINT32_MAX, {});
    section.fde(cie, kCode + 0x20, 0x7fffffff, {});
    CHECK(rows(section) == std::vector<Row>{{0x1f, kStop}, {0x20, kSp, 0, 1}, {0x8000001f, kNone}});
  }
  SECTION("unknown instructions, operands cut short, places out of order") {
    CHECK(rows({kAdvance | 4, 0x3f, kAdvance | 4}) == std::vector<Row>{{0, kSp, 0, 1}, {4, kNone}});
    CHECK(rows({kAdvance | 4, DW_CFA_def_cfa, 0x87}) == std::vector<Row>{{0, kSp, 0, 1}, {4, kNone}});
    CHECK(rows({DW_CFA_def_cfa_expression, 0xff, 0xff, 0xff, 0x7f}) == std::vector<Row>{{0, kNone}});
    CHECK(rows({kAdvance | 4, DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff, DW_CFA_def_cfa_offset, 16}) ==
          std::vector<Row>{{0, kSp, 0, 1}, {64, kNone}});
    CHECK(rows({kAdvance | 63, kAdvance | 1, DW_CFA_def_cfa_offset, 16}) ==
          std::vector<Row>{{0, kSp, 0, 1}, {64, kNone}});
    CHECK(rows({DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref, DW_CFA_def_cfa_offset, 16}) ==
          std::vector<Row>{{0, kNone}});
  }
}

TEST_CASE("without section headers .eh_frame is found by PT_GNU_EH_FRAME") {
  EhFrame section;
  section.fde(section.cie(), kCode, 64, {});
  std::string file = section.file();
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  const std::size_t frames = file.find(section.bytes());
  // The header, then new program headers: the code, what holds .eh_frame, .eh_frame_hdr.
  const std::uint64_t search = file.size();
  file += std::string("\1\x1b\xff\xff", 4);
  EhFrame::number<std::uint32_t>(file, static_cast<std::uint32_t>(kEhFrameAddress - (0x600000 + 4)));
  EhFrame::number<std::uint64_t>(file, 0);
  Elf64_Phdr code{};
  std::memcpy(&code, file.data() + sizeof header, sizeof code);
  Elf64_Phdr data{};
  data.p_type = PT_LOAD;
  data.p_flags = PF_R;
  data.p_offset = frames - 8;
  data.p_vaddr = kEhFrameAddress - 8;
  data.p_filesz = data.p_memsz = section.bytes().size() + 8;
  Elf64_Phdr found{};
  found.p_type = PT_GNU_EH_FRAME;
  found.p_offset = search;
  found.p_vaddr = 0x600000;
  header.e_phoff = file.size();
  header.e_phnum = 3;
  header.e_shoff = 0;
  header.e_shnum = 0;
  for (const Elf64_Phdr& segment : {code, data, found}) {
    EhFrame::number(file, segment);
  }
  std::memcpy(file.data(), &header, sizeof header);
  const auto table = read(file);
  REQUIRE(table.ok());
  CHECK(rows_of(*table) == std::vector<Row>{{0, kSp, 0, 1}, {64, kNone}});
}

TEST_CASE("files without a table, and no files at all") {
  const auto without = read(ElfImage().build());
  REQUIRE(without.ok());
  CHECK(without->rows.empty());
  CHECK(without->segments.size() == 1);

  const auto error_of = [](const std::string& image) {
    const auto table = read(image);
    REQUIRE_FALSE(table.ok());
    return table.error().message;
  };
  CHECK(error_of("") == "not an ELF file");
  CHECK(error_of("#!/bin/sh\n") == "not an ELF file");
  CHECK(error_of(ElfImage().build().substr(0, 63)) == "not an ELF file");
  CHECK(error_of(EhFrame::with_machine(ElfImage().build(), EM_RISCV)) ==
        "an ELF file for another architecture than x86_64 and arm64");
  std::string data_only = ElfImage().build();
  data_only[sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_flags)] = PF_R;
  CHECK(error_of(data_only) == "an ELF file without an executable segment");

  ElfImage huge;
  huge.bytes(".eh_frame", "1234");
  huge.sections().back().sh_flags = SHF_ALLOC;
  huge.sections().back().sh_size = std::uint64_t{4} << 30U;
  CHECK(error_of(huge.build()) == "the ELF file claims an .eh_frame of more than 256 MiB");
}

TEST_CASE("a file cut short anywhere has fewer rows and is no harm") {
  EhFrame section;
  const std::size_t cie = section.cie();
  for (std::uint64_t i = 0; i < 8; ++i) {
    section.fde(cie, kCode + i * 0x100, 64, {kAdvance | 1, DW_CFA_def_cfa_offset, 16});
  }
  const std::string file = section.file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto table = read_unwind_table(std::string_view(file).substr(0, size));
    CHECK((!table.ok() || table->rows.size() <= 24));
  }
}

}  // namespace offwait::test
