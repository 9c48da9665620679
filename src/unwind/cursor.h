// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace offwait {

/// Reads little-endian numbers from untrusted bytes. A read beyond the end gives 0, and the cursor is
/// failed() from then on.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }
  bool failed() const { return failed_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  const char* position() const { return at_; }

  template <class Number>
  Number fixed() {
    Number number{};
    if (left() < sizeof(Number)) {
      fail();
      return number;
    }
    std::memcpy(&number, at_, sizeof(Number));
    at_ += sizeof(Number);
    return number;
  }

  /// An unsigned LEB128 number; bits beyond the 64th are dropped.
  std::uint64_t uleb() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; at_ != end_; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      if (shift < 64) {
        number |= std::uint64_t{byte & 0x7fU} << shift;
      }
      if (byte < 0x80) {
        return number;
      }
    }
    fail();
    return 0;
  }

  std::int64_t sleb() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; at_ != end_;) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      if (shift < 64) {
        number |= std::uint64_t{byte & 0x7fU} << shift;
        shift += 7;
      }
      if (byte < 0x80) {
        if ((byte & 0x40U) != 0 && shift < 64) {
          number |= ~std::uint64_t{0} << shift;
        }
        return static_cast<std::int64_t>(number);
      }
    }
    fail();
    return 0;
  }

  std::string_view bytes(std::uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const std::string_view taken(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  /// The characters before the next NUL, which is taken as well.
  std::string_view string() {
    const std::string_view rest(at_, left());
    const std::size_t length = rest.find('\0');
    if (length == std::string_view::npos) {
      fail();
      return {};
    }
    at_ += length + 1;
    return rest.substr(0, length);
  }

 private:
  void fail() {
    failed_ = true;
    at_ = end_;
  }

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool failed_ = false;
};

}  // namespace offwait
