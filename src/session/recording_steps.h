// SPDX-License-Identifier: GPL-2.0-or-later
// Single steps of a recording; running_recording.h has their order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "capture/privileges.h"
#include "capture/recorder.h"
#include "process/held_command.h"
#include "recording_file/named_recording.h"
#include "recording_file/recording_writer.h"
#include "session/interruption.h"
#include "session/recording_options.h"
#include "session/target.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// The target, and the held command if it is one.
struct Subject {
  std::optional<HeldCommand> command;
  Target target;
};

/// What is checked and found before the recording.
struct PreparedRecording {
  Subject subject;
  CaptureOptions capture;
};

/// The command of the options, if there is one. It is started before the priority is raised, which is not the
/// command's.
Result<std::optional<HeldCommand>> hold_command(const RecordingOptions& options);

Result<PreparedRecording> prepare_recording(std::optional<HeldCommand> command,
                                            const RecordingOptions& options);

/// What is known of a recording whose window began `ago` ns ago.
AboutRecording about_recording(const Subject& subject, const RecordingOptions& options, Nanos ago = 0);

Status give_up(Remaining remaining, const Subject& subject, const RecordingOptions& options);

/// Ends the recording, when all threads have exited if the target has.
Result<KernelRecording> stop(RecordingSource& source, Target& target, const RecordingOptions& options,
                             Symbolizer& symbols);

/// Asks the JVMs of the target for the names of the code that they have compiled.
void ask_jvms(const Symbolizer& symbols, std::vector<std::string>& notes);

/// To be called as soon as the recording is over, since what follows may take long: SIGINT and SIGTERM end
/// offwait from then on, and a hang-up ends nothing, because shells send a second one. If the recording has
/// ended by itself, the first SIGINT and the first SIGTERM end nothing either. Returns whether a signal has
/// ended the recording.
bool end_interruption(Interruption& interruption);

/// Tells a command to end. Whether the target was told to end (`interrupted`), or did not end at all.
bool leave_target(const Subject& subject, bool interrupted);

/// Waits for the end of the command, if there is one, and returns offwait's exit status for it.
std::optional<int> end_command(Subject& subject, bool told_to_end, bool quiet,
                               std::vector<std::string>& notes);

/// Adds names to a recording that a file has without them. Without `with_functions`, the file gets the build
/// ids of modules in place of the names of functions.
Status store_names(const KernelRecording& kernel, bool with_functions, Symbolizer& symbols,
                   RecordingWriter& writer, std::vector<std::string>& notes);

std::string nobody_in(const Cgroup& cgroup);
std::string nobody_called(const CountedFunction& counted);

}  // namespace offwait
