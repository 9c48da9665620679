// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/record.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/monotonic.h"
#include "base/say.h"
#include "capture/recorder.h"
#include "model/validate.h"
#include "process/far_files.h"
#include "process/priority.h"
#include "recording_file/named_recording.h"
#include "recording_file/recording_writer.h"
#include "session/begin_recording.h"
#include "session/file_parts.h"
#include "session/host_capacities.h"
#include "session/interruption.h"
#include "session/make_trace.h"
#include "session/name_sources.h"
#include "session/object_names.h"
#include "session/progress_line.h"
#include "session/recording_steps.h"
#include "session/stack_names.h"
#include "session/target.h"
#include "symbol/symbolizer.h"

namespace offwait {
namespace {

/// What takes the recorded data while the recording runs.
struct Takers {
  Symbolizer& symbols;
  bool names_functions = true;  ///< at the end
  FileParts* file = nullptr;    ///< null: the recording is kept in memory
};

/// Hands on the mappings of all processes but `left_out`, so that the symbolizer opens the files.
void note_mappings(Recorder& recorder, const Takers& takers, std::int32_t left_out = 0) {
  const auto copies =
      takers.file != nullptr ? AddressSpaces::Copies::with_mappings : AddressSpaces::Copies::named;
  const std::vector<AddressSpace> changed = take_mappings(recorder, takers.symbols, copies, left_out);
  if (takers.file != nullptr) takers.file->note(changed);
}

/// Drains until the duration is over, the target is gone, or a signal arrives.
Status drain_until_end(Recorder& recorder, Target& target, std::optional<Nanos> duration,
                       const Interruption& interruption, const Takers& takers, ProgressLine& progress) {
  while (goes_on(target)) {
    const std::optional<int> timeout_ms = time_to_drain(recorder, duration);
    if (!timeout_ms) break;
    std::vector<pollfd> waits = {{interruption.fd(), POLLIN, 0}, {recorder.urgent_fd(), POLLIN, 0}};
    for (const UniqueFd& process : target.living) waits.push_back({process.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), *timeout_ms) < 0 && errno != EINTR)
      return Error{std::string("cannot wait for the recording to end: ") + std::strerror(errno)};
    OFFWAIT_TRY_STATUS(recorder.drain());
    note_mappings(recorder, takers);
    if (takers.names_functions) takers.symbols.read_ahead(monotonic_now());
    if (takers.file != nullptr) {
      OFFWAIT_TRY_STATUS(takers.file->hand_over_if_due(recorder));
      const std::vector<std::int32_t> nameless = takers.file->take_nameless();
      if (!nameless.empty()) takers.symbols.forget(nameless);
    }
    progress.show(recorder);
    if (waits[0].revents != 0 || recorder.is_full()) break;
  }
  return success();
}

/// Lets a command run, and drains the recorder until the end.
Status run_recording(Subject& subject, const RecordingOptions& options, const Interruption& interruption,
                     Recorder& recorder, const Takers& takers) {
  const std::string target = escape(subject.target.label, Charset::utf8);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const bool quiet = options.quiet || subject.command.has_value();
  // A script does not look at progress, but may want to know from when on nothing is missed.
  if (!quiet && !terminal) say("recording " + target);
  // Until its exec a command has the mappings of this process.
  note_mappings(recorder, takers, subject.command ? subject.command->tgid() : 0);
  if (subject.command) OFFWAIT_TRY_STATUS(subject.command->release());
  ProgressLine progress(!quiet && terminal, target, options.duration);
  return drain_until_end(recorder, subject.target, options.duration, interruption, takers, progress);
}

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

bool has_target(const Trace& trace) {
  return std::any_of(trace.actors.begin(), trace.actors.end(),
                     [](const Actor& actor) { return actor.kind == ActorKind::thread && !actor.outside; });
}

}  // namespace

