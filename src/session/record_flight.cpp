// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/record_flight.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/say.h"
#include "base/unique_fd.h"
#include "process/far_files.h"
#include "process/priority.h"
#include "recording_file/recording_writer.h"
#include "session/begin_recording.h"
#include "session/flight.h"
#include "session/interruption.h"
#include "session/name_sources.h"
#include "session/recording_steps.h"
#include "session/stack_names.h"

namespace offwait {
namespace {

constexpr Nanos kPartEvery = kSecond;
/// Reading what was counted takes this part of the time at most.
constexpr Nanos kCountersShare = 50;

/// Why a file is written.
struct Reason {
  std::string word;   ///< in the file's name
  std::string label;  ///< of the label `trigger`
};

/// A process that writes a file while this one records.
class Writer {
 public:
  bool runs() const { return child_ > 0; }
  int fd() const { return process_.get(); }

  /// Runs `write` in a process of its own; it returns whether it succeeded.
  Status start(const std::function<bool()>& write) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return Error{fmt::format("cannot start a process that writes: {}", std::strerror(errno))};
    if (child == 0) {
      // The BPF programs are attached for as long as a process has them.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(::getppid() == parent && write() ? 0 : 1);
    }
    child_ = child;
    process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    return success();
  }

  /// Waits for the end. The process itself says if the file cannot be written, unless it is killed.
  void finish() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
      say(fmt::format("a file was not written: signal {} ended the process that wrote it", WTERMSIG(status)));
    child_ = -1;
    process_ = UniqueFd();
  }

 private:
  pid_t child_ = -1;
  UniqueFd process_;
};

/// Everything that a flight recorder has while it records.
class FlightRecorder {
 public:
  FlightRecorder(const RecordingOptions& options, FlightOptions flight, FlightFiles files,
                 PreparedRecording& prepared, Recorder& recorder, Priority& priority, Symbolizer& symbols)
      : options_(options),
        flight_options_(std::move(flight)),
        files_(std::move(files)),
        subject_(prepared.subject),
        recorder_(recorder),
        priority_(priority),
        symbols_(symbols),
        begin_(monotonic_now() - recorder.elapsed()),
        flight_(begin_, {flight_options_.length, options.max_memory}),
        triggers_(flight_options_.triggers, begin_) {}

  /// Records until the end, but does not write the last file.
  Status run(const Interruption& interruption, const Interruption& asked);
  /// Writes the last file. The recorder has stopped.
  Status finish(KernelRecording stopped, std::vector<std::string>& notes);

 private:
  void note_mappings(std::int32_t left_out = 0);
  Status take_if_due();
  Result<KernelRecording> take(Taken what);
  void forget();
  void write_if_asked();
  /// Starts to write a file, or says why that is not possible.
  void start_to_write(const Reason& reason);
  Status write(const Reason& reason, KernelRecording tables, Symbolizer& symbols,
               std::vector<std::string>& notes);
  AboutRecording about(const Reason& reason) const;
  std::string written_text(const FlightFiles::Part& part, const RecordingWriter& writer, Window window,
                           bool is_cut, const Reason& reason) const;

  const RecordingOptions& options_;
  FlightOptions flight_options_;
  FlightFiles files_;
  Subject& subject_;
  Recorder& recorder_;
  Priority& priority_;
  Symbolizer& symbols_;
  const Nanos begin_;
  Flight flight_;
  FlightTriggers triggers_;
  Writer writer_;
  bool asked_ = false;                     ///< by SIGUSR1
  const FlightTrigger* fired_ = nullptr;   ///< in the last part
  std::optional<Nanos> last_triggered_{};  ///< when a trigger last wrote a file
  Nanos next_ = 0;
  Nanos next_counters_ = 0;
};

void FlightRecorder::note_mappings(std::int32_t left_out) {
  // A file without names of functions has the mappings instead.
  const bool needed = !flight_options_.symbols;
  const auto copies = needed ? AddressSpaces::Copies::with_mappings : AddressSpaces::Copies::named;
  const std::vector<AddressSpace> changed = take_mappings(recorder_, symbols_, copies, left_out);
  if (needed) flight_.add_mappings(changed);
}

Result<KernelRecording> FlightRecorder::take(Taken what) {
  OFFWAIT_TRY(KernelRecording taken, recorder_.take(what));
  triggers_.add(taken.records);
  const bool has_counters = what != Taken::records;
  flight_.add(taken, has_counters);
  return taken;
}

