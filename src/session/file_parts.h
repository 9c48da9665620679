// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "capture/recorder.h"
#include "process/address_spaces.h"
#include "recording_file/recording_writer.h"

namespace offwait {

/// Hands what was recorded over to a recording file, once a second.
class FileParts {
 public:
  explicit FileParts(RecordingWriter& writer) : writer_(writer) {}

  /// Takes mappings that have changed.
  void note(const std::vector<AddressSpace>& changed);
  /// To be called after each drain(). Fails if the writer has failed, whose stop() has the reason.
  Status hand_over_if_due(Recorder& recorder);
  /// Mappings that were not handed over yet.
  std::vector<AddressSpace> take_mappings();
  /// Processes that are gone, and whose mappings name nothing in the file.
  std::vector<std::int32_t> take_nameless();

 private:
  RecordingWriter& writer_;
  std::vector<AddressSpace> mappings_;
  std::set<std::int32_t> gone_;  ///< and no other process has the number
  Nanos next_ = 0;
  Nanos next_tables_ = 0;
};

}  // namespace offwait
