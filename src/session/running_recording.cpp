// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/running_recording.h"

#include <utility>

#include "base/escape.h"
#include "base/say.h"
#include "process/far_files.h"
#include "session/begin_recording.h"
#include "session/name_sources.h"
#include "session/progress_line.h"
#include "session/recording_loop.h"
#include "session/step_line.h"

namespace offwait {
namespace {

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

}  // namespace

RunningRecording::RunningRecording(const RecordingOptions& options)
    : options_(options), symbols_(options.debuginfod ? debuginfod(notes_) : DebugServer()) {}

Result<std::unique_ptr<RunningRecording>> RunningRecording::begin(const RecordingOptions& options) {
  OFFWAIT_TRY(std::optional<HeldCommand> command, hold_command(options));
  std::unique_ptr<RunningRecording> out(new RunningRecording(options));
  OFFWAIT_TRY(PreparedRecording prepared, prepare_recording(std::move(command), options));
  out->subject_.emplace(std::move(prepared.subject));
  const HalfOfACpu half_of_a_cpu(!out->priority_.was_lowered());
  OFFWAIT_TRY(Recorder recorder,
              begin_recording(prepared.capture, options, out->subject_->target, out->priority_));
  out->recorder_.emplace(std::move(recorder));
  out->interruption_.emplace();
  return out;
}

/// A command may write to the terminal itself.
bool RunningRecording::tells_progress(const Sink& sink) const {
  return sink.shows_progress() && !options_.quiet && !subject_->command;
}

/// Lets a command run, and records until the end.
Status RunningRecording::run(Sink& sink) {
  const std::string target = escape(subject_->target.label, Charset::utf8);
  const bool seen = tells_progress(sink) && is_seen_on_terminal(options_.quiet);
  // A script does not look at progress, but may want to know from when on nothing is missed.
  if (tells_progress(sink) && !seen) say("recording " + target);
  // Until its exec a command has the mappings of this process.
  note_mappings(*recorder_, symbols_, sink, subject_->command ? subject_->command->tgid() : 0);
  if (subject_->command) OFFWAIT_TRY_STATUS(subject_->command->release());
  ProgressLine progress(seen, target, options_.duration);
  return drain_until_end(*recorder_, sink, symbols_, subject_->target, options_.duration, interruption_->fd(),
                         [&] { progress.show(*recorder_); });
}

/// The line's thread is gone before more capabilities are given up, which belong to threads.
Status RunningRecording::finish(Sink& sink, KernelRecording rest, std::vector<std::string>& notes) {
  StepLine line(tells_progress(sink) && is_seen_on_terminal(options_.quiet));
  line.say("naming what was recorded");
  return sink.finish(std::move(rest), notes);
}

Result<RecordingEnd> RunningRecording::record_into(Sink& sink) {
  OFFWAIT_TRY_STATUS(sink.begin(about_recording(*subject_, options_)));
  OFFWAIT_TRY_STATUS(give_up(Remaining::recording, *subject_, options_));
  sink.start();
  const Status ran = run(sink);
  const bool interrupted = end_interruption(*interruption_);
  if (interrupted) sink.interrupted();
  if (!ran) {
    // The sink may know why.
    OFFWAIT_TRY_STATUS(sink.stop());
    return ran.error();
  }
  RecordingEnd end;
  end.half_of_a_cpu = std::make_unique<HalfOfACpu>(!priority_.was_lowered());
  Result<KernelRecording> stopped = stop(*recorder_, subject_->target, options_, symbols_);
  OFFWAIT_TRY_STATUS(sink.stop());
  if (!stopped) return stopped.error();
  OFFWAIT_TRY_STATUS(give_up(Remaining::naming, *subject_, options_));
  note_mappings(*recorder_, symbols_, sink);
  if (options_.java) ask_jvms(symbols_, notes_);
  const bool told_to_end = leave_target(*subject_, interrupted);

  std::vector<std::string> notes;
  const Status finished = finish(sink, std::move(*stopped), notes);
  append(notes_, symbols_.warnings());
  append(notes_, silent_file_systems());
  append(notes_, recorder_->notes());
  append(notes_, notes);
  end.command_status = end_command(*subject_, told_to_end, options_.quiet, notes_);
  OFFWAIT_TRY_STATUS(finished);
  OFFWAIT_TRY_STATUS(give_up(Remaining::analysis, *subject_, options_));
  end.notes = std::move(notes_);
  return end;
}

}  // namespace offwait
