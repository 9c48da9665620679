// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/progress_line.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/say.h"

namespace offwait {
namespace {

constexpr Nanos kProgressInterval = kSecond / 5;

std::string with_thousands(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace

ProgressLine::ProgressLine(bool shown, std::string target, std::optional<Nanos> duration)
    : shown_(shown), target_(std::move(target)), duration_(duration) {}

ProgressLine::~ProgressLine() {
  if (drawn_) clear_line();
}

void ProgressLine::show(const RecordingSource& source) {
  const Nanos elapsed = source.elapsed();
  if (!shown_ || elapsed < next_) return;
  next_ = elapsed + kProgressInterval;
  const CaptureProgress now = source.progress();
  const std::string end = duration_ ? fmt::format(" of {:.1f} s", to_seconds(*duration_)) : "";
  drawn_ = show_on_line(fmt::format("{}: {:.1f} s{}, {} waits, {} lost (Ctrl-C reports now)", target_,
                                    to_seconds(elapsed), end, with_thousands(now.waits),
                                    with_thousands(now.lost))) ||
           drawn_;
}

}  // namespace offwait
