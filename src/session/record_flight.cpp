// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/record_flight.h"

#include <memory>
#include <utility>

#include "session/flight_sink.h"
#include "session/running_recording.h"

namespace offwait {

Result<Flown> record_flight(const RecordingOptions& options, FlightOptions flight, FlightFiles files) {
  OFFWAIT_TRY(const std::unique_ptr<RunningRecording> running, RunningRecording::begin(options));
  FlightSink sink(running->source(), running->symbols(), running->priority(), running->subject(), options,
                  std::move(flight), std::move(files));
  OFFWAIT_TRY(RecordingEnd end, running->record_into(sink));
  return Flown{std::move(end.notes), end.command_status};
}

}  // namespace offwait
