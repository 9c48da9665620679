// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/canvas.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace offwait {

namespace {

/// offwait's own marks, and what stands for them where only ASCII may be written.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kMarks = {{
    {"→", "->"},
    {"⇄", "<->"},
    {"←", "<-"},
    {"↺", "(self)"},
    {"┆", "|"},
    {"…", "..."},
    {"×", "x"},
    {"µ", "u"},
    {"≥", ">="},
    {"≤", "<="},
    {"·", "-"},
    {"±", "+-"},
}};

std::string_view sequence(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return "";
    case Ink::strong:
      return "\x1b[1m";
    case Ink::actor:
      return "\x1b[36m";
    case Ink::dim:
      return "\x1b[2m";
    case Ink::good:
      return "\x1b[32m";
    case Ink::warn:
      return "\x1b[1;31m";
  }
  return "";
}

std::string with_ascii_marks(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto* const mark = std::find_if(kMarks.begin(), kMarks.end(), [&](const auto& candidate) {
      return text.substr(0, candidate.first.size()) == candidate.first;
    });
    if (mark != kMarks.end()) {
      out += mark->second;
      text.remove_prefix(mark->first.size());
    } else {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::vector<Word> words(std::string_view text, Ink ink) {
  std::vector<Word> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) {
      out.push_back({std::string(text.substr(0, end)), ink});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Canvas::Canvas(int width, bool color, Charset charset)
    : width_(std::max(width, kMinWidth)), color_(color), charset_(charset) {}

std::string Canvas::clean(std::string_view text) const {
  return charset_ == Charset::utf8 ? escape(text) : escape(with_ascii_marks(text), Charset::ascii);
}

std::string Canvas::fit(std::string_view text, int columns) const {
  return cut_to_width(clean(text), columns, charset_);
}

void Canvas::put_clean(std::string text, Ink ink) {
  if (!text.empty()) {
    used_ += display_width(text);
    if (!line_.empty() && line_.back().ink == ink) {
      line_.back().text += text;
    } else {
      line_.push_back({std::move(text), ink});
    }
  }
}

Canvas& Canvas::put(std::string_view text, Ink ink) {
  put_clean(clean(text), ink);
  return *this;
}

Canvas& Canvas::put_right(std::string_view text, int columns, Ink ink) {
  std::string cleaned = clean(text);
  const int missing = columns - display_width(cleaned);
  put_clean(std::string(static_cast<std::size_t>(std::max(missing, 0)), ' '), Ink::plain);
  put_clean(std::move(cleaned), ink);
  return *this;
}

Canvas& Canvas::to(int column) {
  const int missing = std::max(column - used_, used_ > 0 && used_ != column ? 1 : 0);
  put_clean(std::string(static_cast<std::size_t>(missing), ' '), Ink::plain);
  return *this;
}

void Canvas::end() {
  // Spaces at the end are not written.
  while (!line_.empty()) {
    std::string& last = line_.back().text;
    const std::size_t kept = last.find_last_not_of(' ') + 1;  // npos + 1 == 0
    used_ -= static_cast<int>(last.size() - kept);
    last.resize(kept);
    if (kept > 0) {
      break;
    }
    line_.pop_back();
  }
  const bool cut = used_ > width_;
  int room = cut ? width_ - mark_width() : width_;
  for (Run& run : line_) {
    const int run_width = display_width(run.text);
    const bool last = run_width > room;
    if (last) {
      // The spaces make sure that the mark is written even if just this run would have fitted.
      run.text = cut_to_width(run.text + "    ", room + mark_width(), charset_);
    }
    const std::string_view start = color_ ? sequence(run.ink) : "";
    out_.append(start).append(run.text).append(start.empty() ? "" : "\x1b[0m");
    if (last) {
      break;
    }
    room -= run_width;
  }
  out_ += '\n';
  line_.clear();
  used_ = 0;
}

void Canvas::gap() {
  if (!out_.empty() && (out_.size() < 2 || out_.substr(out_.size() - 2) != "\n\n")) {
    out_ += '\n';
  }
}

void Canvas::flow(const std::vector<Word>& words, int indent, int max_lines) {
  int lines = 1;
  bool first_line = true;
  bool line_has_word = false;
  for (std::size_t i = 0; i < words.size();) {
    // A word and those glued to it.
    std::size_t next = i;
    int unit = 0;
    do {
      unit += columns(words[next].text);
      ++next;
    } while (next < words.size() && words[next].glued);

    const bool last_line = max_lines > 0 && lines == max_lines;
    const int reserved = last_line && next < words.size() ? mark_width() + 1 : 0;
    const int space = line_has_word ? 1 : 0;
    if (line_has_word && used_ + space + unit + reserved > width_) {
      if (last_line) {
        put(" …", Ink::dim);
        break;
      }
      end();
      ++lines;
      first_line = false;
      line_has_word = false;
      continue;
    }
    if (line_has_word) {
      put_clean(" ", line_.back().ink == words[i].ink ? words[i].ink : Ink::plain);
    } else if (!first_line) {
      to(indent);
    }
    for (; i < next; ++i) {
      put(words[i].text, words[i].ink);
    }
    line_has_word = true;
  }
  end();
}

}  // namespace offwait
