// SPDX-License-Identifier: GPL-2.0-or-later
// Names for stacks and locks of a recording that has no names for them, because it was interrupted or made
// without. Names are found at the end of a recording. Until then its file has the names of the kernel's
// functions, whose addresses mean nothing elsewhere, and the mappings of processes.
#pragma once

#include <map>
#include <vector>

#include "event/named_stacks.h"
#include "event/recording.h"
#include "process/address_spaces.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// The frames at addresses of the kernel. An address without frames is the recorder's own: stacks begin after
/// it (RecorderFrames).
using KernelFrames = std::map<FrameAddress, std::vector<Frame>>;

/// Adds the stacks of the recording that `names` lacks. A frame is a module and an offset in its file, by the
/// mappings that its process had; of several for one address the last counts. Frames of the kernel that
/// `kernel` lacks are addresses.
void add_module_names(const KernelRecording& recording, const std::vector<AddressSpace>& mappings,
                      const KernelFrames& kernel, NamedStacks& names);

/// Adds the mappings that processes share, for the locks in them that `data` lacks: without, a lock in shared
/// memory would be another one for each process.
void add_shared_places(const KernelRecording& recording, const std::vector<AddressSpace>& mappings,
                       std::map<DataAddress, DataName>& data);

}  // namespace offwait
