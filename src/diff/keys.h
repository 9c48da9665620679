// SPDX-License-Identifier: GPL-2.0-or-later
// By what things of two recordings match. This is the only place that says so.
//
// Numbers of threads and processes, addresses and numbers of inodes differ from one run to the next, so none
// of them is part of a key:
//
//   threads    name and name of the process, each with runs of digits folded (model/called.h); the file name
//              of the program; the function in which the thread began (graph/start_functions.h), if it has a
//              name; whether it is the first of its process, which begins in another function than the
//              others; and whether it is a kernel thread. Whether it belongs to the target is no part of it.
//   devices    kind and name: `disk vda`, `nic eth0`, `irq virtio0-req.0`
//   services   the address of a service that no thread of this host answers for
//   edges      who waits and who lets it go, by these keys
//   locks      the variable that the lock lies in; else the function that takes it; of a process's memory
//              map its name and that of the process
//   functions  function and module; those of libc and libstdc++ without the prefixes of aliases
//              (`__libc_sendmsg` is `sendmsg`) and without `64` at the end. The functions of a module that
//              have no names are one.
//   knots      the set of its members
//
// A key has one field for each part, which are compared one by one. Names are hostile bytes: joined into one
// text, `a` of `b c` could be made to equal `a b` of `c`.
//
// A program or a start function that some recording does not know for any of the threads that are called so
// (older recordings have no programs, others no stacks) is left out of their keys in all recordings.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/stack_sums.h"
#include "model/frame.h"
#include "model/object.h"
#include "model/trace.h"

namespace offwait {

struct ThreadKindKey {
  bool kernel = false;
  bool first = false;     ///< of its process
  std::string process{};  ///< name pattern of the main thread; empty: it was not recorded
  std::string name{};     ///< name pattern
  std::string program{};  ///< file name without directories; empty: not known
  std::string start{};    ///< the function in which it began; empty: not known, or without a name
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ThreadKindKey&, const ThreadKindKey&) = default;
};

/// What threads are called: the parts of a key that are always known.
using CalledKey = std::tuple<bool, bool, std::string, std::string>;
CalledKey called_of(const ThreadKindKey& key);

/// One end of an edge.
struct EndKey {
  enum class Kind : std::uint8_t { thread, disk, nic, timer, irq, softirq, service };
  Kind kind = Kind::thread;
  ThreadKindKey thread{};  ///< of threads
  std::string name{};      ///< of all others
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const EndKey&, const EndKey&) = default;
};
std::string_view to_string(EndKey::Kind kind);

struct EdgeKey {
  EndKey from{};
  EndKey to{};
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const EdgeKey&, const EdgeKey&) = default;
};

struct LockKey {
  Object::Kind kind = Object::Kind::futex;  ///< futex or kernel_lock
  KernelLock lock = KernelLock::unknown;
  /// The variable, or the file of a futex in a shared mapping; `mmap_lock`; empty: it has no name.
  std::string variable{};
  std::string module{};      ///< of the variable, without directories
  std::uint64_t offset = 0;  ///< of the lock in the variable
  std::string function{};    ///< that takes it, if it has no name
  std::string process{};     ///< whose memory map it guards: name pattern
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const LockKey&, const LockKey&) = default;
};

struct FunctionKey {
  std::string function{};  ///< empty: those of the module that have no names
  std::string module{};    ///< `perf-0.map` of code that was made at run time
  bool kernel = false;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FunctionKey&, const FunctionKey&) = default;
};

/// Members in order.
using KnotKey = std::vector<EndKey>;

/// By ActorId; empty keys for what is no thread.
std::vector<ThreadKindKey> thread_keys(const Trace& trace);

/// The key of an actor that is no thread.
EndKey device_key(ActorKind kind, const std::string& name);

/// `wait_stack` is where it is waited for longest. `processes` are thread_keys().
LockKey lock_key(const Trace& trace, const Object& lock, StackId wait_stack,
                 const std::vector<ThreadKindKey>& threads);

FunctionKey function_key(const Frame& function);

/// `io-*` of `io-1`: each run of digits becomes `*`.
std::string without_digits(std::string_view name);

/// Names of threads in stacks, which match as text, without_digits(). Locks lose the number of a process.
void fold_digits(StackSums& sums);

}  // namespace offwait
