// SPDX-License-Identifier: GPL-2.0-or-later
// What a recording comes from, as those see it that take it: the recorder, or in tests records made up.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "event/recording.h"
#include "process/address_spaces.h"

namespace offwait {

/// What was recorded and lost so far.
struct CaptureProgress {
  std::uint64_t waits = 0;
  std::uint64_t lost = 0;
};

/// What RecordingSource::take() takes: each of these, and those before it.
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

/// A recording whose window has begun.
class RecordingSource {
 public:
  virtual ~RecordingSource() = default;

  /// Takes the records made since the last call. Call it about every 50 ms: nothing wakes the caller. Once a
  /// second it also reads the counters of disks and interfaces, and the mappings of the recorded processes.
  virtual Status drain() = 0;

  /// Takes what was recorded since the last call, for a recording that is stored while it runs. stop() then
  /// returns the rest. With Taken::tables the window ends now: it is the recording so far, without its stacks
  /// and requests in flight. Tables are read before the records, so all records of what a table shows are
  /// there: a recording that is interrupted ends at its last table, as if it had been stopped then. Drains
  /// the ring buffer.
  virtual Result<KernelRecording> take(Taken what) = 0;

  /// Forgets the threads that have exited, because what take() has just returned with Taken::tables is kept
  /// elsewhere. Later parts have only what is new.
  virtual void forget_taken() = 0;

  /// The stacks with these ids (KernelRecording::stacks), as far as they are known. Another thread may call
  /// it.
  virtual std::vector<std::pair<std::uint32_t, offwait_stack>> stacks(
      std::span<const std::uint32_t> ids) const = 0;

  // For a recording whose window moves on, so that only its last part is kept:

  /// The window begins at `begin` now. Forgets what only the time before needs, and these threads and
  /// processes.
  virtual void move_begin(Nanos begin, const Exited& exited) = 0;
  /// Adds the requests in flight to what take() has just returned with Taken::tables.
  virtual Status add_requests(KernelRecording& recording) const = 0;
  /// Adds what else stop() would: the stacks of threads that are blocked, and what other processes used. The
  /// recording has the stacks that its records refer to. A forked process may call this, which has the
  /// recorder as it was at the fork.
  virtual void complete(KernelRecording& recording) const = 0;
  /// While `keep`, all stacks stay where a process forked since then finds them.
  virtual void keep_stacks(bool keep) = 0;

  /// Readable when drain() should be called at once: until then the stacks of a process with a new mapping
  /// are cut. -1 without stacks.
  virtual int urgent_fd() const = 0;

  /// The mappings of recorded processes that have changed since the last call. The symbolizer opens the files
  /// behind them while the processes live. Call it after attach(), drain() and stop(); without stacks it
  /// returns nothing.
  virtual std::vector<AddressSpace> take_mappings(AddressSpaces::Copies copies) = 0;

  /// The processes of earlier take_mappings() that are gone since the last call. Only records that take()
  /// has returned, or will return next, refer to their mappings.
  virtual std::vector<std::int32_t> take_gone() = 0;

  /// The kernel's symbols in the form of /proc/kallsyms, if that hides their addresses from this process and
  /// the kernel offers another way (6.0 and later); else empty.
  virtual std::string kernel_symbols() = 0;

  /// The time since the recording's start.
  virtual Nanos elapsed() const = 0;

  /// Asks the kernel for every loss counter, so do not call it with every drain().
  virtual CaptureProgress progress() const = 0;
  /// There is no room for more records (CaptureOptions::memory_bytes). After stop() a note says why.
  virtual bool is_full() const = 0;

  /// Sentences for the user about what was asked for and could not be recorded.
  virtual const std::vector<std::string>& notes() const = 0;

  /// Waits until the threads of processes that have ended have left their CPUs for the last time: the kernel
  /// reports the end of a process a moment before that (exit_notify in kernel/exit.c), or longer if they wait
  /// for a CPU. Gives up when none has left for a second: the last switch of a thread may not be seen. Call
  /// it before stop().
  virtual Status await_last_exits(std::span<const std::int32_t> ended) = 0;

  /// Ends the window, detaches the programs and takes the remaining records, and all tables. Call it once.
  virtual Result<KernelRecording> stop() = 0;

 protected:
  RecordingSource() = default;
  RecordingSource(RecordingSource&&) = default;
  RecordingSource& operator=(RecordingSource&&) = default;
};

}  // namespace offwait
