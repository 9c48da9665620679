// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "capture/recording_source.h"
#include "recording_file/recording_writer.h"
#include "session/record.h"
#include "session/sink.h"
#include "session/target.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// Writes a recording file (recording_file/format.h), a part a second.
class FileSink final : public Sink {
 public:
  /// The references outlive it.
  FileSink(RecordingSource& source, Symbolizer& symbols, const Target& target,
           const RecordingOptions& options, StoringOptions storing);

  bool names_functions() const override { return storing_.symbols; }
  AddressSpaces::Copies copies() const override { return AddressSpaces::Copies::with_mappings; }
  Status begin(const AboutRecording& about) override;
  void start() override { writer_.start(); }
  void note(const std::vector<AddressSpace>& changed) override;
  /// Fails if the file cannot be written; stop() has the reason.
  Result<bool> take() override;
  Status stop() override { return writer_.stop(); }
  Status finish(KernelRecording rest, std::vector<std::string>& notes) override;

  // After finish():
  std::uint64_t waits() const { return writer_.waits(); }
  std::uint64_t bytes() const { return writer_.size(); }
  Nanos window_ns() const { return window_ns_; }

 private:
  Status hand_over_if_due();
  /// Forgets processes that are gone, and whose mappings name nothing in the file.
  void forget_nameless();

  RecordingSource& source_;
  Symbolizer& symbols_;
  const Target& target_;
  const RecordingOptions& options_;
  StoringOptions storing_;
  Symbolizer kernel_symbols_;  ///< of the writer's thread
  RecordingWriter writer_;
  std::vector<AddressSpace> mappings_;  ///< that were not handed over yet
  std::set<std::int32_t> gone_;         ///< and no other process has the number
  Nanos next_ = 0;
  Nanos next_tables_ = 0;
  Nanos window_ns_ = 0;
};

}  // namespace offwait
