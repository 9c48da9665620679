// SPDX-License-Identifier: GPL-2.0-or-later
// What one recording says, by keys that other recordings have as well, and apart for each piece of its
// window. All are plain sums of single threads: merging depends on a recording's details, and would divide
// the sums of one program in two runs by different numbers.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "diff/keys.h"
#include "model/backtrace.h"
#include "model/trace.h"
#include "progress/progress.h"

namespace offwait {

inline constexpr std::size_t kPieces = 16;
/// Seconds, or a number of waits, in each of the kPieces equal pieces of the window.
using Pieces = std::array<double, kPieces>;
double sum_of(const Pieces& pieces);
void add(Pieces& sum, const Pieces& more);

/// Waits of the target's threads of one key that those of another ended.
struct EdgeSums {
  Pieces wait{};
  Pieces weight{};  ///< as SiteSum::weight_ns
  Pieces waits{};   ///< how many ended
  std::map<WaitClass, double> classes{};
  Backtrace stack{};   ///< where most of the weight is waited; empty: not known
  double stack_s = 0;  ///< the weight there
};

/// A lock, and the threads that wait for it.
struct LockRowKey {
  LockKey lock{};
  ThreadKindKey waiter{};
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const LockRowKey&, const LockRowKey&) = default;
};

struct LockSums {
  Pieces wait{};
  Pieces waits{};     ///< how many ended
  Backtrace stack{};  ///< where it is waited for longest; empty: not known
  double stack_s = 0;
};

/// A function, and the threads that are in it.
struct FunctionRowKey {
  FunctionKey function{};
  ThreadKindKey thread{};
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FunctionRowKey&, const FunctionRowKey&) = default;
};

/// What threads do with their time, by the subclasses of the blocked samples paper.
enum class TimeKind : std::uint8_t { cpu, io, lock, runnable, other };
inline constexpr std::size_t kTimeKinds = 5;
/// `cpu`, `io`, `lock`, `runnable`, `other`.
std::string_view to_string(TimeKind kind);

struct FunctionSums {
  Pieces time{};                             ///< while it was the innermost function
  std::array<double, kTimeKinds> by_kind{};  ///< parts of its sum, by TimeKind
  /// The functions of the program from which it was called in its most frequent stack, innermost first;
  /// three at most.
  std::vector<Frame> callers{};
  double callers_s = 0;  ///< the time in that stack
};

struct TimeRowKey {
  TimeKind kind = TimeKind::cpu;
  ThreadKindKey thread{};
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const TimeRowKey&, const TimeRowKey&) = default;
};

/// `io-*` of `io-1` and `io-2`, which differ in digits; else the name.
std::string common_name_of(const std::string& one, const std::string& other);

struct ThreadSums {
  std::string name;  ///< what they are called, with `*` for digits if that differs; hostile bytes
  std::size_t threads = 0;
  /// Threads of the target make the first progress, or are waited for by those that do (CodeUses::counts).
  bool counts = false;
};

struct Profile {
  Progress::How how = Progress::How::inferred;
  std::uint64_t units = 0;               ///< of progress that were made in the window; 0: not known
  bool counted_responses = false;        ///< units are responses, and not waits of clients that ended
  std::vector<std::string> functions{};  ///< Progress::functions
  double window_s = 0;
  std::map<ThreadKindKey, ThreadSums> threads{};  ///< the target's, and those that end its waits
  std::map<EdgeKey, EdgeSums> edges{};            ///< of threads of the target; no waits for requests
  /// Weights of the edges of all other threads, which knots need.
  std::map<EdgeKey, Pieces> outside{};
  std::map<LockRowKey, LockSums> locks{};
  std::map<FunctionRowKey, FunctionSums> functions_by_time{};
  std::map<FunctionKey, Frame> frame_of{};  ///< as recorded here; of functions without names one of them
  std::map<TimeRowKey, Pieces> times{};
  /// Seconds in functions that have no names, while they were the innermost ones: by module. Where there are
  /// callers with names, the time counts as theirs in `functions_by_time`.
  std::map<std::string, double> nameless_s{};
  /// Modules with a function without a name, wherever in a stack.
  std::set<std::string> nameless_modules{};
  std::map<std::int32_t, ThreadKindKey> key_of_tid{};  ///< of the first thread with the number
};

struct ProfileChoices {
  ProgressOptions progress{};
  bool keep_false_wakeups = false;
};

/// The trace must satisfy validate(). Fails with the errors of sweep().
Result<Profile> profile_of(const Trace& trace, const ProfileChoices& choices);

/// Leaves programs and start functions out of keys where one of the recordings does not know them (keys.h).
void align(const std::vector<Profile*>& profiles);

}  // namespace offwait
