// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes as one printable word: the %XX of text values (text.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace offwait {

/// Appends `bytes` with everything but printable ASCII, and with space, `%`, `;`, `#` and `=`, as %XX.
void append_percent_encoded(std::string& out, std::string_view bytes);

/// Replaces `out` by the bytes that `text` stands for. What is wrong with it and what is expected, if it is
/// no encoding: a byte outside printable ASCII, or a `%` without two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text, std::string& out);

/// `text` from a hostile file between single quotes for an error message: printable, cut after 40 bytes.
std::string quoted(std::string_view text);

}  // namespace offwait
