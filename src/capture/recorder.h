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
#include "capture/recording_source.h"
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

/// What Recorder::attach() does, in this order.
enum class AttachStep : std::uint8_t { load, find_threads, probe };

class Recorder final : public RecordingSource {
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
  ~Recorder() override;

  /// Begins the window: what was recorded before counts only as far as it lasts into it. Call it once; until
  /// then nothing but drain() may be called.
  void begin();

  // RecordingSource:

  Status drain() override;
  Result<KernelRecording> take(Taken what) override;
  void forget_taken() override;
  std::vector<std::pair<std::uint32_t, offwait_stack>> stacks(
      std::span<const std::uint32_t> ids) const override;
  void move_begin(Nanos begin, const Exited& exited) override;
  Status add_requests(KernelRecording& recording) const override;
  void complete(KernelRecording& recording) const override;
  void keep_stacks(bool keep) override;
  int urgent_fd() const override;
  std::vector<AddressSpace> take_mappings(AddressSpaces::Copies copies) override;
  std::vector<std::int32_t> take_gone() override;
  std::string kernel_symbols() override;
  Nanos elapsed() const override;
  CaptureProgress progress() const override;
  bool is_full() const override;
  const std::vector<std::string>& notes() const override;
  Status await_last_exits(std::span<const std::int32_t> ended) override;
  Result<KernelRecording> stop() override;

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace offwait
