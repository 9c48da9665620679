// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/record.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/escape.h"
#include "capture/privileges.h"
#include "capture/recorder.h"
#include "process/held_command.h"
#include "recording_file/named_recording.h"
#include "recording_file/recording_writer.h"
#include "session/command_end.h"
#include "session/file_parts.h"
#include "session/host_capacities.h"
#include "session/interruption.h"
#include "session/make_trace.h"
#include "session/name_sources.h"
#include "session/object_names.h"
#include "session/probes.h"
#include "session/progress_line.h"
#include "session/stack_names.h"
#include "session/target.h"
#include "symbol/symbolizer.h"

namespace offwait {
namespace {

constexpr int kDrainMs = 100;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// The target, and the held command if it is one.
struct Subject {
  std::optional<HeldCommand> command;
  Target target;
};

Result<Subject> find_subject(const TargetOptions& options) {
  Subject subject;
  if (options.command_line.empty()) {
    OFFWAIT_TRY(subject.target, find_target(options));
    return subject;
  }
  OFFWAIT_TRY(HeldCommand held, HeldCommand::start(options.command_line));
  subject.command.emplace(std::move(held));
  OFFWAIT_TRY(subject.target, find_command(*subject.command, options.command_line.front()));
  return subject;
}

/// A pattern that matches no thread is not an error yet, because threads may start later.
void warn_of_patterns(const RecordingOptions& options, const Target& target) {
  const std::vector<Actor> threads = threads_of(target);
  for (const Status& matched :
       {check_filter(threads, options.filter), check_progress_threads(threads, options.progress_threads)}) {
    if (!matched)
      fmt::print(stderr, "offwait: {}; recording in case one starts\n",
                 escape(matched.error().message, Charset::utf8));
  }
}

Result<CaptureOptions> capture_options(const Subject& subject, const RecordingOptions& options) {
  const Target& target = subject.target;
  CaptureOptions capture;
  capture.stacks = options.stacks;
  capture.sample_hz = options.sample_hz;
  capture.memory_bytes = options.max_memory;
  if (const char* directory = std::getenv("TMPDIR"); directory != nullptr && *directory == '/')
    capture.overflow_directory = directory;
  if (target.all) {
    capture.cgroup = 0;
  } else if (target.cgroup) {
    capture.cgroup = target.cgroup->id;
  } else if (target.tid != 0) {
    capture.tids.push_back(target.tid);
    capture.follow_children = false;
  } else {
    capture.tgids = target.tgids;
  }
  const std::string command_path = subject.command ? subject.command->path() : "";
  OFFWAIT_TRY(capture.probes, find_probes(target, command_path, options));
  return capture;
}

/// Who takes what is recorded while the recording runs.
struct Takers {
  Symbolizer& symbols;
  FileParts* file = nullptr;  ///< null: the recording is kept in memory
};

/// Hands on the mappings of all processes but `left_out`, so that the symbolizer opens the files.
void note_mappings(Recorder& recorder, const Takers& takers, std::int32_t left_out = 0) {
  std::vector<AddressSpace> changed = recorder.take_mappings();
  std::erase_if(changed, [left_out](const AddressSpace& space) { return space.tgid == left_out; });
  for (const AddressSpace& space : changed) takers.symbols.note_mappings(space);
  if (takers.file != nullptr) takers.file->note(changed);
}

/// Drains until the duration is over, the target is gone, or a signal arrives.
Status drain_until_end(Recorder& recorder, Target& target, std::optional<Nanos> duration,
                       const Interruption& interruption, const Takers& takers, ProgressLine& progress) {
  while (goes_on(target)) {
    const Nanos elapsed = recorder.elapsed();
    int timeout_ms = kDrainMs;
    if (duration) {
      if (elapsed >= *duration) break;
      timeout_ms = static_cast<int>(std::min<Nanos>(timeout_ms, (*duration - elapsed) / 1'000'000 + 1));
    }
    std::vector<pollfd> waits = {{interruption.fd(), POLLIN, 0}, {recorder.urgent_fd(), POLLIN, 0}};
    for (const UniqueFd& process : target.living) waits.push_back({process.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), timeout_ms) < 0 && errno != EINTR)
      return Error{std::string("cannot wait for the recording to end: ") + std::strerror(errno)};
    OFFWAIT_TRY_STATUS(recorder.drain());
    note_mappings(recorder, takers);
    if (takers.file != nullptr) OFFWAIT_TRY_STATUS(takers.file->hand_over_if_due(recorder));
    progress.show(recorder);
    if (waits[0].revents != 0 || recorder.progress().full) break;
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
  if (!quiet && !terminal) fmt::print(stderr, "offwait: recording {}\n", target);
  // Until its exec a command has the mappings of this process.
  note_mappings(recorder, takers, subject.command ? subject.command->tgid() : 0);
  if (subject.command) OFFWAIT_TRY_STATUS(subject.command->release());
  ProgressLine progress(!quiet && terminal, target, options.duration);
  return drain_until_end(recorder, subject.target, options.duration, interruption, takers, progress);
}

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

void ask_jvms(const Symbolizer& symbols, std::vector<std::string>& notes) {
  for (const std::int32_t tgid : symbols.java_processes()) {
    if (const Status written = write_java_perf_map(tgid); !written) notes.push_back(written.error().message);
  }
}

bool has_target(const Trace& trace) {
  return std::any_of(trace.actors.begin(), trace.actors.end(),
                     [](const Actor& actor) { return actor.kind == ActorKind::thread && !actor.outside; });
}

std::string nobody_in(const Cgroup& cgroup) {
  return fmt::format("no process was in the cgroup {} while it was recorded: there is nothing to analyse",
                     cgroup.name);
}

AboutRecording about_recording(const Subject& subject, const RecordingOptions& options) {
  utsname host{};
  ::uname(&host);
  AboutRecording about;
  about.target = subject.target.label;
  about.start_time = utc_now();
  about.kernel = host.release;
  about.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  about.offwait = options.recorder_version;
  about.host = host.nodename;
  about.architecture = host.machine;
  if (subject.command) about.command = subject.command->tgid();
  if (options.counted) about.counted_function = options.counted->name;
  return about;
}

Commands commands_to_run(const RecordingOptions& options) {
  if (options.java) return Commands::as_any_user;
  return options.debuginfod ? Commands::as_own_user : Commands::none;
}

/// What is checked and found before the recording.
struct Prepared {
  Subject subject;
  CaptureOptions capture;
};

Result<Prepared> prepare(const RecordingOptions& options) {
  OFFWAIT_TRY_STATUS(check_name_sources(options.java, options.debuginfod));
  OFFWAIT_TRY(Subject subject, find_subject(options.target));
  OFFWAIT_TRY_STATUS(check_given(options.given_capacities));
  OFFWAIT_TRY(CaptureOptions capture, capture_options(subject, options));
  if (!options.quiet && !subject.command) warn_of_patterns(options, subject.target);
  return Prepared{std::move(subject), std::move(capture)};
}

Status give_up(Remaining remaining, const Subject& subject, const RecordingOptions& options) {
  return give_up_privileges(remaining, commands_to_run(options), subject.command.has_value());
}

Result<KernelRecording> stop(Recorder& recorder, const RecordingOptions& options, Symbolizer& symbols) {
  OFFWAIT_TRY(KernelRecording recording, recorder.stop());
  if (options.counted) recording.counted_function = options.counted->name;
  if (std::string text = recorder.kernel_symbols(); !text.empty())
    symbols.set_kernel_symbols(std::move(text));
  return recording;
}

/// Takes what processes of the target have to say before they may end. Whether the target was told to end,
/// or did not end at all.
bool leave_target(Recorder& recorder, const Subject& subject, const RecordingOptions& options,
                  const Interruption& interruption, const Takers& takers, std::vector<std::string>& notes) {
  note_mappings(recorder, takers);
  if (options.java) ask_jvms(takers.symbols, notes);
  const bool told_to_end = interruption.take() || !subject.target.living.empty();
  if (subject.command && !subject.target.living.empty()) subject.command->send(SIGTERM);
  return told_to_end;
}

/// Waits for the end of the command, if there is one, and returns offwait's exit status for it.
std::optional<int> end_command(Subject& subject, const Interruption& interruption, bool told_to_end,
                               bool quiet, std::vector<std::string>& notes) {
  if (!subject.command) return std::nullopt;
  const int status = await_end(*subject.command, interruption, quiet);
  if (std::optional<std::string> death = death_of(status, told_to_end)) notes.push_back(*std::move(death));
  return exit_status_of(status, told_to_end);
}

std::string nobody_called(const CountedFunction& counted) {
  return fmt::format("--progress-at: nobody called {} in the recording, so its calls do not count",
                     counted.name);
}

/// The names of a recording that a file has but for them.
Status store_names(const KernelRecording& kernel, const StoringOptions& storing, Symbolizer& symbols,
                   RecordingWriter& writer, std::vector<std::string>& notes) {
  const RecordReferences& references = writer.references();
  const KnownDevices devices = known_devices(kernel, notes);
  std::vector<DataAddress> locks;
  for (const auto& [tgid, address] : references.locks.places()) {
    if (storing.symbols || tgid == 0) locks.push_back({tgid, address});
  }
  if (storing.symbols)
    return writer.finish(name_stacks(kernel.stacks, references.spins, symbols), data_names(locks, symbols),
                         devices);
  writer.add_build_ids(symbols.build_ids());
  return writer.finish({}, data_names(locks, symbols), devices);
}

}  // namespace

Result<Recorded> record(const RecordingOptions& options) {
  OFFWAIT_TRY(auto prepared, prepare(options));
  Subject& subject = prepared.subject;
  const Interruption interruption;
  Recorded recorded;
  Symbolizer symbols(options.debuginfod ? debuginfod(recorded.notes) : DebugServer());
  const Takers takers{symbols};
  OFFWAIT_TRY(Recorder recorder, Recorder::start(prepared.capture));
  NamedRecording recording;
  recording.about = about_recording(subject, options);
  OFFWAIT_TRY_STATUS(give_up(Remaining::recording, subject, options));

  OFFWAIT_TRY_STATUS(run_recording(subject, options, interruption, recorder, takers));
  OFFWAIT_TRY(recording.kernel, stop(recorder, options, symbols));
  OFFWAIT_TRY_STATUS(give_up(Remaining::naming, subject, options));
  const bool told_to_end = leave_target(recorder, subject, options, interruption, takers, recorded.notes);

  KernelRecording& kernel = recording.kernel;
  recording.stacks = name_stacks(kernel.stacks, spin_stacks(kernel), symbols);
  std::vector<std::string> device_notes;
  recording.devices = known_devices(kernel, device_notes);
  recorded.trace = make_trace(recording);
  Trace& trace = recorded.trace;
  name_objects(trace, data_names(nameless_objects(trace), symbols));
  if (subject.target.cgroup && !has_target(trace)) return Error{nobody_in(*subject.target.cgroup)};
  append(recorded.notes, symbols.warnings());
  append(recorded.notes, recorder.notes());
  if (options.counted && trace.calls.empty()) recorded.notes.push_back(nobody_called(*options.counted));
  append(recorded.notes, device_notes);
  recorded.command_status = end_command(subject, interruption, told_to_end, options.quiet, recorded.notes);
  OFFWAIT_TRY_STATUS(give_up(Remaining::analysis, subject, options));
  return recorded;
}

Result<Stored> record_to_file(const RecordingOptions& options, StoringOptions storing) {
  OFFWAIT_TRY(auto prepared, prepare(options));
  Subject& subject = prepared.subject;
  const Interruption interruption;
  Stored stored;
  Symbolizer symbols(options.debuginfod ? debuginfod(stored.notes) : DebugServer());
  RecordingWriter writer(std::move(storing.file), storing.name);
  FileParts parts(writer);
  const Takers takers{symbols, &parts};
  OFFWAIT_TRY(Recorder recorder, Recorder::start(prepared.capture));
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
  writer.start([&recorder](std::span<const std::uint32_t> ids) { return recorder.stacks(ids); },
               [&kernel_symbols](const std::vector<FrameAddress>& addresses) {
                 return kernel_names(addresses, kernel_symbols);
               });
  const Status ran = run_recording(subject, options, interruption, recorder, takers);
  Result<KernelRecording> stopped = stop(recorder, options, symbols);
  OFFWAIT_TRY_STATUS(writer.stop());
  OFFWAIT_TRY_STATUS(ran);
  OFFWAIT_TRY(KernelRecording kernel, std::move(stopped));
  OFFWAIT_TRY_STATUS(give_up(Remaining::naming, subject, options));
  const bool told_to_end = leave_target(recorder, subject, options, interruption, takers, stored.notes);

  RecordingPart last{std::move(kernel), true, parts.take_mappings()};
  OFFWAIT_TRY_STATUS(writer.write(last));
  last.kernel.records = {};
  std::vector<std::string> device_notes;
  OFFWAIT_TRY_STATUS(store_names(last.kernel, storing, symbols, writer, device_notes));
  if (subject.target.cgroup && !writer.references().has_target)
    stored.notes.push_back(nobody_in(*subject.target.cgroup));
  append(stored.notes, symbols.warnings());
  append(stored.notes, recorder.notes());
  if (options.counted && last.kernel.calls.empty()) stored.notes.push_back(nobody_called(*options.counted));
  append(stored.notes, device_notes);
  stored.waits = writer.waits();
  stored.bytes = writer.size();
  stored.window_ns = last.kernel.window.length();
  stored.command_status = end_command(subject, interruption, told_to_end, options.quiet, stored.notes);
  OFFWAIT_TRY_STATUS(give_up(Remaining::analysis, subject, options));
  return stored;
}

}  // namespace offwait
