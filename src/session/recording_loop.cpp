// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/recording_loop.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <poll.h>

#include "base/monotonic.h"

namespace offwait {
namespace {

/// The longest time between two drains.
constexpr int kDrainMs = 100;

/// How long to wait for the next drain, in milliseconds; nothing if the duration is over.
std::optional<int> time_to_drain(const RecordingSource& source, std::optional<Nanos> duration) {
  if (!duration) return kDrainMs;
  const Nanos left = *duration - source.elapsed();
  if (left <= 0) return std::nullopt;
  return static_cast<int>(std::min<Nanos>(kDrainMs, left / 1'000'000 + 1));
}

}  // namespace

void note_mappings(RecordingSource& source, Symbolizer& symbols, Sink& sink, std::int32_t left_out) {
  std::vector<AddressSpace> changed = source.take_mappings(sink.copies());
  std::erase_if(changed, [left_out](const AddressSpace& space) { return space.tgid == left_out; });
  for (const AddressSpace& space : changed) symbols.note_mappings(space);
  sink.note(changed);
}

Status drain_until_end(RecordingSource& source, Sink& sink, Symbolizer& symbols, Target& target,
                       std::optional<Nanos> duration, int interruption,
                       const std::function<void()>& drained) {
  while (goes_on(target)) {
    const std::optional<int> timeout_ms = time_to_drain(source, duration);
    if (!timeout_ms) break;
    std::vector<pollfd> waits = {{interruption, POLLIN, 0}, {source.urgent_fd(), POLLIN, 0}};
    for (const int fd : sink.urgent_fds()) waits.push_back({fd, POLLIN, 0});
    for (const UniqueFd& process : target.living) waits.push_back({process.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), *timeout_ms) < 0 && errno != EINTR)
      return Error{std::string("cannot wait for the recording to end: ") + std::strerror(errno)};
    OFFWAIT_TRY_STATUS(source.drain());
    note_mappings(source, symbols, sink);
    if (sink.names_functions()) symbols.read_ahead(monotonic_now());
    OFFWAIT_TRY(const bool has_room, sink.take());
    drained();
    if (waits[0].revents != 0 || !has_room) break;
  }
  return success();
}

}  // namespace offwait
