// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/demangle.h"

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace offwait {
namespace {

constexpr std::size_t kLongestMangled = 4096;
constexpr std::size_t kLongestName = 1024;

std::string cut(std::string_view name) {
  if (name.size() <= kLongestName) {
    return std::string(name);
  }
  std::size_t length = kLongestName;
  // Not inside a UTF-8 sequence, which is at most four bytes long.
  while (length > kLongestName - 3 && (static_cast<unsigned char>(name[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  return std::string(name.substr(0, length)) + "…";
}

}  // namespace

std::string demangle(std::string_view symbol) {
  if (const std::size_t version = symbol.find('@'); version != 0) {
    symbol = symbol.substr(0, version);
  }
  if (symbol.starts_with("_Z") && symbol.size() <= kLongestMangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), &std::free);
    if (name != nullptr && status == 0) {
      return cut(name.get());
    }
  }
  return cut(symbol);
}

}  // namespace offwait
