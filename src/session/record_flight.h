// SPDX-License-Identifier: GPL-2.0-or-later
// A recording that goes on for weeks. Only its last part is kept, and is written when asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace.h"
#include "session/flight_files.h"
#include "session/flight_triggers.h"
#include "session/recording_options.h"

namespace offwait {

struct FlightOptions {
  Nanos length = 60 * kSecond;
  std::vector<FlightTrigger> triggers;
  Nanos cooldown = 60 * kSecond;  ///< from the start of a file that a trigger writes to that of the next
  std::vector<Label> labels;      ///< in each file
  std::vector<std::string> command_line;  ///< offwait's own
  bool symbols = true;                    ///< as in StoringOptions
};

struct Flown {
  std::vector<std::string> notes;     ///< as in Recorded
  std::optional<int> command_status;  ///< as in Recorded
};

/// Records until the duration is over, the target exits, or SIGINT, SIGTERM or SIGHUP
/// arrives. Writes a recording file then, at SIGUSR1 and when a trigger applies. Each has the last `length`
/// of the recording, and a label that says why it was written. What was recorded before is forgotten. Records
/// take at most RecordingOptions::max_memory; if that is too little, what is kept is shorter, and the file
/// says so.
///
/// A forked process writes the file while the recording goes on; it has what was recorded at the fork. It
/// gives up the capabilities that naming does not need. This process keeps those of both, to the end. The
/// forked process ends when this one does: BPF programs stay attached for as long as any process has them.
///
/// A line on standard error tells of each file, unless `quiet`, and of each that could not be written. Fails
/// as record_to_file() does, and if the last file cannot be written.
Result<Flown> record_flight(const RecordingOptions& options, FlightOptions flight, FlightFiles files);

}  // namespace offwait
