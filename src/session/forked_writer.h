// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// A process that writes a file while this one records. It has the memory of this one as it was at the fork,
/// and ends when this one does: BPF programs stay attached for as long as any process has them.
class ForkedWriter {
 public:
  bool runs() const { return child_ > 0; }
  /// Readable when it has ended; -1 while none runs.
  int fd() const { return process_.get(); }

  /// Runs `write` in a process of its own; it returns whether it succeeded. Only while none runs. Where the
  /// process cannot be watched, start() returns when it has ended.
  Status start(const std::function<bool()>& write);

  /// Takes note if it has ended.
  void look();
  /// Waits for the end. The process itself says if the file cannot be written, unless it is killed.
  void finish();

 private:
  void wait(int options);
  void ended(int status);

  pid_t child_ = -1;
  UniqueFd process_;
};

}  // namespace offwait
