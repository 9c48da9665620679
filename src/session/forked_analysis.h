// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/nanos.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// A process that works out something from the memory of this one as it was at the fork, while this one goes
/// on, and sends it back as bytes. It ends when this one does (as in forked_writer.h).
class ForkedAnalysis {
 public:
  ForkedAnalysis() = default;
  ForkedAnalysis(const ForkedAnalysis&) = delete;
  ForkedAnalysis& operator=(const ForkedAnalysis&) = delete;
  ~ForkedAnalysis() { stop(); }

  bool runs() const { return child_ > 0; }
  /// Readable when look() has something to do; -1 while none runs.
  int fd() const { return pipe_.get(); }

  /// Runs `work` in a process of its own. Only while none runs.
  Status start(const std::function<std::string()>& work);

  struct Done {
    std::string bytes;   ///< empty if the process was ended
    Nanos cpu_time = 0;  ///< of the process and of those that it started
    Nanos elapsed_ns = 0;
  };
  /// What was worked out, once it is. Never waits.
  std::optional<Done> look();
  /// Ends the process.
  void stop();

 private:
  Done end();

  pid_t child_ = -1;
  UniqueFd pipe_;
  std::string bytes_;
  Nanos started_ = 0;
};

}  // namespace offwait
