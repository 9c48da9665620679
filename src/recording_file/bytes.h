// SPDX-License-Identifier: GPL-2.0-or-later
// Values to bytes and back. ByteWriter and ByteReader have the same operators, so that one list of fields
// (rows.h) does for both.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/nanos.h"

namespace offwait {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are in memory");

template <class T>
concept StoredNumber = std::integral<T> || std::floating_point<T> || std::is_enum_v<T>;

/// Appends to a string.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  /// Fields that a version added behind the others.
  template <class... T>
  void added(const T&... values) {
    (put(values), ...);
  }
  /// A time in ns, signed or not.
  void time(auto at) { put(at); }
  /// An enumerator of `count`, the last of which is count - 1.
  void choice(auto value, std::size_t /*count*/) { put(value); }
  /// Bytes of a fixed number.
  template <std::size_t kSize>
  void array(const char (&bytes)[kSize]) {  // NOLINT(modernize-avoid-c-arrays): as in offwait/event.h
    out_.append(bytes, kSize);
  }
  /// What was written before identifies the row.
  void key() { key_end_ = out_.size(); }
  /// Where the key ends in the string; 0 if there was none.
  std::size_t key_end() const { return key_end_; }

 private:
  template <StoredNumber T>
  void put(const T& value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(value));  // NOLINT(*-reinterpret-cast)
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_ += text;
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put_all(list);
  }
  template <class T>
  void put(const std::set<T>& list) {
    put_all(list);
  }
  template <class Key, class Value>
  void put(const std::map<Key, Value>& map) {
    put_all(map);
  }
  void put_all(const auto& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const auto& one : list) put(one);
  }
  template <class First, class Second>
  void put(const std::pair<First, Second>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  requires(std::is_class_v<T>) void put(const T& value) { fields(*this, value); }

  std::string& out_;
  std::size_t key_end_ = 0;
};

/// Reads what ByteWriter wrote, or any other bytes. At the first value that is not there or is impossible
/// ok() becomes false, and everything from then on is left as it is.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  void fail() { ok_ = false; }
  std::string_view left() const { return left_; }
  /// The next bytes; empty after it has failed.
  std::string_view take(std::size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// Fields that a version added behind the others. Those of earlier versions stay as they are.
  template <class... T>
  void added(T&... values) {
    if (!left_.empty()) (get(values), ...);
  }
  /// A time from 0 to kLatest, or kNever.
  template <class T>
  void time(T& at) {
    static_assert(sizeof(T) == sizeof(Nanos));
    get(at);
    if (!is_time(static_cast<std::uint64_t>(at))) ok_ = false;
  }
  template <class T>
  void choice(T& value, std::size_t count) {
    T read{};
    get(read);
    if (static_cast<std::size_t>(read) >= count) ok_ = false;
    if (ok_) value = read;
  }
  template <std::size_t kSize>
  void array(char (&bytes)[kSize]) {  // NOLINT(modernize-avoid-c-arrays)
    const std::string_view taken = take(kSize);
    if (ok_) std::memcpy(bytes, taken.data(), kSize);
  }
  void key() {}

  /// 146 years. Sums of two do not overflow.
  static constexpr std::uint64_t kLatest = std::uint64_t{1} << 62;
  static bool is_time(std::uint64_t at) { return at <= kLatest || at == static_cast<std::uint64_t>(kNever); }
  static bool is_tid(std::uint32_t tid) { return tid <= std::numeric_limits<std::int32_t>::max(); }

 private:
  template <StoredNumber T>
  void get(T& value) {
    const std::string_view taken = take(sizeof(value));
    if (!ok_) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = taken.front() != 0;
    } else {
      std::memcpy(&value, taken.data(), sizeof(value));
    }
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    const std::string_view taken = take(size);
    if (ok_) text = taken;
  }
  /// The number of elements of a list, each of which takes a byte or more.
  std::uint32_t count() {
    std::uint32_t count = 0;
    get(count);
    if (count > left_.size()) ok_ = false;
    return ok_ ? count : 0;
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.clear();
    for (std::uint32_t left = count(); left > 0 && ok_; --left) get(list.emplace_back());
  }
  template <class T>
  void get(std::set<T>& list) {
    list.clear();
    for (std::uint32_t left = count(); left > 0 && ok_; --left) {
      T one{};
      get(one);
      list.insert(std::move(one));
    }
  }
  template <class Key, class Value>
  void get(std::map<Key, Value>& map) {
    map.clear();
    for (std::uint32_t left = count(); left > 0 && ok_; --left) {
      std::pair<Key, Value> one{};
      get(one.first);
      get(one.second);
      map.insert_or_assign(std::move(one.first), std::move(one.second));
    }
  }
  template <class First, class Second>
  void get(std::pair<First, Second>& pair) {
    get(pair.first);
    get(pair.second);
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool is_there = false;
    get(is_there);
    value.reset();
    if (is_there && ok_) get(value.emplace());
  }
  template <class T>
  requires(std::is_class_v<T>) void get(T& value) { fields(*this, value); }

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace offwait
