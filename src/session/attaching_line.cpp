// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/attaching_line.h"

#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/monotonic.h"
#include "base/say.h"

namespace offwait {
namespace {

constexpr std::chrono::milliseconds kSilence{500};
constexpr std::chrono::milliseconds kInterval{200};

std::string_view text_of(AttachStep step) {
  switch (step) {
    case AttachStep::load:
      return "the kernel checks the BPF programs";
    case AttachStep::find_threads:
      return "looks for threads and their code";
    case AttachStep::probe:
      return "sets probes";
  }
  return "";
}

}  // namespace

AttachingLine::AttachingLine(bool shown, std::string target) : target_(std::move(target)) {
  if (shown) thread_ = std::thread([this] { draw_until_end(); });
}

AttachingLine::~AttachingLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void AttachingLine::draw_until_end() {
  const Nanos begin = monotonic_now();
  std::unique_lock lock(mutex_);
  bool drawn = false;
  for (auto wait = kSilence; !changed_.wait_for(lock, wait, [this] { return ends_; }); wait = kInterval) {
    write_to_stderr(fmt::format("\r\x1b[K{}: attaching for {:.1f} s, {} (Ctrl-C ends offwait)", target_,
                                to_seconds(monotonic_now() - begin), text_of(step_)));
    drawn = true;
  }
  if (drawn) write_to_stderr("\r\x1b[K");
}

}  // namespace offwait
