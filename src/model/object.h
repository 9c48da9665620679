// SPDX-License-Identifier: GPL-2.0-or-later
// What a thread waits for, as far as it is known: a lock, a condition variable, a file.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offwait {

/// The number of a device, as stat(2) gives it in st_dev. Both 0: not known.
struct DeviceNumber {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const DeviceNumber&, const DeviceNumber&) = default;
};
/// `259:1`
std::string to_string(const DeviceNumber& device);

/// The kind of a lock inside the kernel, as its own tracepoint `contention_begin` tells it. Whether a wait
/// was for reading or for writing is a property of the wait, not of the lock: its stack says it.
enum class KernelLock : std::uint8_t { unknown, mutex, rwsem, percpu_rwsem, rtmutex };
inline constexpr std::size_t kKernelLocks = 5;
std::string_view to_string(KernelLock lock);

/// Objects are interned: no two in a Trace are equal.
struct Object {
  /// A `futex` is identified by exactly one of: `tgid` and `address`; `device`, `inode` and `file_offset`, in
  /// a mapping that processes share; `hash`. A `kernel_lock` is identified by `address`, and a `file` (also a
  /// pipe) by `device`, `inode`, `generation` and `path`. `journal` and `metadata` are what the file system
  /// on `device` writes on its own behalf.
  enum class Kind : std::uint8_t { futex, kernel_lock, file, journal, metadata };
  Kind kind = Kind::futex;
  KernelLock lock = KernelLock::unknown;  ///< of a kernel_lock
  bool deleted = false;                   ///< of a file: no directory has it under this path any more
  /// Of a futex: the process to which `address` belongs. Of a kernel lock: the process whose address space
  /// the lock guards (mmap_lock). 0: none.
  std::int32_t tgid = 0;
  /// Of a futex: its place in the process's memory, 4 bytes wide. The two words of a condition variable of
  /// glibc, on which threads wait in turns, are one object: the first word's address, a multiple of 8.
  std::uint64_t address = 0;
  DeviceNumber device{};
  std::uint64_t inode = 0;
  std::uint32_t generation = 0;   ///< tells files apart that had the same inode number one after the other
  std::uint32_t hash = 0;         ///< a hash of the futex's address, of recordings that have nothing else
  std::uint64_t file_offset = 0;  ///< of a futex in a shared mapping: where it lies in the file
  /// Of a file: its path as the process that used it sees it, the latest that is known. `pipe:[INODE]` for a
  /// pipe without a name; empty: not known. Hostile bytes, like `symbol` and `module`.
  std::string path{};
  /// The variable in which the lock lies, `symbol_offset` bytes after its start. Empty: it has no name (it is
  /// on a heap, say) or that is not known.
  std::string symbol{};
  /// The executable or library in whose data a futex lies, or the kernel's module, as frames have it
  /// (`mariadbd`, `[ext4]`). Without a symbol, `symbol_offset` is the virtual address in that file.
  std::string module{};
  std::uint64_t symbol_offset = 0;

  friend bool operator==(const Object&, const Object&) = default;
};
inline constexpr std::size_t kObjectKinds = 5;
std::string_view to_string(Object::Kind kind);

/// Which of the rules above this breaks, as the end of a sentence that begins with "an object"; nothing if it
/// keeps all of them.
std::optional<std::string_view> fault_of(const Object& object);

/// Whether a request to a disk can be for this: not for a lock.
bool is_stored(const Object& object);

}  // namespace offwait
