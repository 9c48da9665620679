// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/object.h"

#include <array>
#include <cstddef>
#include <string>

namespace offwait {

namespace {

std::optional<std::string_view> fault_of_futex(const Object& futex) {
  const bool at_address = futex.tgid > 0 && futex.address != 0;
  const bool in_file = futex.inode != 0;
  const bool half = (futex.tgid > 0) != (futex.address != 0);
  if (half || (at_address ? 1 : 0) + (in_file ? 1 : 0) + (futex.hash != 0 ? 1 : 0) != 1) {
    return "of kind futex has tgid and address, or inode, or hash";
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const DeviceNumber& device) {
  return std::to_string(device.major) + ":" + std::to_string(device.minor);
}

std::string_view to_string(KernelLock lock) {
  static constexpr std::array<std::string_view, kKernelLocks> kNames = {"unknown", "mutex", "rwsem",
                                                                        "percpu_rwsem", "rtmutex"};
  const auto index = static_cast<std::size_t>(lock);
  return index < kNames.size() ? kNames.at(index) : "?";
}

std::string_view to_string(Object::Kind kind) {
  static constexpr std::array<std::string_view, kObjectKinds> kNames = {"futex", "kernel_lock", "file",
                                                                        "journal", "metadata"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames.at(index) : "?";
}

std::optional<std::string_view> fault_of(const Object& object) {
  if (object.tgid < 0) return "has a tgid below 0";
  if (object.kind != Object::Kind::kernel_lock && object.lock != KernelLock::unknown) {
    return "that is no kernel_lock has a kind of lock";
  }
  if (object.kind != Object::Kind::futex && (object.hash != 0 || object.file_offset != 0)) {
    return "that is no futex has what only a futex has";
  }
  switch (object.kind) {
    case Object::Kind::futex:
      return fault_of_futex(object);
    case Object::Kind::kernel_lock:
      if (object.address == 0) return "of kind kernel_lock has an address";
      break;
    case Object::Kind::file:
      if (object.inode == 0 && object.path.empty()) return "of kind file has an inode or a path";
      break;
    case Object::Kind::journal:
    case Object::Kind::metadata:
      break;
  }
  return std::nullopt;
}

bool is_stored(const Object& object) {
  return object.kind != Object::Kind::futex && object.kind != Object::Kind::kernel_lock;
}

}  // namespace offwait
