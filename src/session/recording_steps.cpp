// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/recording_steps.h"

#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/nameless_file.h"
#include "base/say.h"
#include "base/utc_time.h"
#include "session/command_end.h"
#include "session/host_capacities.h"
#include "session/name_sources.h"
#include "session/object_names.h"
#include "session/probes.h"
#include "session/stack_names.h"

namespace offwait {
namespace {

Result<Subject> find_subject(std::optional<HeldCommand> command, const TargetOptions& options) {
  Subject subject;
  if (!command) {
    OFFWAIT_TRY(subject.target, find_target(options));
    return subject;
  }
  subject.command.emplace(*std::move(command));
  OFFWAIT_TRY(subject.target, find_command(*subject.command, options.command_line.front()));
  return subject;
}

/// A pattern that matches no thread is not an error yet, because threads may start later.
void warn_of_patterns(const RecordingOptions& options, const Target& target) {
  const std::vector<Actor> threads = threads_of(target);
  for (const Status& matched :
       {check_filter(threads, options.filter), check_progress_threads(threads, options.progress_threads)}) {
    if (!matched) say(matched.error().message + "; recording in case one starts");
  }
}

Result<CaptureOptions> capture_options(const Subject& subject, const RecordingOptions& options) {
  const Target& target = subject.target;
  CaptureOptions capture;
  capture.stacks = options.stacks;
  capture.sample_hz = options.sample_hz;
  capture.most_overhead = options.max_overhead;
  capture.memory_bytes = options.max_memory;
  capture.overflow_directory = overflow_directory();
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

Commands commands_to_run(const RecordingOptions& options) {
  if (options.java) return Commands::as_any_user;
  return options.debuginfod ? Commands::as_own_user : Commands::none;
}

}  // namespace

AboutRecording about_recording(const Subject& subject, const RecordingOptions& options, Nanos ago) {
  utsname host{};
  ::uname(&host);
  AboutRecording about;
  about.target = subject.target.label;
  about.start_time = utc_text(wall_clock_now() - ago);
  about.kernel = host.release;
  about.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  about.offwait = options.recorder_version;
  about.host = host.nodename;
  about.architecture = host.machine;
  if (subject.command) about.command = subject.command->tgid();
  if (options.counted) about.counted_function = options.counted->name;
  return about;
}

Result<std::optional<HeldCommand>> hold_command(const RecordingOptions& options) {
  OFFWAIT_TRY_STATUS(check_name_sources(options.java, options.debuginfod));
  std::optional<HeldCommand> command;
  if (options.target.command_line.empty()) return command;
  OFFWAIT_TRY(HeldCommand held, HeldCommand::start(options.target.command_line));
  command.emplace(std::move(held));
  return command;
}

Result<PreparedRecording> prepare_recording(std::optional<HeldCommand> command,
                                            const RecordingOptions& options) {
  OFFWAIT_TRY_STATUS(check_namespaces());
  OFFWAIT_TRY(Subject subject, find_subject(std::move(command), options.target));
  OFFWAIT_TRY_STATUS(check_given(options.given_capacities));
  OFFWAIT_TRY(CaptureOptions capture, capture_options(subject, options));
  if (!options.quiet && !subject.command) warn_of_patterns(options, subject.target);
  return PreparedRecording{std::move(subject), std::move(capture)};
}

Status give_up(Remaining remaining, const Subject& subject, const RecordingOptions& options) {
  return give_up_privileges(remaining, commands_to_run(options), subject.command.has_value());
}

Result<KernelRecording> stop(RecordingSource& source, Target& target, const RecordingOptions& options,
                             Symbolizer& symbols) {
  if (!goes_on(target)) OFFWAIT_TRY_STATUS(source.await_last_exits(target.tgids));
  OFFWAIT_TRY(KernelRecording recording, source.stop());
  if (options.counted) recording.counted_function = options.counted->name;
  if (std::string text = source.kernel_symbols(); !text.empty()) symbols.set_kernel_symbols(std::move(text));
  return recording;
}

void ask_jvms(const Symbolizer& symbols, std::vector<std::string>& notes) {
  for (const std::int32_t tgid : symbols.java_processes()) {
    if (const Status written = write_java_perf_map(tgid); !written) notes.push_back(written.error().message);
  }
}

bool end_interruption(Interruption& interruption) {
  // To ignore a signal drops one that is pending.
  const bool before = interruption.take();
  ::signal(SIGHUP, SIG_IGN);
  const bool any = interruption.take() || before;
  if (!any) {
    // The recording has ended by itself. A user who presses Ctrl-C just then wants the report of it.
    struct sigaction once {};
    once.sa_handler = [](int) {};
    once.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &once, nullptr);
  }
  return interruption.end() || any;
}

bool leave_target(const Subject& subject, bool interrupted) {
  const bool told_to_end = interrupted || !subject.target.living.empty();
  if (subject.command && !subject.target.living.empty()) subject.command->send(SIGTERM);
  return told_to_end;
}

std::string nobody_in(const Cgroup& cgroup) {
  return fmt::format("no process was in the cgroup {} while it was recorded: there is nothing to analyse",
                     cgroup.name);
}

std::optional<int> end_command(Subject& subject, bool told_to_end, bool quiet,
                               std::vector<std::string>& notes) {
  if (!subject.command) return std::nullopt;
  const int status = await_end(*subject.command, Interruption(), quiet);
  if (std::optional<std::string> death = death_of(status, told_to_end)) notes.push_back(*std::move(death));
  return exit_status_of(status, told_to_end);
}

std::string nobody_called(const CountedFunction& counted) {
  return fmt::format("--progress-at: nobody called {} in the recording, so its calls do not count",
                     counted.name);
}

Status store_names(const KernelRecording& kernel, bool with_functions, Symbolizer& symbols,
                   RecordingWriter& writer, std::vector<std::string>& notes) {
  const RecordReferences& references = writer.references();
  const KnownDevices devices = known_devices(kernel, notes);
  std::vector<DataAddress> locks;
  for (const auto& [tgid, address] : references.locks.places()) {
    if (with_functions || tgid == 0) locks.push_back({tgid, address});
  }
  if (with_functions)
    return writer.finish(name_stacks(kernel.stacks, references.in_records, symbols),
                         data_names(locks, symbols), devices);
  writer.add_build_ids(symbols.build_ids());
  return writer.finish({}, data_names(locks, symbols), devices);
}

}  // namespace offwait
