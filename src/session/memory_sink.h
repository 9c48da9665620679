// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "capture/recording_source.h"
#include "model/trace.h"
#include "session/recording_options.h"
#include "session/sink.h"
#include "session/target.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// Leaves all records with the source until the end, and makes a trace of them then.
class MemorySink final : public Sink {
 public:
  /// All of these outlive it.
  MemorySink(RecordingSource& source, Symbolizer& symbols, const Target& target,
             const RecordingOptions& options)
      : source_(source), symbols_(symbols), target_(target), options_(options) {}

  bool names_functions() const override { return true; }
  Status begin(const AboutRecording& about) override;
  Result<bool> take() override { return !source_.is_full(); }
  /// Fails if nobody was in the cgroup, and if the kernel has reported what cannot have happened.
  Status finish(KernelRecording rest, std::vector<std::string>& notes) override;

  /// After finish().
  Trace take_trace() { return std::move(trace_); }

 private:
  RecordingSource& source_;
  Symbolizer& symbols_;
  const Target& target_;
  const RecordingOptions& options_;
  AboutRecording about_;
  Trace trace_;
};

}  // namespace offwait
