// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/file_parts.h"

#include <algorithm>
#include <utility>

#include "base/monotonic.h"

namespace offwait {
namespace {

constexpr Nanos kInterval = kSecond;
/// Reading the tables takes this part of the time at most. Those of 10,000 threads take some milliseconds.
constexpr Nanos kPartOfTime = 50;

}  // namespace

void FileParts::note(const std::vector<AddressSpace>& changed) {
  mappings_.insert(mappings_.end(), changed.begin(), changed.end());
}

Status FileParts::hand_over_if_due(Recorder& recorder) {
  if (writer_.failed()) return Error{"the recording cannot be written"};
  const Nanos begin = monotonic_now();
  if (begin < next_) return success();
  next_ = begin + kInterval;
  RecordingPart part;
  part.has_tables = begin >= next_tables_;
  OFFWAIT_TRY(part.kernel, recorder.take(part.has_tables));
  if (part.has_tables) next_tables_ = begin + std::max(kInterval, kPartOfTime * (monotonic_now() - begin));
  part.mappings = take_mappings();
  writer_.add(std::move(part));
  return success();
}

std::vector<AddressSpace> FileParts::take_mappings() { return std::exchange(mappings_, {}); }

}  // namespace offwait
