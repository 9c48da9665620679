// SPDX-License-Identifier: GPL-2.0-or-later
// A screen of cells as a plain value: what stands where, and what it is. Who puts it out chooses how a role
// looks on its terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "report/canvas.h"

namespace offwait {

/// What a cell is. A text says the same without roles: none is told by its look alone.
enum class CellRole : std::uint8_t {
  plain,
  strong,
  heading,
  muted,
  actor,
  knot,  ///< part of a knot
  good,
  warn,
  running,
  runnable,
  waiting,
  bar,     ///< a number as a length
  unsure,  ///< the same, where it may be less
  key,
};
inline constexpr std::size_t kCellRoles = static_cast<std::size_t>(CellRole::key) + 1;

/// `text` is escaped: it has no character that a terminal would act on.
struct Cell {
  std::string text;
  CellRole role = CellRole::plain;
  bool chosen = false;  ///< of the row that keys act on
};

/// The cells of one row from left to right, without gaps.
struct CellRow {
  std::vector<Cell> cells{};

  std::string text() const;
};

/// Exactly `height` rows, none wider than `width`.
struct CellScreen {
  int width = 0;
  int height = 0;
  std::vector<CellRow> rows{};

  /// As plain text: a line for each row, without spaces at its end.
  std::string text() const;
};

/// Writes one row. What is put is escaped, and cut at the width.
class CellWriter {
 public:
  CellWriter(int width, Charset charset) : canvas_(width, false, charset), charset_(charset), width_(width) {}

  CellWriter& put(std::string_view text, CellRole role = CellRole::plain);
  /// At most `columns` of it.
  CellWriter& put_cut(std::string_view text, int columns, CellRole role = CellRole::plain);
  /// Right-aligned in `columns`, or as much wider as it is.
  CellWriter& put_right(std::string_view text, int columns, CellRole role = CellRole::plain);
  /// Spaces up to `column`.
  CellWriter& to(int column);
  /// `─` up to `column`.
  CellWriter& rule(int column);
  int used() const { return used_; }
  int left() const { return width_ - used_; }
  int columns_of(std::string_view text) const { return canvas_.columns(text); }

  CellRow take();

 private:
  void put_clean(std::string text, CellRole role);

  Canvas canvas_;  ///< for what texts look like in this charset
  Charset charset_;
  int width_;
  int used_ = 0;
  CellRow row_{};
};

/// Two rows side by side; the first one takes `columns`, and a line stands between them.
CellRow beside(const CellRow& left, const CellRow& right, int columns, Charset charset);

/// Values from 0 on as the heights of `columns` characters, the last value on the right.
std::string sparkline(const std::vector<double>& values, int columns, Charset charset);
/// A part of the whole, 0 to 1, as a bar of at most `columns`.
std::string bar(double part, int columns, Charset charset);

}  // namespace offwait
