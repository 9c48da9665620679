// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/record.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/escape.h"
#include "capture/privileges.h"
#include "capture/recorder.h"
#include "event/assemble.h"
#include "event/first_run.h"
#include "process/held_command.h"
#include "session/command_end.h"
#include "session/host_capacities.h"
#include "session/interruption.h"
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

/// Gives the symbolizer the mappings of all processes but `left_out`, so that it opens the files.
void note_mappings(Recorder& recorder, Symbolizer& symbols, std::int32_t left_out = 0) {
  for (const AddressSpace& space : recorder.take_mappings()) {
    if (space.tgid != left_out) symbols.note_mappings(space);
  }
}

/// Drains until the duration is over, the target is gone, or a signal arrives.
Status drain_until_end(Recorder& recorder, Target& target, std::optional<Nanos> duration,
                       const Interruption& interruption, Symbolizer& symbols, ProgressLine& progress) {
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
    note_mappings(recorder, symbols);
    progress.show(recorder);
    if (waits[0].revents != 0) break;
  }
  return success();
}

/// Lets a command run, and drains the recorder until the end.
Status run_recording(Subject& subject, const RecordingOptions& options, const Interruption& interruption,
                     Recorder& recorder, Symbolizer& symbols) {
  const std::string target = escape(subject.target.label, Charset::utf8);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const bool quiet = options.quiet || subject.command.has_value();
  // A script does not look at progress, but may want to know from when on nothing is missed.
  if (!quiet && !terminal) fmt::print(stderr, "offwait: recording {}\n", target);
  // Until its exec a command has the mappings of this process.
  note_mappings(recorder, symbols, subject.command ? subject.command->tgid() : 0);
  if (subject.command) OFFWAIT_TRY_STATUS(subject.command->release());
  ProgressLine progress(!quiet && terminal, target, options.duration);
  return drain_until_end(recorder, subject.target, options.duration, interruption, symbols, progress);
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

/// Makes the trace of a recording, with names. Frees the recording's stacks, of 1 KiB each, once they have
/// names.
Result<Trace> make_trace(KernelRecording& recording, Symbolizer& symbols, const Target& target,
                         std::vector<std::string>& notes) {
  const NamedStacks stacks = name_stacks(recording, symbols);
  recording.stacks.clear();
  Trace trace = assemble(recording, stacks);
  name_objects(trace, symbols);
  if (target.cgroup && !has_target(trace))
    return Error{
        fmt::format("no process was in the cgroup {} while it was recorded: there is nothing to analyse",
                    target.cgroup->name)};
  append(notes, symbols.warnings());
  return trace;
}

void describe(Trace& trace, const Target& target, std::string start_time, const std::string& version) {
  utsname host{};
  ::uname(&host);
  trace.recording.target = target.label;
  trace.recording.start_time = std::move(start_time);
  trace.recording.kernel = host.release;
  trace.recording.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  trace.recording.offwait = version;
}

Commands commands_to_run(const RecordingOptions& options) {
  if (options.java) return Commands::as_any_user;
  return options.debuginfod ? Commands::as_own_user : Commands::none;
}

}  // namespace

Result<Recorded> record(const RecordingOptions& options) {
  OFFWAIT_TRY_STATUS(check_name_sources(options.java, options.debuginfod));
  OFFWAIT_TRY(Subject subject, find_subject(options.target));
  std::optional<HeldCommand>& command = subject.command;
  Target& target = subject.target;
  OFFWAIT_TRY_STATUS(check_given(options.given_capacities));
  OFFWAIT_TRY(const CaptureOptions capture, capture_options(subject, options));
  if (!options.quiet && !command) warn_of_patterns(options, target);

  const Commands commands = commands_to_run(options);
  const auto give_up = [&](Remaining remaining) {
    return give_up_privileges(remaining, commands, command.has_value());
  };
  const Interruption interruption;
  Recorded recorded;
  Symbolizer symbols(options.debuginfod ? debuginfod(recorded.notes) : DebugServer());
  OFFWAIT_TRY(Recorder recorder, Recorder::start(capture));
  std::string start_time = utc_now();
  OFFWAIT_TRY_STATUS(give_up(Remaining::recording));

  OFFWAIT_TRY_STATUS(run_recording(subject, options, interruption, recorder, symbols));
  OFFWAIT_TRY(KernelRecording recording, recorder.stop());
  if (std::string text = recorder.kernel_symbols(); !text.empty())
    symbols.set_kernel_symbols(std::move(text));
  OFFWAIT_TRY_STATUS(give_up(Remaining::naming));
  // Before its release the command only waited for this process, so the window begins later.
  if (command) recording.window.begin = first_run(recording, command->tgid());
  note_mappings(recorder, symbols);

  if (options.java) ask_jvms(symbols, recorded.notes);
  const bool told_to_end = interruption.take() || !target.living.empty();
  if (command && !target.living.empty()) command->send(SIGTERM);
  if (options.counted) recording.counted_function = options.counted->name;
  OFFWAIT_TRY(recorded.trace, make_trace(recording, symbols, target, recorded.notes));
  describe(recorded.trace, target, std::move(start_time), options.recorder_version);
  if (command) recorded.trace.recording.command = command->tgid();
  append(recorded.notes, recorder.notes());
  if (options.counted && recorded.trace.calls.empty())
    recorded.notes.push_back(
        fmt::format("--progress-at: nobody called {} in the recording, so its calls do not count",
                    options.counted->name));
  append(recorded.notes, add_host_capacities(recording.disks, recorded.trace));
  if (command) {
    const int status = await_end(*command, interruption, options.quiet);
    recorded.command_status = exit_status_of(status, told_to_end);
    if (std::optional<std::string> death = death_of(status, told_to_end))
      recorded.notes.push_back(std::move(*death));
  }
  OFFWAIT_TRY_STATUS(give_up(Remaining::analysis));
  return recorded;
}

}  // namespace offwait
