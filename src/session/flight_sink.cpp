// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/flight_sink.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/say.h"
#include "recording_file/recording_writer.h"
#include "session/stack_names.h"

namespace offwait {
namespace {

constexpr Nanos kPartEvery = kSecond;
/// Reading what was counted takes this part of the time at most.
constexpr Nanos kCountersShare = 50;

}  // namespace

FlightSink::FlightSink(RecordingSource& source, Symbolizer& symbols, Priority& priority,
                       const Subject& subject, const RecordingOptions& options, FlightOptions flight,
                       FlightFiles files)
    : source_(source),
      symbols_(symbols),
      priority_(priority),
      subject_(subject),
      options_(options),
      flight_options_(std::move(flight)),
      files_(std::move(files)),
      begin_(monotonic_now() - source.elapsed()),
      flight_(begin_, {flight_options_.length, options.max_memory}),
      triggers_(flight_options_.triggers, begin_) {}

Status FlightSink::begin(const AboutRecording& /*about*/) {
  symbols_.set_kernel_symbols(source_.kernel_symbols());
  return success();
}

void FlightSink::start() {
  if (options_.quiet) return;
  say(fmt::format("recording {}; kill -USR1 {} writes the last {:g} s", subject_.target.label, ::getpid(),
                  to_seconds(flight_options_.length)));
}

void FlightSink::note(const std::vector<AddressSpace>& changed) {
  if (!flight_options_.symbols) flight_.add_mappings(changed);
}

Result<bool> FlightSink::take() {
  OFFWAIT_TRY_STATUS(take_if_due());
  if (asked_.take()) is_asked_ = true;
  writer_.look();
  write_if_asked();
  source_.keep_stacks(writer_.runs());
  return true;
}

Result<KernelRecording> FlightSink::take(Taken what) {
  OFFWAIT_TRY(KernelRecording taken, source_.take(what));
  triggers_.add(taken.records);
  const bool has_counters = what != Taken::records;
  flight_.add(taken, has_counters);
  return taken;
}

Status FlightSink::take_if_due() {
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

void FlightSink::forget() {
  const Exited exited = flight_.take_exited();
  source_.move_begin(flight_.window().begin, exited);
  symbols_.forget(exited.processes);
}

void FlightSink::write_if_asked() {
  if (writer_.runs()) return;
  if (std::exchange(is_asked_, false)) return start_to_write({"usr1", "SIGUSR1"});
  const FlightTrigger* const fired = std::exchange(fired_, nullptr);
  if (fired == nullptr) return;
  last_triggered_ = monotonic_now();
  start_to_write({fired->text.substr(0, fired->text.find('>')), fired->text});
}

void FlightSink::start_to_write(const Reason& reason) {
  const auto start = [&]() -> Status {
    OFFWAIT_TRY(KernelRecording tables, take(Taken::tables));
    OFFWAIT_TRY_STATUS(source_.add_requests(tables));
    return writer_.start([&] {
      priority_.end();
      Status written = give_up(Remaining::naming, subject_, options_);
      if (written) {
        std::vector<std::string> notes;
        if (options_.java) ask_jvms(symbols_, notes);
        complete(tables, flight_, source_);
        written = write(reason, std::move(tables), notes);
      }
      if (!written) say(written.error().message + "; the recording goes on");
      return written.ok();
    });
  };
  if (const Status started = start(); !started) say(started.error().message + "; the recording goes on");
}

AboutRecording FlightSink::about(const Reason& reason) const {
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
std::string FlightSink::written_text(const FlightFiles::Part& part, const RecordingWriter& writer,
                                     Window window, bool is_cut, const Reason& reason) const {
  constexpr double kMegabyte = 1e6;
  return fmt::format("{} has the last {:.1f} s{} with {} waits ({:.1f} MB), because of {}", part.path,
                     to_seconds(window.length()), is_cut ? " (more does not fit into --max-memory)" : "",
                     writer.waits(), static_cast<double>(writer.size()) / kMegabyte, reason.label);
}

Status FlightSink::write(const Reason& reason, KernelRecording tables, std::vector<std::string>& notes) {
  OFFWAIT_TRY(FlightFiles::Part part, files_.begin(reason.word));
  RecordingWriter writer(std::move(part.file), part.path);
  const auto write_all = [&]() -> Status {
    const bool is_cut = flight_.is_cut();
    OFFWAIT_TRY_STATUS(writer.begin(about(reason)));
    if (!flight_options_.symbols)
      writer.read_with({}, [this](const auto& addresses) { return name_addresses(addresses, symbols_); });
    std::vector<RecordingPart> parts = flight_.take(std::move(tables));
    OFFWAIT_TRY_STATUS(write_parts(parts, writer));
    const KernelRecording& kernel = parts.back().kernel;
    OFFWAIT_TRY_STATUS(store_names(kernel, flight_options_.symbols, symbols_, writer, notes));
    OFFWAIT_TRY_STATUS(files_.finish(part));
    if (!options_.quiet) say(written_text(part, writer, kernel.window, is_cut, reason));
    return success();
  };
  Status written = write_all();
  if (!written) files_.discard(part);
  return written;
}

Status FlightSink::finish(KernelRecording rest, std::vector<std::string>& notes) {
  writer_.finish();
  flight_.add(rest, true);
  std::set<std::uint32_t> needed = flight_.stacks();
  for (const auto& [tid, thread] : rest.threads) {
    for (const std::uint32_t id : stacks_of(thread)) needed.insert(id);
  }
  for (const auto& [wait, thread] : rest.blocked) needed.insert(thread.wait_user);
  std::erase_if(rest.stacks, [&needed](const auto& stack) { return !needed.contains(stack.first); });
  return write({"end", "end"}, std::move(rest), notes);
}

}  // namespace offwait
