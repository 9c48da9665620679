// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/percent.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace offwait {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";
constexpr std::size_t kQuotedBytes = 40;

constexpr unsigned byte_of(char c) { return static_cast<unsigned char>(c); }
constexpr bool printable(char c) { return c > ' ' && c <= '~'; }

constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned byte = '!'; byte <= '~'; ++byte) {
    plain[byte] = byte != '%' && byte != ';' && byte != '#' && byte != '=';
  }
  return plain;
}();

void append_hex(std::string& out, char c) {
  out += kHexDigits[byte_of(c) >> 4U];
  out += kHexDigits[byte_of(c) & 15U];
}

/// The value of a hexadecimal digit; 16 if `c` is no digit.
constexpr unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') {
    return byte_of(c) - '0';
  }
  if (c >= 'A' && c <= 'F') {
    return byte_of(c) - 'A' + 10;
  }
  if (c >= 'a' && c <= 'f') {
    return byte_of(c) - 'a' + 10;
  }
  return 16;
}

}  // namespace

void append_percent_encoded(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    if (kPlain[byte_of(c)]) {
      out += c;
    } else {
      out += '%';
      append_hex(out, c);
    }
  }
}

std::optional<std::string> percent_decode(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!printable(c)) {
      std::string message = "byte 0x";
      append_hex(message, c);
      message += " must be written as %";
      append_hex(message, c);
      return message;
    }
    if (c != '%') {
      out += c;
      continue;
    }
    const unsigned high = i + 1 < text.size() ? digit_value(text[i + 1]) : 16;
    const unsigned low = i + 2 < text.size() ? digit_value(text[i + 2]) : 16;
    if (high > 15 || low > 15) {
      return "bad escape " + quoted(text.substr(i, 3)) + " (expected % and two hexadecimal digits)";
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return std::nullopt;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, std::min(text.size(), kQuotedBytes))) {
    if (printable(c) || c == ' ') {
      out += c;
    } else {
      out += "\\x";
      append_hex(out, c);
    }
  }
  out += text.size() > kQuotedBytes ? "...'" : "'";
  return out;
}

}  // namespace offwait
