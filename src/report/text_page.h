// SPDX-License-Identifier: GPL-2.0-or-later
// What all sections of the text report need: the findings, which of them are shown, the names of actors, and
// the canvas they go to.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/findings.h"
#include "analysis/screen.h"
#include "report/canvas.h"
#include "report/fold.h"
#include "report/names.h"

namespace offwait {

/// The most columns of a name that came from the target, in a sentence.
inline constexpr int kNameColumns = 28;

struct TextPage {
  const Findings& findings;
  const Screen& screen;
  const ActorNames& names;
  bool verbose;
  StackNoise noise;
  Canvas& canvas;

  const std::string& brief(FoundActorId actor) const { return names.brief(actor); }
  std::string full(FoundActorId actor) const { return names.full(findings, actor); }
  /// Part of the window: "42%".
  std::string share(double s) const;
  /// How many of a list's items are shown.
  std::size_t limit(std::size_t shown, std::size_t all) const;
};

/// Text that is not broken over lines; nothing for empty text.
std::vector<Word> unbroken(const std::string& text, Ink ink = Ink::plain);

/// The fields of a line, with dots between them; empty fields are left out.
std::vector<Word> fields(const std::vector<std::vector<Word>>& all);

/// An empty line, and the title of a section with what it means.
void put_heading(Canvas& canvas, const std::string& title, const std::string& meaning = "");

/// A section of one paragraph: `TITLE  text`, with the text's lines under each other.
void put_paragraph(Canvas& canvas, const std::string& title, const std::string& text,
                   Ink title_ink = Ink::strong, Ink ink = Ink::plain);

/// `3 more edges (-v)`; nothing for none. The first word of `noun` is the one that gets an s.
void put_left_out(Canvas& canvas, std::size_t count, const std::string& noun, int indent = 2);

/// Where the text behind a label begins.
inline constexpr int kLabelled = 15;
/// `    waits in   `: begins a line that details the one before.
void put_label(Canvas& canvas, const std::string& text);

}  // namespace offwait
