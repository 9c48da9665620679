// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/begin_recording.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "base/say.h"
#include "base/utc_time.h"

namespace offwait {
namespace {

/// Attaching takes less, unless the target is large or the host is slow. It does not begin much earlier than
/// it must, because the records until the window begins are made for nothing.
constexpr Nanos kTimeToAttach = 3 * kSecond;
constexpr Nanos kDrainInterval = kSecond / 10;
constexpr Nanos kMillisecond = kSecond / 1000;

/// Waits for so long, but 100 ms at most: the clock may be set meanwhile.
Status wait_a_moment(Nanos left, const Interruption& interruption) {
  pollfd interrupted{interruption.fd(), POLLIN, 0};
  const auto timeout = static_cast<int>((std::min(left, kDrainInterval) + kMillisecond - 1) / kMillisecond);
  if (::poll(&interrupted, 1, timeout) < 0 && errno != EINTR)
    return Error{fmt::format("cannot wait for the recording to begin: {}", std::strerror(errno))};
  if (interrupted.revents != 0) return Error{"interrupted before the recording began"};
  return success();
}

Status wait_until(Nanos time, const Interruption& interruption) {
  for (Nanos now = wall_clock_now(); now < time; now = wall_clock_now())
    OFFWAIT_TRY_STATUS(wait_a_moment(time - now, interruption));
  return success();
}

/// Drains meanwhile, so that the begin of the window finds room for its records.
Status wait_attached(Nanos time, const Interruption& interruption, Recorder& recorder, Target& target) {
  for (Nanos now = wall_clock_now(); now < time; now = wall_clock_now()) {
    OFFWAIT_TRY_STATUS(wait_a_moment(time - now, interruption));
    OFFWAIT_TRY_STATUS(recorder.drain());
    if (!goes_on(target)) return Error{"the target exited before the recording began"};
  }
  return success();
}

void announce(Nanos time) {
  const Nanos seconds = time / kSecond;
  say(fmt::format("the recording begins at {:02}:{:02}:{:02} UTC", seconds / 3600 % 24, seconds / 60 % 60,
                  seconds % 60));
}

}  // namespace

Nanos next_multiple(Nanos earliest, Nanos interval) {
  return (earliest + interval - 1) / interval * interval;
}

Result<Recorder> begin_recording(const CaptureOptions& capture, const RecordingOptions& options,
                                 Target& target, const Interruption& interruption, Priority& priority) {
  const std::optional<Nanos> interval = options.start_at;
  const auto next = [&interval](Nanos earliest) { return interval ? next_multiple(earliest, *interval) : 0; };
  Nanos time = next(wall_clock_now() + kTimeToAttach);
  if (interval && !options.quiet) announce(time);
  OFFWAIT_TRY_STATUS(wait_until(time - kTimeToAttach, interruption));
  OFFWAIT_TRY(Recorder recorder, Recorder::attach(capture, priority));
  if (const Nanos attached = next(wall_clock_now()); attached > time) {
    time = attached;
    if (!options.quiet) announce(time);
  }
  OFFWAIT_TRY_STATUS(wait_attached(time, interruption, recorder, target));
  recorder.begin();
  return recorder;
}

}  // namespace offwait
