// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/recording.h"

namespace offwait {

/// The addresses of locks that threads of a recording waited for: all that Trace::objects may have, and
/// perhaps a few more. They are known without a Trace, so that a recording that is only stored needs none.
class LockAddresses {
 public:
  /// A process (0: the kernel) and an address in it.
  using Place = std::pair<std::int32_t, std::uint64_t>;

  /// `kind` is an enum offwait_object, `object` as in offwait_wait.
  void add_wait(std::uint8_t kind, std::uint32_t tid, std::uint64_t object);
  void add_thread(std::uint32_t tid, std::uint32_t tgid);
  /// All of a recording.
  void add(const KernelRecording& recording);
  /// Those of the kernel's table of threads.
  void add_threads(const KernelRecording& recording);

  std::set<Place> places() const;

 private:
  std::unordered_map<std::uint32_t, std::set<std::int32_t>> processes_;  ///< of each tid, one after the other
  std::set<std::pair<std::uint32_t, std::uint64_t>> futexes_;            ///< by tid
  std::set<std::uint64_t> kernel_locks_;
};

}  // namespace offwait
