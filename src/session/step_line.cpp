// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/step_line.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/say.h"

namespace offwait {
namespace {

constexpr std::chrono::milliseconds kInterval{200};

}  // namespace

StepLine::StepLine(bool shown, std::chrono::milliseconds silence) : silence_(silence) {
  if (!shown) return;
  try {
    thread_ = std::thread([this] { draw_until_end(); });
  } catch (const std::system_error&) {
    // This process may have no more threads, and does its work without a line.
  }
}

StepLine::~StepLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StepLine::say(Text text) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  begin_ = monotonic_now();
}

void StepLine::say(const std::string& what) {
  say([what](Nanos age) { return fmt::format("{} ({:.1f} s)", what, to_seconds(age)); });
}

void StepLine::draw_until_end() {
  std::unique_lock lock(mutex_);
  bool drawn = false;
  for (auto wait = silence_; !changed_.wait_for(lock, wait, [this] { return ends_; }); wait = kInterval) {
    if (!text_) continue;
    const std::string text = text_(monotonic_now() - begin_);
    // A terminal may be stopped for any time.
    lock.unlock();
    drawn = show_on_line(text) || drawn;
    lock.lock();
  }
  if (drawn) clear_line();
}

bool is_seen_on_terminal(bool quiet) { return !quiet && ::isatty(STDERR_FILENO) == 1; }

}  // namespace offwait
