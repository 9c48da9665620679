// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of a bounded width with ink, for terminals: no line is ever wider than the canvas, and without
// color the text is the same without escape sequences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/escape.h"

namespace offwait {

enum class Ink : std::uint8_t { plain, strong, actor, dim, good, warn };

/// A run of text that is not broken, unless it is wider than a line: then it is cut.
struct Word {
  std::string text;
  Ink ink = Ink::plain;
  bool glued = false;  ///< follows the word before it without a space and on the same line
};

/// The words of `text`, separated by spaces.
std::vector<Word> words(std::string_view text, Ink ink = Ink::plain);

class Canvas {
 public:
  /// `width` is at least kMinWidth; less is taken as that.
  Canvas(int width, bool color, Charset charset);
  static constexpr int kMinWidth = 40;

  /// Appends to the current line. All text is escaped; offwait's own marks (→ ⇄ …) become ASCII where needed.
  Canvas& put(std::string_view text, Ink ink = Ink::plain);
  /// Right-aligned in `columns`.
  Canvas& put_right(std::string_view text, int columns, Ink ink = Ink::plain);
  /// Spaces up to `column`; at least one space if the line is not empty, none if it is there already.
  Canvas& to(int column);
  /// Ends the line. What does not fit is cut, with a mark.
  void end();
  /// An empty line, unless the last one is or nothing was written yet.
  void gap();

  /// Continues the current line with words and breaks it so that each further line is indented by `indent`;
  /// ends the last line. With max_lines > 0, the last line that is allowed ends with … when words are left.
  void flow(const std::vector<Word>& words, int indent, int max_lines = 0);

  /// What `text` looks like here: escaped, in this charset. Its width is display_width() of it.
  std::string clean(std::string_view text) const;
  /// At most `columns` wide.
  std::string fit(std::string_view text, int columns) const;
  int columns(std::string_view text) const { return display_width(clean(text)); }
  int width() const { return width_; }

  std::string take() { return std::exchange(out_, {}); }

 private:
  struct Run {
    std::string text;  ///< clean
    Ink ink;
  };
  void put_clean(std::string text, Ink ink);
  int mark_width() const { return charset_ == Charset::ascii ? 3 : 1; }

  int width_;
  bool color_;
  Charset charset_;
  std::vector<Run> line_;
  int used_ = 0;
  std::string out_;
};

}  // namespace offwait
