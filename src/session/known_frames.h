// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/frame.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// Names of functions that were looked up before, for a recording that is analysed again and again. To read
/// the tables of a server's files takes longer than to analyse some seconds of its waits.
///
/// The process that looks names up is forked, and sends back what it found; the one that goes on keeps that
/// for the next one. What may be another function later is not kept: code of a perf map, or without a file.
class KnownFrames {
 public:
  /// As Symbolizer::frames(), which is asked for what is not known.
  std::vector<std::vector<Frame>> frames(const std::vector<FrameAddress>& addresses, Symbolizer& symbols);

  /// What frames() has asked for, as bytes for add().
  std::string found() const;
  /// Fails if these are no such bytes.
  Status add(std::string_view bytes);
  /// The process has other mappings now, or none.
  void forget(std::int32_t tgid);
  std::size_t size() const { return known_.size(); }

 private:
  std::map<FrameAddress, std::vector<Frame>> known_;
  std::vector<FrameAddress> found_;
};

}  // namespace offwait
