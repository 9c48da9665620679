// SPDX-License-Identifier: GPL-2.0-or-later
// Percent encoding: bytes as one printable word, for text values (text.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace offwait {

/// Appends `bytes`. Bytes that are not printable ASCII, and space, `%`, `;`, `#` and `=`, become %XX.
void append_percent_encoded(std::string& out, std::string_view bytes);

/// Replaces `out` by the bytes that `text` encodes, and returns nothing. If `text` is no encoding (it has a
/// byte outside printable ASCII, or a `%` without two hexadecimal digits), returns what is wrong and what is
/// expected.
std::optional<std::string> percent_decode(std::string_view text, std::string& out);

/// `text` from a hostile file for an error message: in single quotes, printable, cut after 40 bytes.
std::string quoted(std::string_view text);

}  // namespace offwait
