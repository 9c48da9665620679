// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/file_parts.h"

#include <algorithm>
#include <utility>

#include "base/monotonic.h"

namespace offwait {
namespace {

constexpr Nanos kHandOverEvery = kSecond;
/// Reading the tables takes this part of the time at most. Those of 10,000 threads take some milliseconds.
constexpr Nanos kTablesShare = 50;

}  // namespace

void FileParts::note(const std::vector<AddressSpace>& changed) {
  mappings_.insert(mappings_.end(), changed.begin(), changed.end());
  for (const AddressSpace& space : changed) gone_.erase(space.tgid);
}

Status FileParts::hand_over_if_due(Recorder& recorder) {
  if (writer_.failed()) return Error{"the recording cannot be written"};
  const Nanos begin = monotonic_now();
  if (begin < next_) return success();
  next_ = begin + kHandOverEvery;
  RecordingPart part;
  part.has_tables = begin >= next_tables_;
  OFFWAIT_TRY(part.kernel, recorder.take(part.has_tables ? Taken::tables : Taken::records));
  if (part.has_tables) {
    recorder.forget_taken();
    part.gone = recorder.take_gone();
    gone_.insert(part.gone.begin(), part.gone.end());
  }
  if (part.has_tables)
    next_tables_ = begin + std::max(kHandOverEvery, kTablesShare * (monotonic_now() - begin));
  part.mappings = take_mappings();
  writer_.add(std::move(part));
  return success();
}

std::vector<std::int32_t> FileParts::take_nameless() {
  std::vector<std::int32_t> nameless = writer_.take_nameless();
  std::erase_if(nameless, [this](std::int32_t tgid) { return gone_.erase(tgid) == 0; });
  return nameless;
}

std::vector<AddressSpace> FileParts::take_mappings() { return std::exchange(mappings_, {}); }

}  // namespace offwait
