// SPDX-License-Identifier: GPL-2.0-or-later
// The steps that every recording takes, from the user's options to the end of the target.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/recorder.h"
#include "process/half_of_a_cpu.h"
#include "process/priority.h"
#include "session/interruption.h"
#include "session/recording_options.h"
#include "session/recording_steps.h"
#include "session/sink.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// How a recording ended.
struct RecordingEnd {
  std::vector<std::string> notes;             ///< sentences that the user should read; hostile bytes
  std::optional<int> command_status;          ///< for a command: the exit status for offwait
  std::unique_ptr<HalfOfACpu> half_of_a_cpu;  ///< since the end; never null
};

class RunningRecording {
 public:
  /// Checks all that can be checked in advance, attaches, and begins the window. `options` outlive it.
  static Result<std::unique_ptr<RunningRecording>> begin(const RecordingOptions& options);

  /// Records into the sink until the duration is over, the target exits, or SIGINT, SIGTERM or SIGHUP
  /// arrives. When this returns, signals work as before. Unless it fails, a command has ended then: if it
  /// still runs at the end, it is sent SIGTERM. Capabilities are given up on the way (capture/privileges.h),
  /// so a process can record only once.
  Result<RecordingEnd> record_into(Sink& sink);

  // For sinks:
  RecordingSource& source() { return *recorder_; }
  Symbolizer& symbols() { return symbols_; }
  Priority& priority() { return priority_; }
  const Subject& subject() const { return *subject_; }

 private:
  explicit RunningRecording(const RecordingOptions& options);
  bool tells_progress(const Sink& sink) const;
  Status run(Sink& sink);
  Status finish(Sink& sink, KernelRecording rest, std::vector<std::string>& notes);

  const RecordingOptions& options_;
  std::vector<std::string> notes_;
  Priority priority_;
  std::optional<Subject> subject_;
  Symbolizer symbols_;
  std::optional<Recorder> recorder_;
  std::optional<Interruption> interruption_;
};

}  // namespace offwait
