// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/escape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace offwait {

namespace {

struct Range {
  char32_t first, last;
};

// Characters without a shape of their own that change how others are shown or read.
constexpr std::array kDeceptive = {
    Range{0x80, 0x9f},     Range{0xad, 0xad},       Range{0x34f, 0x34f},      Range{0x61c, 0x61c},
    Range{0x115f, 0x1160}, Range{0x17b4, 0x17b5},   Range{0x180b, 0x180f},    Range{0x200b, 0x200f},
    Range{0x2028, 0x202e}, Range{0x2060, 0x206f},   Range{0x3164, 0x3164},    Range{0xfdd0, 0xfdef},
    Range{0xfe00, 0xfe0f}, Range{0xfeff, 0xfeff},   Range{0xffa0, 0xffa0},    Range{0xfff0, 0xfffb},
    Range{0xe000, 0xf8ff}, Range{0xe0000, 0xe0fff}, Range{0xf0000, 0x10ffff},
};

constexpr std::array kWide = {
    Range{0x1100, 0x115f},   Range{0x2300, 0x23ff},   Range{0x25a0, 0x27bf},   Range{0x2900, 0x297f},
    Range{0x2b00, 0x2bff},   Range{0x2e80, 0xa4cf},   Range{0xa960, 0xa97f},   Range{0xac00, 0xd7ff},
    Range{0xf900, 0xfaff},   Range{0xfe10, 0xfe1f},   Range{0xfe30, 0xfe6f},   Range{0xff01, 0xff60},
    Range{0xffe0, 0xffe6},   Range{0x12000, 0x1254f}, Range{0x16fe0, 0x18dff}, Range{0x1aff0, 0x1b2ff},
    Range{0x1d300, 0x1d37f}, Range{0x1f000, 0x1faff}, Range{0x20000, 0x3fffd},
};

template <std::size_t N>
bool contains(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

struct Decoded {
  char32_t character = 0;
  std::size_t length = 0;  ///< in bytes; 0: the first byte begins no valid character
};

/// The first character of non-empty `bytes`: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || bytes.size() < length) {
    return {};
  }
  char32_t character = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return {};
    }
    character = character << 6U | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  if (overlong || (character >= 0xd800 && character <= 0xdfff) || character > 0x10ffff) {
    return {};
  }
  return {character, length};
}

void append_hex(std::string& out, std::uint32_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = std::max(digits, value > 0xfffff  ? 6
                                    : value > 0xffff ? 5
                                                     : digits) *
                       4 -
                   4;
       shift >= 0; shift -= 4) {
    out += kDigits[value >> static_cast<unsigned>(shift) & 0xfU];
  }
}

}  // namespace

std::string escape(std::string_view bytes, Charset charset) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Decoded decoded = decode(bytes);
    const std::size_t length = std::max<std::size_t>(decoded.length, 1);
    const char32_t c = decoded.character;
    if (decoded.length == 0 || c < 0x20 || c == 0x7f) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(bytes[0]), 2);
    } else if (contains(kDeceptive, c) || (c & 0xfffeU) == 0xfffeU ||
               (charset == Charset::ascii && c >= 0x80)) {
      out += "\\u{";
      append_hex(out, c, 4);
      out += '}';
    } else {
      out += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
  return out;
}

int display_width(std::string_view escaped) {
  int width = 0;
  while (!escaped.empty()) {
    const Decoded decoded = decode(escaped);
    width += contains(kWide, decoded.character) ? 2 : 1;
    escaped.remove_prefix(std::max<std::size_t>(decoded.length, 1));
  }
  return width;
}

std::string cut_to_width(std::string_view escaped, int columns, Charset charset) {
  if (display_width(escaped) <= columns) {
    return std::string(escaped);
  }
  const std::string_view mark = charset == Charset::ascii ? "..." : "…";
  const int mark_width = charset == Charset::ascii ? 3 : 1;
  if (columns < mark_width) {
    return std::string(mark.substr(0, static_cast<std::size_t>(std::max(columns, 0))));
  }
  std::size_t kept = 0;
  int width = mark_width;
  while (kept < escaped.size()) {
    const Decoded decoded = decode(escaped.substr(kept));
    width += contains(kWide, decoded.character) ? 2 : 1;
    if (width > columns) {
      break;
    }
    kept += std::max<std::size_t>(decoded.length, 1);
  }
  return std::string(escaped.substr(0, kept)).append(mark);
}

}  // namespace offwait
