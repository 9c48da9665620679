// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "model/trace.h"

namespace offwait {

namespace {

/// The name of a value; `?` for one that is not in the enumeration, so that a corrupt value can still be
/// printed.
template <class Enum, std::size_t kCount>
std::string_view name_of(Enum value, const std::array<std::string_view, kCount>& names) {
  const auto index = static_cast<std::size_t>(value);
  return index < kCount ? names.at(index) : "?";
}

}  // namespace

Nanos clipped(Nanos from, Nanos to, const Window& window) {
  return std::max<Nanos>(0, std::min(to, window.end) - std::max(from, window.begin));
}

Nanos known_life(const Actor& thread, const Window& part) {
  return clipped(std::max(thread.start, thread.seen), thread.exit, part);
}

std::string_view to_string(ActorKind kind) {
  static constexpr std::array<std::string_view, 7> kNames = {"thread", "group", "disk",   "nic",
                                                             "timer",  "irq",   "softirq"};
  return name_of(kind, kNames);
}

std::string_view to_string(WaitClass wait_class) {
  static constexpr std::array<std::string_view, kWaitClasses> kNames = {
#define X(name) #name,
      OFFWAIT_WAIT_CLASSES(X)
#undef X
  };
  return name_of(wait_class, kNames);
}

std::string_view to_string(Peer::Role role) {
  static constexpr std::array<std::string_view, 2> kNames = {"client", "service"};
  return name_of(role, kNames);
}

std::string_view to_string(CapacitySource source) {
  static constexpr std::array<std::string_view, 4> kNames = {"given", "measured", "assumed", "reported"};
  return name_of(source, kNames);
}

std::string_view to_string(DiskOperation operation) {
  static constexpr std::array<std::string_view, kDiskOperations> kNames = {"unknown", "read", "write",
                                                                           "other"};
  return name_of(operation, kNames);
}

Frame not_alive_frame() { return {.function = "[no thread of it alive]"}; }

bool is_day(std::string_view text) {
  static constexpr std::string_view kForm = "0000-00-00";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kForm[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  const auto number = [text](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  return number(5) >= 1 && number(5) <= 12 && number(8) >= 1 && number(8) <= 31;
}

}  // namespace offwait
