// SPDX-License-Identifier: GPL-2.0-or-later
// Names, paths and stack frames come from the author of the recorded program: hostile bytes. The functions
// here make them safe to show on a terminal and to put into JSON, and measure how wide they are.
// UTF-8 is decoded by hand and not by utf8proc: utf8proc gives combining and unassigned characters width 0,
// while a width here may never be too small, and its categories do not flag invisible letters such as U+3164
// and U+115F.
#pragma once

#include <string>
#include <string_view>

namespace offwait {

enum class Charset : bool { utf8, ascii };

/// Valid UTF-8 (or, for Charset::ascii, ASCII) without anything that a terminal or a reader could be fooled
/// with. Kept: every printable character. Written `\xNN`: C0 control characters (newline and tab too), DEL,
/// and each byte that is not part of valid UTF-8. Written `\u{NNNN}`: C1 control characters, bidirectional
/// controls, zero-width and other invisible format characters, line separators, noncharacters, and, for
/// Charset::ascii, all that is not ASCII. A backslash stays as it is: escaping twice changes nothing.
std::string escape(std::string_view bytes, Charset charset = Charset::utf8);

/// Columns that escaped text takes, never too few: characters of the wide East Asian and emoji blocks count
/// as 2, all others as 1, combining marks too. (By block, not by a table of every character: a few
/// characters that terminals draw 1 wide count as 2.)
int display_width(std::string_view escaped);

/// The longest prefix that fits, with … (`...` for Charset::ascii) at the end if anything was cut.
/// With fewer columns than the mark needs, the mark is cut as well.
std::string cut_to_width(std::string_view escaped, int columns, Charset charset = Charset::utf8);

}  // namespace offwait
