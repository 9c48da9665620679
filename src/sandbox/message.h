// SPDX-License-Identifier: GPL-2.0-or-later
// Values as bytes, sent by a confined process to a parent that does not trust it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace offwait {

class MessageWriter {
 public:
  void number(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));  // both ends are one machine
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_.append(text);
  }
  template <class Value>
  void values(const std::vector<Value>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    text({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// A read beyond the end gives 0 or an empty text, and failed() is true from then on.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof(value)) {
      fail();
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_.remove_prefix(sizeof(value));
    return value;
  }
  std::string_view text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  /// Any bytes may come as values, so `Value` must be good with any.
  template <class Value>
  std::vector<Value> values() {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::string_view bytes = text();
    if (bytes.size() % sizeof(Value) != 0) fail();
    std::vector<Value> values(bytes.size() / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
    return values;
  }
  bool at_end() const { return rest_.empty(); }
  bool failed() const { return failed_; }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace offwait
