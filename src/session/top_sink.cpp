// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/top_sink.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/private_file.h"
#include "recording_file/recording_writer.h"
#include "sandbox/message.h"
#include "session/interruption.h"
#include "session/named_trace.h"
#include "session/stack_names.h"

namespace offwait {
namespace {

constexpr Nanos kSecondEvery = kSecond;
/// Reading what was counted takes this part of the time at most.
constexpr Nanos kCountedShare = 50;
constexpr int kLookMs = 100;

/// How the process ended that wrote a recording.
std::string said_of(const ForkedAnalysis::Done& saved) {
  return saved.bytes.empty() ? "the recording was not written: its process was ended" : saved.bytes;
}

}  // namespace

TopSink::TopSink(RecordingSource& source, Symbolizer& symbols, Priority& priority, const Subject& subject,
                 const RecordingOptions& options, TopOptions top, TopViewer& viewer)
    : source_(source),
      symbols_(symbols),
      priority_(priority),
      subject_(subject),
      options_(options),
      top_(std::move(top)),
      viewer_(viewer),
      begin_(monotonic_now() - source.elapsed()),
      flight_(begin_, {top_.length, options.max_memory}),
      seconds_(begin_),
      budget_(top_.most_overhead) {}

Status TopSink::begin(const AboutRecording& about) {
  about_ = about;
  symbols_.set_kernel_symbols(source_.kernel_symbols());
  next_ = begin_ + kSecondEvery;
  return viewer_.begin(about, begin_);
}

std::vector<int> TopSink::urgent_fds() const {
  std::vector<int> fds = viewer_.fds();
  fds.push_back(analysis_.fd());
  fds.push_back(saving_.fd());
  return fds;
}

Result<bool> TopSink::take() {
  look_at_processes();
  OFFWAIT_TRY_STATUS(take_if_due());
  OFFWAIT_TRY(const TopWishes wishes, viewer_.look());
  wishes_.add(wishes);
  source_.keep_stacks(analysis_.runs() || saving_.runs());
  return !wishes_.quit;
}

void TopSink::interrupted() {
  if (viewer_.ends_at_signals()) wishes_.quit = true;
}

std::optional<AnalysisBudget::Kind> TopSink::due() const {
  if (analysis_.runs()) return std::nullopt;
  return wishes_.answers ? std::optional(AnalysisBudget::Kind::answers) : budget_.due();
}

/// What begins, begins where a second ends: its analysis is of full seconds.
Status TopSink::take_if_due() {
  const Nanos now = monotonic_now();
  if (now < next_) return success();
  next_ = std::max(next_ + kSecondEvery, now + kSecondEvery / 2);
  if (now < next_counters_) return take(Taken::records);
  const std::optional<AnalysisBudget::Kind> kind = due();
  const bool saves = wishes_.save && !saving_.runs();
  OFFWAIT_TRY_STATUS(take(kind || saves ? Taken::tables : Taken::counters));
  forget();
  next_counters_ = now + kCountedShare * (monotonic_now() - now) - kSecondEvery;
  return success();
}

Status TopSink::take(Taken what) {
  OFFWAIT_TRY(KernelRecording taken, source_.take(what));
  const bool has_counters = what != Taken::records;
  std::optional<Second> second = seconds_.add(taken, has_counters);
  flight_.add(taken, has_counters);
  if (second) close_second(*std::move(second));
  if (what != Taken::tables) return success();
  OFFWAIT_TRY_STATUS(source_.add_requests(taken));
  // A process that cannot be made, as where memory is short, is no reason to end the recording.
  Status started = success();
  if (const std::optional<AnalysisBudget::Kind> kind = due()) started = start_analysis(*kind, taken);
  if (started.ok() && wishes_.save && !saving_.runs()) started = start_to_save(taken);
  if (!started.ok()) viewer_.say(started.error().message);
  return success();
}

void TopSink::close_second(Second second) {
  second.counts.analysis_cost = std::exchange(forks_cost_, 0);
  const SecondCounts& counts = second.counts;
  budget_.add(second.window.length(), counts.cpu_busy + counts.cpu_idle,
              counts.programs_cost + counts.recorder_cost, second.waits);
  viewer_.add(std::move(second));
}

void TopSink::forget() {
  const Exited exited = flight_.take_exited();
  source_.move_begin(flight_.window().begin, exited);
  symbols_.forget(exited.processes);
  for (const std::int32_t tgid : exited.processes) known_.forget(tgid);
}

void TopSink::note(const std::vector<AddressSpace>& changed) {
  for (const AddressSpace& space : changed) known_.forget(space.tgid);
}

void TopSink::take_analysis(const ForkedAnalysis::Done& done) {
  forks_cost_ += done.cpu_time;
  budget_.spent(kind_, done.cpu_time);
  MessageReader message(done.bytes);
  const std::string failure(message.text());
  const std::string_view analysis = message.text();
  const std::string_view names = message.text();
  const bool whole = !message.failed() && message.at_end() && known_.add(names).ok();
  if (!whole) viewer_.say("an analysis was ended before it was done; the recording goes on");
  if (!failure.empty()) viewer_.say(failure);
  viewer_.analysed(whole ? analysis : std::string_view(), kind_, analysed_);
}

void TopSink::look_at_processes() {
  if (const std::optional<ForkedAnalysis::Done> done = analysis_.look()) {
    take_analysis(*done);
  }
  if (const std::optional<ForkedAnalysis::Done> done = saving_.look()) {
    forks_cost_ += done->cpu_time;
    viewer_.say(said_of(*done));
  }
}

Status TopSink::start_analysis(AnalysisBudget::Kind kind, KernelRecording& tables) {
  wishes_.answers = false;
  const Window window = flight_.window();
  const Nanos length = budget_.length(kind);
  kind_ = kind;
  analysed_ = {std::max(window.begin, window.end - length), window.end};
  budget_.begins(kind);
  viewer_.begins(kind);
  return analysis_.start([&]() -> std::string {
    Result<Trace> trace = trace_of_last(length, std::move(tables));
    if (trace) {
      // What follows reads what the target wrote, and needs nothing of the host.
      if (Status left = give_up(Remaining::analysis, subject_, options_); !left) trace = left.error();
    }
    MessageWriter message;
    message.text(trace ? "" : trace.error().message);
    message.text(trace ? viewer_.analyse(std::move(trace).value(), kind) : std::string());
    message.text(known_.found());
    return std::move(message).take();
  });
}

Status TopSink::start_to_save(KernelRecording& tables) {
  wishes_.save = false;
  viewer_.say("the last part of the recording is being written");
  return saving_.start([&] { return save(std::move(tables)); });
}

Status TopSink::prepare_fork(KernelRecording& tables) {
  priority_.end();
  if (!stopped_) {
    OFFWAIT_TRY_STATUS(give_up(Remaining::naming, subject_, options_));
    complete(tables, flight_, source_);
  }
  return success();
}

Result<Trace> TopSink::trace_of_last(Nanos length, KernelRecording tables) {
  flight_.shorten(length);
  OFFWAIT_TRY_STATUS(prepare_fork(tables));
  NamedRecording recording;
  recording.about = about_;
  // A command that began before the window has no end that counts from its start.
  if (!flight_.is_whole()) recording.about.command = 0;
  recording.kernel = joined(flight_.take(std::move(tables)));
  std::vector<std::string> notes;
  return named_trace(std::move(recording), symbols_, notes, &known_);
}

std::string TopSink::save(KernelRecording tables) {
  constexpr double kMegabyte = 1e6;
  const std::string name = top_.file_name();
  const Window window = flight_.window();
  const Nanos length = window.length();
  std::string said;
  const auto write = [&]() -> Status {
    OFFWAIT_TRY(UniqueFd file, open_private(name));
    OFFWAIT_TRY_STATUS(prepare_fork(tables));
    RecordingWriter writer(std::move(file), name);
    AboutRecording about = about_recording(subject_, options_, monotonic_now() - window.begin);
    if (!flight_.is_whole()) about.command = 0;
    about.command_line = top_.command_line;
    OFFWAIT_TRY_STATUS(writer.begin(about));
    std::vector<RecordingPart> parts = flight_.take(std::move(tables));
    OFFWAIT_TRY_STATUS(write_parts(parts, writer));
    std::vector<std::string> notes;
    OFFWAIT_TRY_STATUS(store_names(parts.back().kernel, true, symbols_, writer, notes));
    said = fmt::format("{} has the last {:.0f} s with {} waits ({:.1f} MB)", name, to_seconds(length),
                       writer.waits(), static_cast<double>(writer.size()) / kMegabyte);
    return success();
  };
  const Status written = write();
  if (!written) ::unlink(name.c_str());
  return written ? said : written.error().message;
}

void TopSink::end_saving(std::vector<std::string>& notes) {
  while (saving_.runs()) {
    pollfd wait{saving_.fd(), POLLIN, 0};
    if (::poll(&wait, 1, kLookMs) < 0 && errno != EINTR) return;
    if (const std::optional<ForkedAnalysis::Done> done = saving_.look()) notes.push_back(said_of(*done));
  }
}

Status TopSink::finish(KernelRecording rest, std::vector<std::string>& notes) {
  analysis_.stop();
  stopped_ = true;
  if (wishes_.quit || !viewer_.stays()) {
    end_saving(notes);
    return success();
  }
  // Signals end it as they end the recording.
  const Interruption interruption;
  std::optional<Second> second = seconds_.add(rest, true);
  flight_.add(rest, true);
  // Rates of a small part of a second say little.
  if (second && second->window.length() >= kSecondEvery / 2) close_second(*std::move(second));
  viewer_.ended();
  // The last seconds are analysed, unless there are hardly any.
  wishes_.answers = true;
  while (!wishes_.quit) {
    if (wishes_.answers && !analysis_.runs())
      OFFWAIT_TRY_STATUS(start_analysis(AnalysisBudget::Kind::answers, rest));
    if (wishes_.save && !saving_.runs()) OFFWAIT_TRY_STATUS(start_to_save(rest));
    OFFWAIT_TRY(const TopWishes wishes, viewer_.look());
    wishes_.add(wishes);
    std::vector<pollfd> waits = {{interruption.fd(), POLLIN, 0}};
    for (const int fd : urgent_fds()) waits.push_back({fd, POLLIN, 0});
    if (!wishes_.quit && ::poll(waits.data(), waits.size(), kLookMs) < 0 && errno != EINTR) break;
    if (waits[0].revents != 0) break;
    look_at_processes();
  }
  analysis_.stop();
  end_saving(notes);
  return success();
}

}  // namespace offwait
