// SPDX-License-Identifier: GPL-2.0-or-later
// Findings that rank code and threads instead of waits: what `--view` shows, and JSON has in full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/backtrace.h"
#include "model/frame.h"
#include "model/object.h"
#include "model/trace.h"
#include "replay/answers.h"

namespace offwait {

/// Time of threads by the subclasses of the blocked samples paper (OSDI '24).
struct CodeTime {
  double cpu_s = 0;       ///< running
  double io_s = 0;        ///< I: waits of class disk
  double lock_s = 0;      ///< L: futex, lock and spin
  double runnable_s = 0;  ///< S: ready to run, without a CPU
  double other_s = 0;     ///< B: all other waits
  double total_s() const { return cpu_s + io_s + lock_s + runnable_s + other_s; }
};

/// One function, wherever it was inlined.
struct FoundFunction {
  Frame function;  ///< as of function_of()
  CodeTime self;   ///< while it was the innermost function (FoundFunctions)
  CodeTime all;    ///< with the functions that it called; once for each moment, however often it calls itself
  double critical_s = 0;      ///< Criticality of `self`, as the samples have it
  double critical_all_s = 0;  ///< the same of `all`
  std::uint64_t samples = 0;  ///< of `all`, on CPUs
  std::uint64_t waits = 0;    ///< of `all`, that ended in the window
  std::string file;           ///< source file of the line with most time of `all`; empty: not known
  std::uint32_t line = 0;
  /// The function of the program, of no library, from which most of `self` was called, followed by what
  /// called that in most of its time: three at most, empty if there is none.
  std::vector<Frame> callers{};
  double caller_share = 0;  ///< part of `self` that the first one called, 0 to 1
  // What the first progress would gain if `all` took half as long, or a part of it; none for functions after
  // the first ones, for a part that takes no time, and where the samples are too few.
  std::optional<Gain> gain;
  std::optional<Gain> cpu_gain;
  std::optional<Gain> io_gain;
  std::optional<Gain> other_gain;  ///< sleeps and waits for remote services
};

/// Only time that counts for the first progress: that of its threads, and of those of the target that they
/// wait for, directly or through others. Without any progress all threads of the target count. Waits for
/// requests are idle time, and are set aside.
///
/// The innermost function of a stack is its innermost user frame, passing over what is inside the ways to
/// wait of libc and libstdc++ (noise.h): a wait for a mutex is in `pthread_mutex_lock`. A stack without user
/// frames counts for the system call, or for the kernel thread's function.
///
/// Time on CPUs is each group's running time, divided among its samples.
struct FoundFunctions {
  std::vector<FoundFunction> rows;   ///< by self, the longest first
  CodeTime counted;                  ///< of all threads that count, with and without a stack
  CodeTime without_stack;            ///< part of `counted`
  double requests_s = 0;             ///< set aside: waits for requests, by threads that count
  double apart_s = 0;                ///< running, or in waits, by threads of the target that do not count
  std::size_t threads = 0;           ///< that count
  std::vector<std::string> names{};  ///< what they are called, most threads first; hostile bytes
  std::uint64_t samples = 0;         ///< of threads that count
};

/// One thread of the target.
struct FoundCriticalThread {
  std::int32_t tid = 0;
  std::string name;  ///< hostile bytes
  double critical_s = 0;
  CodeTime time;
  double requests_s = 0;  ///< part of `time`: waits for requests
};

/// What a slice of running time ended in, as "Extended GAPP" tells causes.
enum class CriticalCause : std::uint8_t { lock, io, spinning, unknown };
std::string_view to_string(CriticalCause cause);

/// Slices that ended in one stack, or wakeups from one stack.
struct FoundCriticalStack {
  double critical_s = 0;
  std::uint64_t count = 0;  ///< waits, or wakeups; slices, if they ended in no wait
  CriticalCause cause = CriticalCause::unknown;
  std::optional<WaitClass> wait_class{};  ///< none: the slices ended in a preemption, or an exit
  Backtrace stack{};
  std::optional<Object> file{};  ///< FoundThreads::files: what was waited for; none: not known
};

/// GAPP's views (analysis/criticality.h).
struct FoundThreads {
  std::vector<FoundCriticalThread> rows;   ///< by criticality, the highest first
  double critical_s = 0;                   ///< of all threads
  double some_active_s = 0;                ///< at least one thread was active for so long
  double mean_active = 0;                  ///< how many were active then, on average
  double preempted_s = 0;                  ///< criticality of slices that ended in no wait
  std::vector<FoundCriticalStack> stacks;  ///< where slices ended: by criticality, the highest first
  std::vector<FoundCriticalStack> wakers;  ///< where futex waits were ended, likewise
  /// Part of `stacks`, apart for each file: waits for files, their journals and metadata, disks and pipes.
  std::vector<FoundCriticalStack> files;
};

/// By view. A view that was not asked for is empty.
struct Views {
  FoundFunctions functions;
  FoundThreads threads;
};

}  // namespace offwait
