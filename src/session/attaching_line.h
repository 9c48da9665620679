// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "capture/recorder.h"

namespace offwait {

/// Draws a line on standard error that says what attaching does, if it takes longer than half a second. The
/// destructor erases it.
class AttachingLine {
 public:
  /// `target` is printed as it is. Nothing is printed unless `shown`.
  AttachingLine(bool shown, std::string target);
  AttachingLine(const AttachingLine&) = delete;
  AttachingLine& operator=(const AttachingLine&) = delete;
  ~AttachingLine();

  void take(AttachStep step) { step_ = step; }

 private:
  void draw_until_end();

  std::string target_;
  std::atomic<AttachStep> step_ = AttachStep::load;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;  ///< since the thread that attaches is busy
};

}  // namespace offwait
