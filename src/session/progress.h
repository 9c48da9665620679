// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>

#include "base/nanos.h"
#include "capture/recorder.h"

namespace offwait {

/// The line on standard error that says how far the recording is, five times a second. The destructor erases
/// it.
class Progress {
 public:
  /// `target` is printed as it is. Nothing is printed unless `shown`.
  Progress(bool shown, std::string target, std::optional<Nanos> duration);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void show(const Recorder& recorder);

 private:
  bool shown_;
  std::string target_;
  std::optional<Nanos> duration_;
  Nanos next_ = 0;
  bool drawn_ = false;
};

}  // namespace offwait