Status FlightRecorder::take_if_due() {
  const Nanos now = monotonic_now();
  if (now < next_) return success();
  next_ = now + kPartEvery;
  const bool counters = now >= next_counters_;
  OFFWAIT_TRY(const KernelRecording taken, take(counters ? Taken::counters : Taken::records));
  if (!counters) return success();
  const bool may_fire =
      !writer_.runs() && (!last_triggered_ || now - *last_triggered_ >= flight_options_.cooldown);
  fired_ = triggers_.check(taken, may_fire);
  forget();
  next_counters_ = now + std::max(kPartEvery, kCountersShare * (monotonic_now() - now));
  return success();
}

void FlightRecorder::forget() {
  const Exited exited = flight_.take_exited();
  recorder_.move_begin(flight_.window().begin, exited);
  symbols_.forget(exited.processes);
}

void FlightRecorder::write_if_asked() {
  if (writer_.runs()) return;
  if (std::exchange(asked_, false)) return start_to_write({"usr1", "SIGUSR1"});
  const FlightTrigger* const fired = std::exchange(fired_, nullptr);
  if (fired == nullptr) return;
  last_triggered_ = monotonic_now();
  start_to_write({fired->text.substr(0, fired->text.find('>')), fired->text});
}

void FlightRecorder::start_to_write(const Reason& reason) {
  const auto start = [&]() -> Status {
    OFFWAIT_TRY(KernelRecording tables, take(Taken::tables));
    OFFWAIT_TRY_STATUS(recorder_.add_requests(tables));
    return writer_.start([&] {
      priority_.end();
      Status written = give_up(Remaining::naming, subject_, options_);
      if (written) {
        std::vector<std::string> notes;
        if (options_.java) ask_jvms(symbols_, notes);
        tables.stacks.clear();
        const std::set<std::uint32_t> ids = flight_.stacks();
        for (auto& [id, stack] : recorder_.stacks(std::vector(ids.begin(), ids.end())))
          tables.stacks.emplace(id, stack);
        recorder_.complete(tables);
        written = write(reason, std::move(tables), symbols_, notes);
      }
      if (!written) say(written.error().message + "; the recording goes on");
      return written.ok();
    });
  };
  if (const Status started = start(); !started) say(started.error().message + "; the recording goes on");
}

AboutRecording FlightRecorder::about(const Reason& reason) const {
  AboutRecording about = about_recording(subject_, options_, flight_.window().length());
  // A command that began before the window has no end that counts from its start.
  if (!flight_.is_whole()) about.command = 0;
  about.command_line = flight_options_.command_line;
  about.labels = flight_options_.labels;
  about.labels.push_back({"trigger", reason.label});
  if (flight_.is_cut()) about.labels.push_back({"cut", "--max-memory"});
  return about;
}

/// `FILE has the last 60.0 s with 1234567 waits (12.3 MB), because of wait>500ms`
std::string FlightRecorder::written_text(const FlightFiles::Part& part, const RecordingWriter& writer,
                                         Window window, bool is_cut, const Reason& reason) const {
  constexpr double kMegabyte = 1e6;
  return fmt::format("{} has the last {:.1f} s{} with {} waits ({:.1f} MB), because of {}", part.path,
                     to_seconds(window.length()), is_cut ? " (more does not fit into --max-memory)" : "",
                     writer.waits(), static_cast<double>(writer.size()) / kMegabyte, reason.label);
}

Status FlightRecorder::write(const Reason& reason, KernelRecording tables, Symbolizer& symbols,
                             std::vector<std::string>& notes) {
  OFFWAIT_TRY(FlightFiles::Part part, files_.begin(reason.word));
  RecordingWriter writer(std::move(part.file), part.path);
  const auto write_all = [&]() -> Status {
    const bool is_cut = flight_.is_cut();
    OFFWAIT_TRY_STATUS(writer.begin(about(reason)));
    if (!flight_options_.symbols)
      writer.read_with({}, [&symbols](const auto& addresses) { return name_addresses(addresses, symbols); });
    std::vector<RecordingPart> parts = flight_.take(std::move(tables));
    for (RecordingPart& one : parts) {
      OFFWAIT_TRY_STATUS(writer.write(one));
      one.kernel.records = {};
    }
    const KernelRecording& kernel = parts.back().kernel;
    OFFWAIT_TRY_STATUS(store_names(kernel, flight_options_.symbols, symbols, writer, notes));
    OFFWAIT_TRY_STATUS(files_.finish(part));
    if (!options_.quiet) say(written_text(part, writer, kernel.window, is_cut, reason));
    return success();
  };
  Status written = write_all();
  if (!written) files_.discard(part);
  return written;
}

