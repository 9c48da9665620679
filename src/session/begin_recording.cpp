// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/begin_recording.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/say.h"
#include "base/utc_time.h"
#include "session/step_line.h"

namespace offwait {
namespace {

/// Attaching takes less, unless the target is large or the host is slow. It does not begin much earlier than
/// it must, because the records until the window begins are made for nothing.
constexpr Nanos kTimeToAttach = 3 * kSecond;
constexpr Nanos kDrainInterval = kSecond / 10;
constexpr std::chrono::milliseconds kAttachesSilently{500};

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

/// Waits for this time, but 100 ms at most: the clock may be set meanwhile.
void wait_a_moment(Nanos left) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left, kDrainInterval)));
}

void wait_until(Nanos time) {
  for (Nanos now = wall_clock_now(); now < time; now = wall_clock_now()) wait_a_moment(time - now);
}

/// Drains meanwhile, so that the start of the window finds room for its records.
Status wait_attached(Nanos time, Recorder& recorder, Target& target) {
  for (Nanos now = wall_clock_now(); now < time; now = wall_clock_now()) {
    wait_a_moment(time - now);
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

Result<Recorder> attach(const CaptureOptions& capture, const RecordingOptions& options, const Target& target,
                        Priority& priority) {
  const bool shown = options.target.command_line.empty() && is_seen_on_terminal(options.quiet);
  StepLine line(shown, kAttachesSilently);
  const std::string name = escape(target.label, Charset::utf8);
  return Recorder::attach(capture, priority, [&](AttachStep step) {
    line.say([name, step](Nanos age) {
      return fmt::format("{}: attaching for {:.1f} s, {} (Ctrl-C ends offwait)", name, to_seconds(age),
                         text_of(step));
    });
  });
}

}  // namespace

Nanos next_multiple(Nanos earliest, Nanos interval) {
  return (earliest + interval - 1) / interval * interval;
}

Result<Recorder> begin_recording(const CaptureOptions& capture, const RecordingOptions& options,
                                 Target& target, Priority& priority) {
  const std::optional<Nanos> interval = options.start_at;
  const auto next = [&interval](Nanos earliest) { return interval ? next_multiple(earliest, *interval) : 0; };
  Nanos time = next(wall_clock_now() + kTimeToAttach);
  if (interval && !options.quiet) announce(time);
  wait_until(time - kTimeToAttach);
  OFFWAIT_TRY(Recorder recorder, attach(capture, options, target, priority));
  if (const Nanos attached = next(wall_clock_now()); attached > time) {
    time = attached;
    if (!options.quiet) announce(time);
  }
  OFFWAIT_TRY_STATUS(wait_attached(time, recorder, target));
  recorder.begin();
  return recorder;
}

}  // namespace offwait
