// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_page.h"

#include <algorithm>

#include "report/quantity.h"

namespace offwait {

std::string TextPage::share(double s) const { return format_percent(s, findings.window_s); }

std::size_t TextPage::limit(std::size_t shown, std::size_t all) const {
  return verbose ? all : std::min(shown, all);
}

std::vector<Word> unbroken(const std::string& text, Ink ink) {
  return text.empty() ? std::vector<Word>{} : std::vector<Word>{{text, ink}};
}

std::vector<Word> fields(const std::vector<std::vector<Word>>& all) {
  std::vector<Word> out;
  for (const std::vector<Word>& field : all) {
    if (field.empty()) {
      continue;
    }
    if (!out.empty()) {
      out.push_back({"·", Ink::dim});
    }
    out.insert(out.end(), field.begin(), field.end());
  }
  return out;
}

void put_heading(Canvas& canvas, const std::string& title, const std::string& meaning) {
  canvas.gap();
  canvas.put(title, Ink::strong);
  if (meaning.empty()) {
    canvas.end();
  } else {
    canvas.put("  ");
    canvas.flow(words(meaning, Ink::dim), static_cast<int>(title.size()) + 2);
  }
}

void put_paragraph(Canvas& canvas, const std::string& title, const std::string& text, Ink title_ink,
                   Ink ink) {
  canvas.gap();
  canvas.put(title, title_ink).put("  ");
  canvas.flow(words(text, ink), static_cast<int>(title.size()) + 2);
}

void put_left_out(Canvas& canvas, std::size_t count, const std::string& noun, int indent) {
  if (count > 0) {
    const std::size_t end = std::min(noun.find(' '), noun.size());
    const std::string plural = noun.substr(0, end) + (count == 1 ? "" : "s") + noun.substr(end);
    canvas.to(indent).put(format_count(count) + " more " + plural + " (-v)", Ink::dim).end();
  }
}

void put_label(Canvas& canvas, const std::string& text) { canvas.to(4).put(text, Ink::dim).to(kLabelled); }

}  // namespace offwait
