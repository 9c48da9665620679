// SPDX-License-Identifier: GPL-2.0-or-later
// The recorder: loads and attaches the BPF programs, drains their records. The only room that knows libbpf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "event/recording.h"
#include "process/address_spaces.h"

namespace offwait {

/// A place in a file whose execution by a thread of the target tells something. The object of busy waiting is
/// the first argument there.
struct Probe {
  enum class Kind : std::uint8_t {
    spin_begin,
    spin_end,
    spin_return,  ///< of the function that begins at the place
    spin_release,
    false_wakeup,
  };
  Kind kind = Kind::spin_begin;
  std::string path;
  std::uint64_t offset = 0;  ///< in the file
  bool asked_for = true;     ///< else a recording without it is none the worse: it gets a note
};

struct CaptureOptions {
  std::vector<std::int32_t> tgids;  ///< processes whose threads are the target, as the host numbers them
  std::vector<std::int32_t> tids;   ///< threads that are the target one by one
  bool follow_children =
      true;  ///< threads and processes that the target creates belong to it; living ones too
  /// Instead of those: the threads of user space in the cgroup of this id (its directory's inode) or below
  /// it, for as long as they are in it; 0: in any, that is, all. Never offwait itself.
  std::optional<std::uint64_t> cgroup;
  bool stacks = true;
  std::vector<Probe> probes;
  std::uint32_t sample_hz = 99;                    ///< on each CPU; 0, or without stacks: no samples
  std::size_t ring_bytes = std::size_t{16} << 20;  ///< a power of two
};

/// What has happened so far.
struct CaptureProgress {
  std::uint64_t waits = 0;
  std::uint64_t lost = 0;
};

class Recorder {
 public:
  /// Loads, attaches, finds the target's threads; the window begins when this returns. Fails with a sentence
  /// for the user when the kernel has no BTF, a capability is missing, a program does not load, or none of
  /// the processes and threads that were named is left.
  static Result<Recorder> start(const CaptureOptions& options);

  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  /// Takes what has been recorded since the last call. To be called every 50 ms or so: nothing wakes the
  /// caller. Once a second it also samples the counters of disks and interfaces, and looks at what the
  /// recorded processes have mapped.
  Status drain();

  /// Readable when drain() should be called at once: stacks of a process that has mapped something new are
  /// cut until then. -1 without stacks.
  int urgent_fd() const;

  /// What recorded processes were found to have mapped, where that has changed since the last call: for
  /// names, which take the files behind it while the processes live. To be called after start(), drain() and
  /// stop(); without stacks there is nothing.
  std::vector<AddressSpace> take_mappings();

  /// The kernel's symbols in the form of /proc/kallsyms, where that hides their addresses from this process
  /// and the kernel has another way (6.0 and later); else empty.
  std::string kernel_symbols();

  /// Since the window's begin.
  Nanos elapsed() const;

  /// Asks the kernel for every loss counter: not for every drain.
  CaptureProgress progress() const;

  /// What could not be recorded though it was asked for, each a sentence for the user.
  const std::vector<std::string>& notes() const;

  /// Ends the window, detaches, takes the rest. Call once.
  Result<KernelRecording> stop();

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace offwait
