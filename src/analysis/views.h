// SPDX-License-Identifier: GPL-2.0-or-later
// Findings that rank code and threads instead of waits: what `--view` shows, and JSON has in full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/found_files.h"
#include "analysis/found_samples.h"
#include "model/backtrace.h"
#include "model/frame.h"
#include "model/object.h"
#include "model/trace.h"
#include "progress/locks.h"
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
  std::optional<Gain> runnable_gain;  ///< the time until it runs after waits
  std::optional<Gain> other_gain;     ///< sleeps and waits for remote services
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
  double some_active_s = 0;                ///< how long at least one thread was active
  double mean_active = 0;                  ///< how many were active then, on average
  double preempted_s = 0;                  ///< criticality of slices that ended in no wait
  std::vector<FoundCriticalStack> stacks;  ///< where slices ended: by criticality, the highest first
  std::vector<FoundCriticalStack> wakers;  ///< where futex waits were ended, likewise
  /// Part of `stacks`, apart for each file: waits for files, their journals and metadata, disks and pipes.
  std::vector<FoundCriticalStack> files;
};

/// What a lock is, as far as the functions that wait for it and the kernel say.
enum class LockKind : std::uint8_t {
  mutex,
  rwlock,
  semaphore,
  condition,  ///< a condition variable, or a queue made of one
  barrier,
  join,         ///< the end of a thread
  parker,       ///< of a runtime that has threads of its own: Java, Go, Rust's parking lots
  kernel_lock,  ///< Object::lock says more
  lock,         ///< no name tells which: FoundLockRow::evidence
  queue,        ///< no name tells; others let go than those that wait: a queue, it seems
};
std::string_view to_string(LockKind kind);
/// Threads have it in turns, and wait for those that have it. What is no lock is waited for until something
/// happens: an item, a signal, an end.
bool is_lock(LockKind kind);

/// One futex or lock of the kernel that threads waited for.
struct FoundLockRow {
  /// `LOCK_open+0x8 (mariadbd)`, `mmap_lock of process 812`, or else `lock #2 of LRUCacheShard::Lookup`: the
  /// second longest waited for of those taken there. Hostile bytes.
  std::string name;
  LockKind kind = LockKind::mutex;
  std::optional<LockEvidence> evidence{};  ///< why it is a lock; nothing: it is not one
  Object object{};
  std::uint64_t waits = 0;
  double wait_s = 0;  ///< all waits together
  double longest_s = 0;
  double mean_line = 0;  ///< how many threads waited at a time, on average over the window
  std::size_t longest_line = 0;
  struct Place {
    double wait_s = 0;
    Backtrace stack;
  };
  std::vector<Place> places{};  ///< where it was waited for, the longest first; three at most
  /// Who had it when the waits began or, where that is not known, who let it go at their ends.
  struct Holder {
    std::string name;  ///< of its threads; hostile bytes
    std::size_t threads = 0;
    double wait_s = 0;  ///< waits for it
  };
  std::vector<Holder> holders{};  ///< who was waited for longest comes first
  double owner_s = 0;             ///< part of wait_s for which the lock itself says who had it
  /// What the holders did during these waits, in seconds, of `looked_s`. Where there are more than 20,000
  /// waits, the sums are over 20,000 of them, evenly spread.
  struct Meanwhile {
    double looked_s = 0;
    double ran_s = 0;
    double runnable_s = 0;
    double at_disks_s = 0;
    double other_locks_s = 0;
    double others_s = 0;  ///< other waits
    double unknown_s = 0;
  };
  Meanwhile meanwhile{};
  std::string disk{};   ///< the disk that they waited for longest meanwhile; empty: none
  FoundSamples held{};  ///< where the holders ran meanwhile
  Backtrace let_go{};   ///< where it was let go most, by the time waited; empty: not known
  double let_go_s = 0;  ///< part of wait_s that ended there
};

/// Threads of the target that waited for futexes and for locks of the kernel.
struct FoundLocks {
  std::vector<FoundLockRow>
      rows;                ///< is_lock() first, each by wait_s, the longest first; kMostLockRows at most
  std::size_t locks = 0;   ///< how many there are
  double wait_s = 0;       ///< for all of them
  std::size_t queues = 0;  ///< how many conditions and queues there are: what is no lock
  double queues_s = 0;     ///< for all of them
  // Set aside, in this order:
  double requests_s = 0;    ///< waits for requests from outside, by idle threads
  double apart_s = 0;       ///< waits of threads that no progress waits for
  double not_let_go_s = 0;  ///< waits that no thread ended: they timed out, or were still open
  double unknown_s = 0;     ///< waits for futexes and locks whose address is not known
};
inline constexpr std::size_t kMostLockRows = 200;

/// By view. A view that was not asked for is empty.
struct Views {
  FoundFunctions functions;
  FoundThreads threads;
  FoundLocks locks;
  FoundFiles files;
};

}  // namespace offwait
