// SPDX-License-Identifier: GPL-2.0-or-later
// The symbols of the running kernel, read when they are first asked for, or ahead of that. What was read
// ahead counts as long as the same modules are loaded, and is read anew for an address that it lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "symbol/kallsyms.h"
#include "symbol/reading_ahead.h"

namespace offwait {

class RunningKernel {
 public:
  /// Sets text in the form of /proc/kallsyms to use instead of that file.
  void set_text(std::string text);

  /// Begins to read the symbols. False if that was begun before. This object must not be moved afterwards.
  bool begin_ahead(ReadingAhead& ahead);

  std::optional<KernelFunction> find(std::uint64_t address);
  std::optional<KernelFunction> find_data(std::uint64_t address);

  /// Why there are no names, as a sentence for the user; empty if there are, or nobody has asked for one.
  std::string complaint() const;

 private:
  const KernelSymbols& symbols();
  void read();

  std::string text_;
  unsigned texts_set_ = 0;
  KernelSymbols symbols_;
  bool read_ = false;
  bool ahead_begun_ = false;
  std::optional<KernelSymbols> ahead_;
  std::string modules_ahead_;    ///< loaded_modules() when `ahead_` was read
  bool was_read_ahead_ = false;  ///< `symbols_` was read ahead, from /proc/kallsyms
};

/// The names and addresses of the modules in text in the form of /proc/modules, and nothing that changes
/// while they are loaded.
std::string loaded_modules(std::string_view text);

}  // namespace offwait
