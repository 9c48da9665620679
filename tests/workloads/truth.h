// SPDX-License-Identifier: GPL-2.0-or-later
// What a workload knows about its own threads, to be compared with what offwait recorded of them.
//
// Protocol, on stdin and stdout, one JSON object a line:
//   out  {"ready":true,"pid":TGID}
//   in   a line (or EOF): the interesting part begins; threads and processes named in the truth start now
//   out  {"truth":KIND,...} lines
//   out  {"done":true}
//   in   a line (or EOF): the workload exits (at once with --exit)
//
// A truth of kind "thread" covers the thread from `begin_ns` to `end_ns` (CLOCK_MONOTONIC):
//   tid, tgid, name      name with invalid UTF-8 replaced; name_hex has the bytes
//   calls                number of blocking calls
//   waits                voluntary context switches inside them, as the kernel counted: the recorded waits
//   counted_from_ns, counted_to_ns   the kernel's counts below were read between begin_ns and
//                        counted_from_ns, and between counted_to_ns and end_ns, which takes long on a busy
//                        machine
//   wait_ns              sum of the durations of the calls that blocked, from call to return: a recorded
//                        wait (`block` to `run`) lies within one of them
//   call_cpu_ns          CPU time of the thread in these calls: what of wait_ns is not a wait
//   wakers               {"thread:TID" | "timer" | "disk:NAME" | "peer": waits}; "peer" is any other thread
//                        of the truth
//   nvcsw, nivcsw        voluntary and involuntary switches of the whole span; nvcsw - waits is the number of
//                        waits outside the blocking calls (for a page table lock, for example)
//   preempted_in_wait    involuntary switches inside blocking calls
//   cpu_ns, run_delay_ns time on a CPU, and time runnable without one (schedstat)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <sys/types.h>

namespace workload {

using Nanos = std::int64_t;

Nanos monotonic_now();
pid_t current_tid();

/// CPU time of the calling thread so far.
Nanos current_cpu_time();

/// Keeps the calling thread running until it has used `ns` more of CPU time, preempted or not.
void spin_cpu(Nanos ns);

/// Aborts the workload with exit code 77 ("cannot be run here") where the CPU does not exist or is not
/// allowed.
void pin_to_cpu(int cpu);

/// Makes the calling thread a batch thread, which does not preempt its waker: the waker runs until it blocks.
/// Otherwise, on one CPU, a woken thread preempts its waker, which then finds its answer without a wait.
void let_wakers_run_on();

/// Exits the process: 1 for a failed system call, 77 for "this host cannot run this workload" (CTest's
/// SKIP_RETURN_CODE).
[[noreturn]] void fail(const std::string& what);
[[noreturn]] void skip(const std::string& why);

/// Returns `result`, or calls fail(what) if it is negative.
template <class T>
T checked(T result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

/// How often the calling thread has been switched away from since it was created.
struct Switches {
  std::int64_t voluntary;
  std::int64_t involuntary;
};
Switches current_switches();

/// A thread's name as a waker: "thread:TID".
std::string thread_waker(pid_t tid);

/// The truth about one thread. That thread constructs, uses and ends it.
class ThreadTruth {
 public:
  /// Names the calling thread (its first 15 bytes) and begins its measured part.
  explicit ThreadTruth(std::string name);

  /// Runs one blocking call, which returns the name of its waker. The waker is credited with a wait if the
  /// kernel says that the thread blocked.
  template <class BlockingCall>
  void wait(BlockingCall&& blocking_call) {
    const Switches before = current_switches();
    const Nanos cpu = current_cpu_time();
    const Nanos start = monotonic_now();
    const std::string waker = std::forward<BlockingCall>(blocking_call)();
    const Nanos duration = monotonic_now() - start;
    const Nanos call_cpu = current_cpu_time() - cpu;
    add(before, current_switches(), duration, call_cpu, waker);
  }

  /// Sleeps `rounds` times, `each` ns long.
  void sleep(std::int64_t rounds, Nanos each);

  /// Ends the measured part.
  void end();

  /// Prints the truth line. Any thread may call it, after end().
  void print() const;

  pid_t tid() const { return tid_; }
  /// The switches of the measured part; valid after end().
  const Switches& switches() const { return switches_; }

 private:
  void add(const Switches& before, const Switches& after, Nanos duration, Nanos call_cpu,
           const std::string& waker);

  std::string name_;
  pid_t tid_;
  pid_t tgid_;
  Nanos begin_ns_;
  Nanos end_ns_ = 0;
  Nanos cpu_ns_;
  Nanos run_delay_ns_;
  Switches switches_;
  Nanos counted_from_ns_;
  Nanos counted_to_ns_ = 0;
  std::int64_t calls_ = 0;
  std::int64_t waits_ = 0;
  std::int64_t preempted_in_wait_ = 0;
  Nanos wait_ns_ = 0;
  Nanos call_cpu_ns_ = 0;
  std::map<std::string, std::int64_t> wakers_;
};

struct Field {
  const char* key;
  std::variant<std::int64_t, std::string> value;
};

/// Prints {"truth":kind, fields...} with one write(2), so that processes may share stdout.
void print_truth(const char* kind, const std::vector<Field>& fields);

/// `--key value` pairs after the workload's name.
class Options {
 public:
  Options(int argc, char** argv);

  std::int64_t number(const std::string& key, std::int64_t otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  bool flag(const std::string& key);

  /// Whether --exit was given: the workload then exits without waiting for a line.
  bool exit_at_once() const { return exit_at_once_; }

  /// Exits with 2 because a value makes no sense.
  [[noreturn]] static void refuse(const std::string& why);

  /// Exits with 2 if an option was given that the workload has not read.
  void refuse_others() const;

 private:
  std::map<std::string, std::string> given_;
  bool exit_at_once_;
};

/// Prints the ready line and waits for the go. Call once, after reading all options.
void ready(const Options& options);

/// Prints the done line and waits for the end, unless --exit was given.
void done(const Options& options);

}  // namespace workload
