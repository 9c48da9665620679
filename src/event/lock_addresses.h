// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/recording.h"

namespace offwait {

/// The addresses of locks that threads of a recording waited for: all that Trace::objects may have, and
/// perhaps a few more. They are known without a Trace, so that a recording that is only stored needs none.
/// A recording with more than kMostPlaces keeps the locks that were met first.
class LockAddresses {
 public:
  /// A process (0: the kernel) and an address in it.
  using Place = std::pair<std::int32_t, std::uint64_t>;
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 17;

  /// `kind` is an enum offwait_object, `object` as in offwait_wait.
  void add_wait(std::uint8_t kind, std::uint32_t tid, std::uint64_t object);
  void add_thread(std::uint32_t tid, std::uint32_t tgid);
  /// The thread has exited. Its waits may still be added, until forget_exited().
  void add_exit(std::uint32_t tid, std::uint32_t tgid);
  /// Forgets the threads that have exited, but not the locks that they waited for.
  void forget_exited();
  /// All of a recording.
  void add(const KernelRecording& recording);
  /// Those of the kernel's table of threads.
  void add_threads(const KernelRecording& recording);

  std::set<Place> places() const;
  /// Whether places() has one in this process, as far as its threads are known.
  bool is_in(std::int32_t tgid) const;

 private:
  /// Adds the places of `futexes_` whose threads are known.
  void add_futexes(std::set<Place>& places) const;

  std::unordered_map<std::uint32_t, std::set<std::int32_t>> processes_;  ///< of each tid, one after the other
  std::vector<std::pair<std::uint32_t, std::int32_t>> exited_;           ///< tids and processes
  std::set<std::pair<std::uint32_t, std::uint64_t>> futexes_;            ///< by tid
  std::set<Place> places_;  ///< of the kernel, and of futexes that are forgotten
};

}  // namespace offwait
