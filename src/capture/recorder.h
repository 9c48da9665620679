// SPDX-License-Identifier: GPL-2.0-or-later
// The recorder loads and attaches the BPF programs and drains their records. No other room uses libbpf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "event/recording.h"
#include "process/address_spaces.h"
#include "process/priority.h"

namespace offwait {

/// A place in a file. Its execution by a thread of the target begins or ends busy waiting, marks a false
/// wakeup, or is a call that is counted. The object of busy waiting is the first argument at that place.
struct Probe {
  enum class Kind : std::uint8_t {
    spin_begin,
    spin_end,
    spin_return,  ///< the return of the function that begins at the place
    spin_release,
    false_wakeup,
    counted_call,
  };
  Kind kind = Kind::spin_begin;
  std::string path;
  std::uint64_t offset = 0;  ///< in the file
  bool asked_for = true;     ///< false: if the probe is impossible, the recording goes on with a note
};

struct CaptureOptions {
  std::vector<std::int32_t> tgids;  ///< processes of the target, by their PIDs in the host's namespace
  std::vector<std::int32_t> tids;   ///< single threads of the target
  /// Processes and threads that the target creates belong to it, those that live already as well.
  bool follow_children = true;
  /// If set, replaces the members above: the target is all threads of user space in the cgroup with this id
  /// (the inode of its directory) or below it, each for as long as it is there. 0 means any cgroup, and so
  /// every thread. offwait itself is never a target.
  std::optional<std::uint64_t> cgroup;
  bool stacks = true;
  std::vector<Probe> probes;
  /// Part of the time that the CPUs are busy which recording may take: beyond it, stacks are taken for some
  /// waits only. 0: all stacks are taken.
  double most_overhead = 0;
  std::uint32_t sample_hz = 99;  ///< on each CPU; 0: no samples; there are none without stacks either
  /// The size of each CPU's ring buffer, a power of two and a multiple of the page size. If 0, it follows
  /// from the number of CPUs.
  std::size_t ring_bytes = 0;
  std::uint32_t stacks_in_kernel = 16'384;  ///< more are kept in user space
  /// What the records that were taken may have of memory; the rest is in a file in this directory.
  std::size_t memory_bytes = SIZE_MAX;
  std::string overflow_directory = "/var/tmp";
};

/// What was recorded and lost so far.
struct CaptureProgress {
  std::uint64_t waits = 0;
  std::uint64_t lost = 0;
};

/// What Recorder::take() takes: each of these, and those before it.
enum class Taken : std::uint8_t {
  records,  ///< records, files, and the counters of devices
  counters,  ///< what was counted since the recording began (losses, CPU time, responses, …), and the threads
  tables,    ///< the names of devices, and what else the kernel knows
};

/// Threads and processes that have exited, and of which nobody will want to know anything.
struct Exited {
  std::vector<ThreadKey> threads;
  std::vector<std::int32_t> processes;
};

/// What Recorder::attach() does, in this order.
enum class AttachStep : std::uint8_t { load, find_threads, probe };

class Recorder {
 public:
  /// Loads and attaches the programs and finds the target's threads. Records are made from then on. Fails
  /// with a sentence for the user when the kernel has no BTF, a capability is missing, a program does not
  /// load, or no process or thread of the target is left.
  /// `priority`: of this thread; it outlives the recorder, which ends it with stop(). `begins` is told of
  /// each step.
  static Result<Recorder> attach(
      const CaptureOptions& options, Priority& priority,
      const std::function<void(AttachStep)>& begins = [](AttachStep) {});

  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  /// Begins the window: what was recorded before counts only as far as it lasts into it. Call it once; until
  /// then nothing but drain() may be called.
  void begin();

  /// Takes the records made since the last call. Call it about every 50 ms: nothing wakes the caller. Once a
  /// second it also reads the counters of disks and interfaces, and the mappings of the recorded processes.
  Status drain();

  /// Takes what was recorded since the last call, for a recording that is stored while it runs. stop() then
  /// returns the rest. With Taken::tables the window ends now: it is the recording so far, without its stacks
  /// and requests in flight. Tables are read before the records, so all records of what a table shows are
  /// there: a recording that is interrupted ends at its last table, as if it had been stopped then. Drains
  /// the ring buffer.
  Result<KernelRecording> take(Taken what);

  /// Forgets the threads that have exited, because what take() has just returned with Taken::tables is kept
  /// elsewhere. Later parts have only what is new.
  void forget_taken();

  /// The stacks with these ids (KernelRecording::stacks), as far as they are known. Another thread may call
  /// it.
  std::vector<std::pair<std::uint32_t, offwait_stack>> stacks(std::span<const std::uint32_t> ids) const;

  // For a recording whose window moves on, so that only its last part is kept:

  /// The window begins at `begin` now. Forgets what only the time before needs, and these threads and
  /// processes.
  void move_begin(Nanos begin, const Exited& exited);
  /// Adds the requests in flight to what take() has just returned with Taken::tables.
  Status add_requests(KernelRecording& recording) const;
  /// Adds what else stop() would: the stacks of threads that are blocked, and what other processes used. The
  /// recording has the stacks that its records refer to. A forked process may call this, which has the
  /// recorder as it was at the fork.
  void complete(KernelRecording& recording) const;
  /// While `keep`, all stacks stay where a process forked since then finds them.
  void keep_stacks(bool keep);

  /// Readable when drain() should be called at once: until then the stacks of a process with a new mapping
  /// are cut. -1 without stacks.
  int urgent_fd() const;

  /// The mappings of recorded processes that have changed since the last call. The symbolizer opens the files
  /// behind them while the processes live. Call it after attach(), drain() and stop(); without stacks it
  /// returns nothing.
  std::vector<AddressSpace> take_mappings(AddressSpaces::Copies copies);

  /// The processes of earlier take_mappings() that are gone since the last call. Only records that take()
  /// has returned, or will return next, refer to their mappings.
  std::vector<std::int32_t> take_gone();

  /// The kernel's symbols in the form of /proc/kallsyms, if that hides their addresses from this process and
  /// the kernel offers another way (6.0 and later); else empty.
  std::string kernel_symbols();

  /// The time since the recording's start.
  Nanos elapsed() const;

  /// Asks the kernel for every loss counter, so do not call it with every drain().
  CaptureProgress progress() const;
  /// There is no room for more records (CaptureOptions::memory_bytes). After stop() a note says why.
  bool is_full() const;

  /// Sentences for the user about what was asked for and could not be recorded.
  const std::vector<std::string>& notes() const;

  /// Waits until the threads of processes that have ended have left their CPUs for the last time: the kernel
  /// reports the end of a process a moment before that (exit_notify in kernel/exit.c), or longer if they wait
  /// for a CPU. Gives up when none has left for a second: the last switch of a thread may not be seen. Call
  /// it before stop().
  Status await_last_exits(std::span<const std::int32_t> ended);

  /// Ends the window, detaches the programs and takes the remaining records, and all tables. Call it once.
  Result<KernelRecording> stop();

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace offwait
