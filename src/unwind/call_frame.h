// SPDX-License-Identifier: GPL-2.0-or-later
// Executes the call frame programs of .eh_frame (DWARF 5 §6.4.2) and gives rules in the form of
// offwait/unwind.h. What no rule can express becomes NONE; a rule is never half right.
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
#include "unwind/encoded_pointer.h"

namespace offwait {

/// The rule of a row, without its pc.
struct UnwindRule {
  std::uint8_t kind = OFFWAIT_UNWIND_NONE;
  std::int8_t fp = OFFWAIT_UNWIND_FP_SAME;
  std::uint16_t cfa = 0;
  friend bool operator==(const UnwindRule&, const UnwindRule&) = default;
};

/// Collects the rows of a table.
class UnwindRows {
 public:
  /// `rule` holds from `pc` on. Calls come in order of pc; of two calls with the same pc the later one
  /// counts.
  void add(std::uint32_t pc, UnwindRule rule);
  std::size_t size() const { return rows_.size(); }
  /// The place of the last row; 0 without rows.
  std::uint32_t last() const { return rows_.empty() ? 0 : rows_.back().pc; }
  std::vector<offwait_unwind_row> take() && { return std::move(rows_); }

 private:
  std::vector<offwait_unwind_row> rows_;
};

/// Where the caller's value of one register is.
struct RegisterRule {
  enum class How : std::uint8_t { same, undefined, at_cfa, at_fp, at_sp, lost };
  How how = How::same;
  std::int64_t offset = 0;  ///< for at_*: the register is saved this many bytes from there
};

/// One line of DWARF's table (§6.4.1), for the registers that rules use.
struct CallFrame {
  enum class Form : std::uint8_t { unknown, plain, deref, plt };
  enum class Base : std::uint8_t { sp, fp, other };
  Form form = Form::unknown;
  Base base = Base::other;
  std::int64_t offset = 0;  ///< bytes from the register; for plt: bytes of the entry before its push is done
  std::int64_t added = 0;   ///< bytes added after dereferencing
  RegisterRule fp;
  RegisterRule ra;
  RegisterRule sp;  ///< same: the caller's sp is the CFA, as always
};

/// A common information entry.
struct CommonInformation {
  bool usable = false;
  bool augmented = false;  ///< its FDEs have a field of augmentation data
  bool signal = false;     ///< its code is what signal handlers return to (`S`)
  std::uint8_t pointer_encoding = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  CallFrame initial;
};

/// Reads a common information entry, from behind its length and CIE id.
CommonInformation read_common_information(Cursor cursor, Architecture architecture,
                                          const EhFrameSection& section);

/// DWARF's number of the register, or of what takes its place, that has the return address.
std::uint64_t return_address_register(Architecture architecture);

/// Adds the rows that one FDE's program gives for [begin, end): at least one, at pcs below `end`. `begin` and
/// `end` count from `base`, which is less than 4 GiB below them.
void run_program(Cursor program, const CommonInformation& cie, Architecture architecture,
                 const EhFrameSection& section, std::uint64_t base, std::uint32_t begin, std::uint32_t end,
                 UnwindRows& rows);

}  // namespace offwait
