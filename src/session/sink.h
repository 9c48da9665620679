// SPDX-License-Identifier: GPL-2.0-or-later
// Where a recording goes while it is made: a file, memory, a flight recorder.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "event/recording.h"
#include "process/address_spaces.h"
#include "recording_file/named_recording.h"

namespace offwait {

/// begin() to finish() are called in this order, by the thread that drains the source.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Whether functions get names, so that their tables are read while the recording goes on.
  virtual bool names_functions() const = 0;
  /// Which processes note() has to be told of.
  virtual AddressSpaces::Copies copies() const { return AddressSpaces::Copies::named; }
  /// Whether a line on the terminal says how far the recording is.
  virtual bool shows_progress() const { return true; }

  /// The window has begun, and nothing of it was drained yet. The process has all its capabilities.
  virtual Status begin(const AboutRecording& about) = 0;
  /// The process has no more capabilities than recording needs.
  virtual void start() {}

  // While the recording goes on, again and again:

  /// Readable when take() should be called at once. -1 stands for none.
  virtual std::vector<int> urgent_fds() const { return {}; }
  /// Mappings that have changed. The symbolizer has noted them.
  virtual void note(const std::vector<AddressSpace>& /*changed*/) {}
  /// The source was drained. False if the recording is to end, because there is no room for more.
  virtual Result<bool> take() = 0;

  // Afterwards:

  /// A signal has ended the recording.
  virtual void interrupted() {}

  /// Ends threads that have capabilities of the recording. Fails if something that was taken could not be
  /// kept.
  virtual Status stop() { return success(); }
  /// What the source had left, and all tables. The process has no more capabilities than naming needs.
  /// `notes` gets sentences that the user should read.
  virtual Status finish(KernelRecording rest, std::vector<std::string>& notes) = 0;
};

}  // namespace offwait
