// SPDX-License-Identifier: GPL-2.0-or-later
// The call frame programs of .eh_frame (DWARF 5 §6.4.2), run to rules as offwait/unwind.h has them. What no
// rule can say becomes NONE: a program is never wrong half way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "offwait/unwind.h"
#include "unwind/cursor.h"
#include "unwind/eh_frame.h"

namespace offwait {

/// A row without its place.
struct UnwindRule {
  std::uint8_t kind = OFFWAIT_UNWIND_NONE;
  std::int8_t fp = OFFWAIT_UNWIND_FP_SAME;
  std::uint16_t cfa = 0;
  friend bool operator==(const UnwindRule&, const UnwindRule&) = default;
};

/// Rows in the making.
class UnwindRows {
 public:
  /// `rule` holds from `pc` on, which is not before that of the last call; the later of two for one pc
  /// counts.
  void add(std::uint32_t pc, UnwindRule rule);
  std::size_t size() const { return rows_.size(); }
  std::vector<offwait_unwind_row> take() && { return std::move(rows_); }

 private:
  std::vector<offwait_unwind_row> rows_;
};

/// Where .eh_frame is: pointers in it may count from their own place.
struct EhFrameSection {
  std::string_view bytes;
  std::uint64_t address = 0;  ///< virtual
};

/// A pointer in one of the DW_EH_PE_* encodings; nothing if it is cut short or counts from something that
/// .eh_frame files of these architectures do not use (function, text, GOT, memory).
std::optional<std::uint64_t> read_pointer(Cursor& cursor, std::uint8_t encoding,
                                          const EhFrameSection& section);

/// What a program knows of one register.
struct RegisterRule {
  enum class How : std::uint8_t { same, undefined, at_cfa, at_fp, at_sp, lost };
  How how = How::same;
  std::int64_t offset = 0;  ///< bytes, of at_*: it is saved at this distance from there
};

/// One line of DWARF's table, of the registers that matter.
struct CallFrame {
  enum class Form : std::uint8_t { unknown, plain, deref, plt };
  enum class Base : std::uint8_t { sp, fp, other };
  Form form = Form::unknown;
  Base base = Base::other;
  std::int64_t offset = 0;  ///< bytes, from the register; of plt: the entry's bytes before its push is done
  std::int64_t added = 0;   ///< bytes, after dereferencing
  RegisterRule fp;
  RegisterRule ra;
  RegisterRule sp;  ///< same: it is the CFA, as always
};

/// A common information entry.
struct CommonInformation {
  bool usable = false;
  bool augmented = false;  ///< its FDEs have a field of augmentation data
  bool signal = false;     ///< of the code that the kernel has a signal handler return to
  std::uint8_t pointer_encoding = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  CallFrame initial;
};

/// Its contents after length and CIE id.
CommonInformation read_common_information(Cursor cursor, Architecture architecture,
                                          const EhFrameSection& section);

/// Rows of one FDE's program for [begin, end): less than `end`, at least one. Both less than 4 GiB above
/// `base`, the address that pcs are counted from.
void run_program(Cursor program, const CommonInformation& cie, Architecture architecture,
                 const EhFrameSection& section, std::uint64_t base, std::uint32_t begin, std::uint32_t end,
                 UnwindRows& rows);

}  // namespace offwait
