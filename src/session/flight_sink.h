// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "capture/recording_source.h"
#include "process/priority.h"
#include "session/flight.h"
#include "session/flight_files.h"
#include "session/flight_triggers.h"
#include "session/forked_writer.h"
#include "session/interruption.h"
#include "session/record_flight.h"
#include "session/recording_options.h"
#include "session/recording_steps.h"
#include "session/sink.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// Keeps the last part of a recording, and writes it to a file when asked for it (record_flight()).
class FlightSink final : public Sink {
 public:
  /// The references outlive it. `priority` is that of this thread; a process that writes gives it up.
  FlightSink(RecordingSource& source, Symbolizer& symbols, Priority& priority, const Subject& subject,
             const RecordingOptions& options, FlightOptions flight, FlightFiles files);

  bool names_functions() const override { return flight_options_.symbols; }
  /// A file without names of functions has the mappings instead.
  AddressSpaces::Copies copies() const override {
    return flight_options_.symbols ? AddressSpaces::Copies::named : AddressSpaces::Copies::with_mappings;
  }
  bool shows_progress() const override { return false; }
  Status begin(const AboutRecording& about) override;
  void start() override;
  std::vector<int> urgent_fds() const override { return {asked_.fd(), writer_.fd()}; }
  void note(const std::vector<AddressSpace>& changed) override;
  Result<bool> take() override;
  /// Writes the last file.
  Status finish(KernelRecording rest, std::vector<std::string>& notes) override;

 private:
  /// Why a file is written.
  struct Reason {
    std::string word;   ///< in the file's name
    std::string label;  ///< of the label `trigger`
  };

  Status take_if_due();
  Result<KernelRecording> take(Taken what);
  void forget();
  void write_if_asked();
  /// Starts to write a file, or says why that is not possible.
  void start_to_write(const Reason& reason);
  Status write(const Reason& reason, KernelRecording tables, std::vector<std::string>& notes);
  AboutRecording about(const Reason& reason) const;
  std::string written_text(const FlightFiles::Part& part, const RecordingWriter& writer, Window window,
                           bool is_cut, const Reason& reason) const;

  RecordingSource& source_;
  Symbolizer& symbols_;
  Priority& priority_;
  const Subject& subject_;
  const RecordingOptions& options_;
  FlightOptions flight_options_;
  FlightFiles files_;
  const Nanos begin_;
  Flight flight_;
  FlightTriggers triggers_;
  ForkedWriter writer_;
  const Interruption asked_{SIGUSR1};  ///< for a file
  bool is_asked_ = false;
  const FlightTrigger* fired_ = nullptr;   ///< in the last part
  std::optional<Nanos> last_triggered_{};  ///< when a trigger last wrote a file
  Nanos next_ = 0;
  Nanos next_counters_ = 0;
};

}  // namespace offwait
