// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/file_sink.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/monotonic.h"
#include "session/recording_steps.h"
#include "session/stack_names.h"

namespace offwait {
namespace {

constexpr Nanos kHandOverEvery = kSecond;
/// Reading the tables takes this part of the time at most. Those of 10,000 threads take some milliseconds.
constexpr Nanos kTablesShare = 50;

}  // namespace

FileSink::FileSink(RecordingSource& source, Symbolizer& symbols, const Target& target,
                   const RecordingOptions& options, StoringOptions storing)
    : source_(source),
      symbols_(symbols),
      target_(target),
      options_(options),
      storing_(std::move(storing)),
      writer_(std::move(storing_.file), storing_.name) {}

Status FileSink::begin(const AboutRecording& about) {
  AboutRecording stored = about;
  stored.labels = storing_.labels;
  stored.command_line = storing_.command_line;
  OFFWAIT_TRY_STATUS(writer_.begin(stored));
  // Later the process may not read them.
  std::string kernel_text = source_.kernel_symbols();
  kernel_symbols_.set_kernel_symbols(kernel_text);
  symbols_.set_kernel_symbols(std::move(kernel_text));
  writer_.read_with([this](std::span<const std::uint32_t> ids) { return source_.stacks(ids); },
                    [this](const std::vector<FrameAddress>& addresses) {
                      return name_addresses(addresses, kernel_symbols_);
                    });
  return success();
}

void FileSink::note(const std::vector<AddressSpace>& changed) {
  mappings_.insert(mappings_.end(), changed.begin(), changed.end());
  for (const AddressSpace& space : changed) gone_.erase(space.tgid);
}

Result<bool> FileSink::take() {
  OFFWAIT_TRY_STATUS(hand_over_if_due());
  forget_nameless();
  return !source_.is_full();
}

Status FileSink::hand_over_if_due() {
  if (writer_.failed()) return Error{"the recording cannot be written"};
  const Nanos begin = monotonic_now();
  if (begin < next_) return success();
  next_ = begin + kHandOverEvery;
  RecordingPart part;
  part.has_tables = begin >= next_tables_;
  OFFWAIT_TRY(part.kernel, source_.take(part.has_tables ? Taken::tables : Taken::records));
  if (part.has_tables) {
    source_.forget_taken();
    part.gone = source_.take_gone();
    gone_.insert(part.gone.begin(), part.gone.end());
    next_tables_ = begin + std::max(kHandOverEvery, kTablesShare * (monotonic_now() - begin));
  }
  part.mappings = std::exchange(mappings_, {});
  writer_.add(std::move(part));
  return success();
}

void FileSink::forget_nameless() {
  std::vector<std::int32_t> nameless = writer_.take_nameless();
  std::erase_if(nameless, [this](std::int32_t tgid) { return gone_.erase(tgid) == 0; });
  if (!nameless.empty()) symbols_.forget(nameless);
}

Status FileSink::finish(KernelRecording rest, std::vector<std::string>& notes) {
  RecordingPart last{std::move(rest), true, std::exchange(mappings_, {})};
  OFFWAIT_TRY_STATUS(writer_.write(last));
  last.kernel.records = {};
  std::vector<std::string> device_notes;
  OFFWAIT_TRY_STATUS(store_names(last.kernel, storing_.symbols, symbols_, writer_, device_notes));
  if (target_.cgroup && !writer_.references().has_target) notes.push_back(nobody_in(*target_.cgroup));
  if (options_.counted && last.kernel.calls.empty()) notes.push_back(nobody_called(*options_.counted));
  notes.insert(notes.end(), device_notes.begin(), device_notes.end());
  window_ns_ = last.kernel.window.length();
  return success();
}

}  // namespace offwait
