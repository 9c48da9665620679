// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "symbol/kallsyms.h"

namespace offwait {

/// The symbols in /proc/kallsyms; none if it cannot be read.
KernelSymbols read_kernel_symbols();

/// Reads the kernel's symbols before they are needed, in a thread of its own that leaves the CPUs to others.
class KernelAhead {
 public:
  KernelAhead() = default;
  KernelAhead(const KernelAhead&) = delete;
  KernelAhead& operator=(const KernelAhead&) = delete;
  /// Waits, as end() does.
  ~KernelAhead() { end(); }

  /// Starts the thread; only the first call does.
  void begin();
  /// Waits until the thread has ended, with this thread's nice value if CAP_SYS_NICE allows it.
  void end();
  /// The symbols, once, if all that is loaded now was loaded when they were read. Waits, as end() does.
  std::optional<KernelSymbols> take();

 private:
  struct Read {
    std::string modules;
    KernelSymbols symbols;
  };
  bool begun_ = false;
  std::atomic<pid_t> thread_ = 0;
  std::future<Read> read_;
};

/// Which modules are loaded, and where: two texts in the form of /proc/modules are compared by it, in which
/// the numbers of users differ.
std::string loaded_modules(std::string_view proc_modules);

}  // namespace offwait
