// SPDX-License-Identifier: GPL-2.0-or-later
// The stacks of a recording with the names of their frames, as assemble() (assemble.h) takes them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "event/recording.h"
#include "model/frame.h"
#include "model/stack_cut.h"

namespace offwait {

/// A stack that a record brings with it: all of a spin's, and of a sample's the leaf. Other records have the
/// id of theirs.
struct RecordStack {
  std::uint32_t tgid = 0;
  std::vector<std::uint64_t> pcs;  ///< leaf first

  // clang-tidy 14 takes its own 0 for one of ours.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const RecordStack&, const RecordStack&) = default;
};

RecordStack stack_of(const offwait_spin& record);
RecordStack stack_of(const offwait_sample& record);

/// The different stacks that records of the recording bring with them.
std::set<RecordStack> stacks_in_records(const KernelRecording& recording);

/// Where the walk of a stack was cut; none for a stack that is complete or the kernel's.
std::optional<StackCut> cut_of(const offwait_stack& stack);

/// Tells which addresses of one stack are left out because the recorder was called there.
class RecorderFrames {
 public:
  /// Whether the stack begins after this address. `frames` are those at the address, none where the
  /// recorder's own code is. Ask for all addresses of the stack, the innermost first. Where the kernel has no
  /// tracepoint after a switch, the function that finishes it leads to the recorder (bpf/after_switch.h):
  /// right after the recorder's own frames it is left out, too.
  bool reach(std::span<const Frame> frames);

 private:
  bool so_far_ = false;  ///< the address before was left out
};

/// All of what the trace needs of the stacks in a recording. Stacks have most of their frames in common, and
/// a frame holds several strings: each frame is stored once, and a stack lists indices.
struct NamedStacks {
  /// Indices into `frames`, leaf first: several for an address where functions are inlined, none for an
  /// address that is left out (the recorder's own frames, what is no return address).
  using Indices = std::vector<std::uint32_t>;
  struct Recorded {
    Indices frames;
    std::optional<StackCut> cut;
  };

  std::vector<Frame> frames;
  std::unordered_map<std::uint32_t, Recorded> recorded;  ///< by id in KernelRecording::stacks
  std::map<RecordStack, Indices> in_records;
};

}  // namespace offwait
