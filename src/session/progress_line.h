// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>

#include "base/nanos.h"
#include "capture/recording_source.h"

namespace offwait {

/// Draws a line on standard error, five times a second, that says how far the recording is. The destructor
/// erases it.
class ProgressLine {
 public:
  /// `target` is printed as it is. Nothing is printed unless `shown`.
  ProgressLine(bool shown, std::string target, std::optional<Nanos> duration);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void show(const RecordingSource& source);

 private:
  bool shown_;
  std::string target_;
  std::optional<Nanos> duration_;
  Nanos next_ = 0;
  bool drawn_ = false;
};

}  // namespace offwait