Status FlightRecorder::run(const Interruption& interruption, const Interruption& asked) {
  // Until its exec a command has the mappings of this process.
  note_mappings(subject_.command ? subject_.command->tgid() : 0);
  if (subject_.command) OFFWAIT_TRY_STATUS(subject_.command->release());
  Target& target = subject_.target;
  while (goes_on(target)) {
    const std::optional<int> timeout_ms = time_to_drain(recorder_, options_.duration);
    if (!timeout_ms) break;
    std::vector<pollfd> waits = {{interruption.fd(), POLLIN, 0},
                                 {asked.fd(), POLLIN, 0},
                                 {recorder_.urgent_fd(), POLLIN, 0},
                                 {writer_.fd(), POLLIN, 0}};
    for (const UniqueFd& process : target.living) waits.push_back({process.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), *timeout_ms) < 0 && errno != EINTR)
      return Error{std::string("cannot wait for the recording to end: ") + std::strerror(errno)};
    recorder_.keep_stacks(writer_.runs());
    OFFWAIT_TRY_STATUS(recorder_.drain());
    note_mappings();
    if (flight_options_.symbols) symbols_.read_ahead(monotonic_now());
    OFFWAIT_TRY_STATUS(take_if_due());
    if (asked.take()) asked_ = true;
    if (waits[3].revents != 0) writer_.finish();
    write_if_asked();
    if (waits[0].revents != 0) break;
  }
  return success();
}

Status FlightRecorder::finish(KernelRecording stopped, std::vector<std::string>& notes) {
  if (writer_.runs()) writer_.finish();
  note_mappings();
  flight_.add(stopped, true);
  std::set<std::uint32_t> needed = flight_.stacks();
  for (const auto& [tid, thread] : stopped.threads) {
    for (const std::uint32_t id : stacks_of(thread)) needed.insert(id);
  }
  for (const auto& [wait, thread] : stopped.blocked) needed.insert(thread.wait_user);
  std::erase_if(stopped.stacks, [&needed](const auto& stack) { return !needed.contains(stack.first); });
  return write({"end", "end"}, std::move(stopped), symbols_, notes);
}

void tell_of_begin(const RecordingOptions& options, const FlightOptions& flight, const Target& target) {
  if (options.quiet) return;
  say(fmt::format("recording {}; kill -USR1 {} writes the last {:g} s", target.label, ::getpid(),
                  to_seconds(flight.length)));
}

}  // namespace

Result<Flown> record_flight(const RecordingOptions& options, FlightOptions flight, FlightFiles files) {
  OFFWAIT_TRY(std::optional<HeldCommand> command, hold_command(options));
  Priority priority;
  OFFWAIT_TRY(auto prepared, prepare_recording(std::move(command), options));
  Subject& subject = prepared.subject;
  Flown flown;
  Symbolizer symbols(options.debuginfod ? debuginfod(flown.notes) : DebugServer());
  OFFWAIT_TRY(Recorder recorder, begin_recording(prepared.capture, options, subject.target, priority));
  Interruption interruption;
  const Interruption asked({SIGUSR1});
  symbols.set_kernel_symbols(recorder.kernel_symbols());
  OFFWAIT_TRY_STATUS(give_up(Remaining::recording, subject, options));
  tell_of_begin(options, flight, subject.target);
  FlightRecorder recording(options, std::move(flight), std::move(files), prepared, recorder, priority,
                           symbols);
  OFFWAIT_TRY_STATUS(recording.run(interruption, asked));
  const bool interrupted = end_interruption(interruption);

  OFFWAIT_TRY(KernelRecording stopped, stop(recorder, subject.target, options, symbols));
  OFFWAIT_TRY_STATUS(give_up(Remaining::naming, subject, options));
  if (options.java) ask_jvms(symbols, flown.notes);
  const bool told_to_end = leave_target(subject, interrupted);
  const Status written = recording.finish(std::move(stopped), flown.notes);
  for (const std::vector<std::string>& more : {symbols.warnings(), silent_file_systems(), recorder.notes()}) {
    flown.notes.insert(flown.notes.end(), more.begin(), more.end());
  }
  flown.command_status = end_command(subject, told_to_end, options.quiet, flown.notes);
  OFFWAIT_TRY_STATUS(written);
  OFFWAIT_TRY_STATUS(give_up(Remaining::analysis, subject, options));
  return flown;
}

}  // namespace offwait
