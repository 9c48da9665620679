// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace offwait {
namespace {

constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiHeights = {"_", ".", ":", "-", "=", "+", "*", "#"};
constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

int columns_of(const CellRow& row) {
  int columns = 0;
  for (const Cell& cell : row.cells) columns += display_width(cell.text);
  return columns;
}

}  // namespace

std::string CellRow::text() const {
  std::string out;
  for (const Cell& cell : cells) out += cell.text;
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string CellScreen::text() const {
  std::string out;
  for (const CellRow& row : rows) out += row.text() + "\n";
  return out;
}

void CellWriter::put_clean(std::string text, CellRole role) {
  if (left() <= 0 || text.empty()) return;
  if (display_width(text) > left()) text = cut_to_width(text, left(), charset_);
  used_ += display_width(text);
  if (!row_.cells.empty() && row_.cells.back().role == role) {
    row_.cells.back().text += text;
  } else {
    row_.cells.push_back({std::move(text), role});
  }
}

CellWriter& CellWriter::put(std::string_view text, CellRole role) {
  put_clean(canvas_.clean(text), role);
  return *this;
}

CellWriter& CellWriter::put_cut(std::string_view text, int columns, CellRole role) {
  put_clean(canvas_.fit(text, std::max(columns, 0)), role);
  return *this;
}

CellWriter& CellWriter::put_right(std::string_view text, int columns, CellRole role) {
  std::string clean = canvas_.clean(text);
  to(used_ + std::max(0, columns - display_width(clean)));
  put_clean(std::move(clean), role);
  return *this;
}

CellWriter& CellWriter::to(int column) {
  if (column > used_) put_clean(std::string(static_cast<std::size_t>(column - used_), ' '), CellRole::plain);
  return *this;
}

CellWriter& CellWriter::rule(int column) {
  std::string line;
  for (int i = used_; i < std::min(column, width_); ++i) line += charset_ == Charset::utf8 ? "─" : "-";
  put_clean(std::move(line), CellRole::muted);
  return *this;
}

CellRow CellWriter::take() {
  used_ = 0;
  return std::exchange(row_, {});
}

CellRow beside(const CellRow& left, const CellRow& right, int columns, Charset charset) {
  CellRow out = left;
  const int missing = columns - columns_of(left);
  if (missing > 0)
    out.cells.push_back({std::string(static_cast<std::size_t>(missing), ' '), CellRole::plain});
  out.cells.push_back({charset == Charset::utf8 ? "│" : "|", CellRole::muted});
  out.cells.insert(out.cells.end(), right.cells.begin(), right.cells.end());
  return out;
}

std::string sparkline(const std::vector<double>& values, int columns, Charset charset) {
  const std::array<std::string_view, 8>& heights = charset == Charset::utf8 ? kHeights : kAsciiHeights;
  const std::size_t shown = std::min(values.size(), static_cast<std::size_t>(std::max(columns, 0)));
  const auto first = values.end() - static_cast<std::ptrdiff_t>(shown);
  const double most = shown == 0 ? 0 : *std::max_element(first, values.end());
  std::string out;
  for (auto value = first; value != values.end(); ++value) {
    const double height = most <= 0 ? 0 : std::round(*value / most * 7);
    out += heights[static_cast<std::size_t>(std::clamp(height, 0.0, 7.0))];
  }
  return out;
}

std::string bar(double part, int columns, Charset charset) {
  const double length = std::clamp(part, 0.0, 1.0) * columns;
  const auto whole = static_cast<std::size_t>(length);
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) out += charset == Charset::utf8 ? "█" : "#";
  const auto eighths = static_cast<std::size_t>((length - static_cast<double>(whole)) * 8);
  if (charset == Charset::utf8) out += kEighths[std::min<std::size_t>(eighths, 7)];
  return out;
}

}  // namespace offwait
