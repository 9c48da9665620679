// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/record.h"

#include <memory>
#include <utility>

#include "session/file_sink.h"
#include "session/memory_sink.h"
#include "session/running_recording.h"

namespace offwait {

Result<Recorded> record(const RecordingOptions& options) {
  OFFWAIT_TRY(const std::unique_ptr<RunningRecording> running, RunningRecording::begin(options));
  MemorySink sink(running->source(), running->symbols(), running->subject().target, options);
  OFFWAIT_TRY(RecordingEnd end, running->record_into(sink));
  return Recorded{sink.take_trace(), std::move(end.notes), end.command_status, std::move(end.half_of_a_cpu)};
}

Result<Stored> record_to_file(const RecordingOptions& options, StoringOptions storing) {
  OFFWAIT_TRY(const std::unique_ptr<RunningRecording> running, RunningRecording::begin(options));
  FileSink sink(running->source(), running->symbols(), running->subject().target, options,
                std::move(storing));
  OFFWAIT_TRY(RecordingEnd end, running->record_into(sink));
  return Stored{std::move(end.notes), end.command_status, sink.waits(), sink.bytes(), sink.window_ns()};
}

}  // namespace offwait
