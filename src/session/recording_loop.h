// SPDX-License-Identifier: GPL-2.0-or-later
// The time from the start of a recording to its end: what is recorded goes from the source into the sink.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/nanos.h"
#include "base/result.h"
#include "capture/recording_source.h"
#include "session/sink.h"
#include "session/target.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// Passes on the mappings that have changed, except those of the process `left_out`, to the symbolizer, so
/// that it opens the files, and to the sink.
void note_mappings(RecordingSource& source, Symbolizer& symbols, Sink& sink, std::int32_t left_out = 0);

/// Drains until the duration is over, the target is gone, the sink has enough, or `interruption` can be read.
/// `drained` is called after each time.
Status drain_until_end(RecordingSource& source, Sink& sink, Symbolizer& symbols, Target& target,
                       std::optional<Nanos> duration, int interruption, const std::function<void()>& drained);

}  // namespace offwait
