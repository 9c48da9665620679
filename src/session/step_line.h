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
/// one is shown, nothing else may be written to the terminal.
class StepLine {
 public:
  /// What the line says of a step that has gone on for `age`, escaped. Another thread calls it.
  using Text = std::function<std::string(Nanos age)>;

  /// Nothing is drawn unless `shown`, nor in the time `silence`.
  explicit StepLine(bool shown, std::chrono::milliseconds silence = std::chrono::seconds(1));
  StepLine(const StepLine&) = delete;
  StepLine& operator=(const StepLine&) = delete;
  ~StepLine();

  /// The next step begins. When this returns, the text of the step before is not called any more. It does not
  /// wait for the terminal.
  void say(Text text);
  /// `WHAT (2.3 s)`
  void say(const std::string& what);

 private:
  void draw_until_end();

  const std::chrono::milliseconds silence_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Text text_;
  Nanos begin_ = 0;  ///< of the step
  bool ends_ = false;
  std::thread thread_;  ///< draws, because the thread that does the work cannot
};

/// Whether standard error is a terminal, and the user wants to be told.
bool is_seen_on_terminal(bool quiet);

}  // namespace offwait