Result<Recorded> record(const RecordingOptions& options) {
  OFFWAIT_TRY(std::optional<HeldCommand> command, hold_command(options));
  Priority priority;
  OFFWAIT_TRY(auto prepared, prepare_recording(std::move(command), options));
  Subject& subject = prepared.subject;
  Recorded recorded;
  Symbolizer symbols(options.debuginfod ? debuginfod(recorded.notes) : DebugServer());
  const Takers takers{symbols};
  OFFWAIT_TRY(Recorder recorder, begin_recording(prepared.capture, options, subject.target, priority));
  Interruption interruption;
  NamedRecording recording;
  recording.about = about_recording(subject, options);
  OFFWAIT_TRY_STATUS(give_up(Remaining::recording, subject, options));

  OFFWAIT_TRY_STATUS(run_recording(subject, options, interruption, recorder, takers));
  const bool interrupted = end_interruption(interruption);
  OFFWAIT_TRY(recording.kernel, stop(recorder, subject.target, options, symbols));
  OFFWAIT_TRY_STATUS(give_up(Remaining::naming, subject, options));
  note_mappings(recorder, takers);
  if (options.java) ask_jvms(symbols, recorded.notes);
  const bool told_to_end = leave_target(subject, interrupted);

  KernelRecording& kernel = recording.kernel;
  recording.stacks = name_stacks(kernel.stacks, stacks_in_records(kernel), symbols);
  std::vector<std::string> device_notes;
  recording.devices = known_devices(kernel, device_notes);
  recorded.trace = make_trace(recording);
  Trace& trace = recorded.trace;
  name_objects(trace, data_names(nameless_objects(trace), symbols));
  // All that follows relies on it, and a kernel may report what cannot have happened.
  const Status valid = validate(trace);
  if (subject.target.cgroup && !has_target(trace)) return Error{nobody_in(*subject.target.cgroup)};
  append(recorded.notes, symbols.warnings());
  append(recorded.notes, silent_file_systems());
  append(recorded.notes, recorder.notes());
  if (options.counted && trace.calls.empty()) recorded.notes.push_back(nobody_called(*options.counted));
  append(recorded.notes, device_notes);
  recorded.command_status = end_command(subject, told_to_end, options.quiet, recorded.notes);
  OFFWAIT_TRY_STATUS(valid);
  OFFWAIT_TRY_STATUS(give_up(Remaining::analysis, subject, options));
  return recorded;
}

Result<Stored> record_to_file(const RecordingOptions& options, StoringOptions storing) {
  OFFWAIT_TRY(std::optional<HeldCommand> command, hold_command(options));
  Priority priority;
  OFFWAIT_TRY(auto prepared, prepare_recording(std::move(command), options));
  Subject& subject = prepared.subject;
  Stored stored;
  Symbolizer symbols(options.debuginfod ? debuginfod(stored.notes) : DebugServer());
  RecordingWriter writer(std::move(storing.file), storing.name);
  FileParts parts(writer);
  const Takers takers{symbols, storing.symbols, &parts};
  OFFWAIT_TRY(Recorder recorder, begin_recording(prepared.capture, options, subject.target, priority));
  Interruption interruption;
  AboutRecording about = about_recording(subject, options);
  about.labels = storing.labels;
  about.command_line = storing.command_line;
  OFFWAIT_TRY_STATUS(writer.begin(about));
  std::string kernel_text = recorder.kernel_symbols();
  OFFWAIT_TRY_STATUS(give_up(Remaining::recording, subject, options));

  // Capabilities belong to threads: this one has what is left, and is gone when more are given up.
  Symbolizer kernel_symbols;
  kernel_symbols.set_kernel_symbols(kernel_text);
  symbols.set_kernel_symbols(std::move(kernel_text));
  writer.read_with([&recorder](std::span<const std::uint32_t> ids) { return recorder.stacks(ids); },
                   [&kernel_symbols](const std::vector<FrameAddress>& addresses) {
                     return name_addresses(addresses, kernel_symbols);
                   });
  writer.start();
  const Status ran = run_recording(subject, options, interruption, recorder, takers);
  const bool interrupted = end_interruption(interruption);
  Result<KernelRecording> stopped = stop(recorder, subject.target, options, symbols);
  OFFWAIT_TRY_STATUS(writer.stop());
  OFFWAIT_TRY_STATUS(ran);
  OFFWAIT_TRY(KernelRecording kernel, std::move(stopped));
  OFFWAIT_TRY_STATUS(give_up(Remaining::naming, subject, options));
  note_mappings(recorder, takers);
  if (options.java) ask_jvms(symbols, stored.notes);
  const bool told_to_end = leave_target(subject, interrupted);

  RecordingPart last{std::move(kernel), true, parts.take_mappings()};
  OFFWAIT_TRY_STATUS(writer.write(last));
  last.kernel.records = {};
  std::vector<std::string> device_notes;
  OFFWAIT_TRY_STATUS(store_names(last.kernel, storing.symbols, symbols, writer, device_notes));
  if (subject.target.cgroup && !writer.references().has_target)
    stored.notes.push_back(nobody_in(*subject.target.cgroup));
  append(stored.notes, symbols.warnings());
  append(stored.notes, silent_file_systems());
  append(stored.notes, recorder.notes());
  if (options.counted && last.kernel.calls.empty()) stored.notes.push_back(nobody_called(*options.counted));
  append(stored.notes, device_notes);
  stored.waits = writer.waits();
  stored.bytes = writer.size();
  stored.window_ns = last.kernel.window.length();
  stored.command_status = end_command(subject, told_to_end, options.quiet, stored.notes);
  OFFWAIT_TRY_STATUS(give_up(Remaining::analysis, subject, options));
  return stored;
}

}  // namespace offwait
