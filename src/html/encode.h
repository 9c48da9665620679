// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes in forms that a page carries.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace offwait::html {

/// With padding, in one line (RFC 4648, section 4).
std::string base64(std::string_view bytes);

/// FIPS 180-4. A page says with it which script and which style it allows.
std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// Appends the number in groups of seven bits, the lowest first (LEB128).
void put_number(std::string& out, std::uint64_t number);

}  // namespace offwait::html
