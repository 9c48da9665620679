// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/nanos.h"

namespace offwait {

/// Draws a line on standard error that says what goes on, if that takes long. The destructor erases it. While
/// there is one, nothing else may be written to the terminal.
class StepLine {
 public:
  /// What the line says, when it is this old. Another thread calls it.
  using Text = std::function<std::string(Nanos age)>;

  /// Nothing is drawn unless `shown`, nor in the time `silence`.
  explicit StepLine(bool shown, std::chrono::milliseconds silence = std::chrono::seconds(1));
  StepLine(const StepLine&) = delete;
  StepLine& operator=(const StepLine&) = delete;
  ~StepLine();

  /// From now on the line says this. It is printed as it is. What was said before is not called any more.
  void say(Text text);
  /// `WHAT (2.3 s)`
  void say(const std::string& what);

 private:
  void draw_until_end();

  const std::chrono::milliseconds silence_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Text text_;
  bool ends_ = false;
  std::thread thread_;  ///< since the thread that does the work is busy
};

/// Whether somebody looks at standard error.
bool is_seen_on_terminal(bool quiet);

}  // namespace offwait
