// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "model/trace.h"
#include "recording_file/named_recording.h"

namespace offwait {

/// The trace of a recording, whether it was made just now or read from a file, with what is known of the
/// recording and the capacities of its devices. Objects that have addresses get the names that the recording
/// has for them. Frees the recording's stacks, which take 1 KiB each, before it begins, and its records
/// meanwhile.
Trace make_trace(NamedRecording& recording);

}  // namespace offwait
