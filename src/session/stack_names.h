// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <map>
#include <vector>

#include "event/recording.h"
#include "model/frame.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// The names of the frames of all stacks in a recording. The symbolizer is asked for all addresses at once.
class StackNames {
 public:
  /// Keeps a reference to `symbols`.
  StackNames(const KernelRecording& recording, Symbolizer& symbols);

  /// The frames of one of these stacks, leaf first, without the recorder's own: the walk of a kernel stack
  /// begins inside the BPF program. A stack of busy waiting is the kernel's walk by frame pointers, which in
  /// code without them takes whatever lies on the stack for return addresses; it ends at the first address
  /// that cannot be one.
  std::vector<Frame> name(const offwait_stack& stack) const;

 private:
  std::vector<FrameAddress> addresses_of(const offwait_stack& stack) const;

  Symbolizer& symbols_;
  std::map<FrameAddress, std::vector<Frame>> frames_;
};

}  // namespace offwait
