// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of the running kernel, its modules and its BPF programs; and its variables, as far as they
// are listed (CONFIG_KALLSYMS_ALL).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/message.h"
#include "symbol/function_ranges.h"

namespace offwait {

struct KernelFunction {
  std::uint64_t begin = 0;
  std::string_view name;    ///< lives as long as the KernelSymbols
  std::string_view module;  ///< `[kernel]`, `[ext4]`, `[bpf]` …
};

class KernelSymbols {
 public:
  /// No symbols: every lookup fails.
  KernelSymbols() = default;

  /// Reads text in the form of /proc/kallsyms; lines of another form are skipped. A function ends where the
  /// next symbol of any type begins. The last function of the kernel or of a module, whose end kallsyms does
  /// not give, covers the rest of its 4 KiB page. Of several names for one address the first is chosen, as in
  /// the kernel's own messages.
  static KernelSymbols parse(std::string_view text);

  void write(MessageWriter& message) const;
  /// What write() has written in a process that is trusted; nothing if the message is cut short.
  static std::optional<KernelSymbols> read(MessageReader& message);

  std::optional<KernelFunction> find(std::uint64_t address) const;
  /// The variable that holds the address. A variable ends where the next symbol begins, and no later than
  /// 64 KiB after its start.
  std::optional<KernelFunction> find_data(std::uint64_t address) const;

  /// Whether symbols are listed, but all at address 0, because kptr_restrict hides the addresses.
  bool restricted() const { return restricted_; }
  bool empty() const { return ranges_.empty(); }

 private:
  std::optional<KernelFunction> named(const std::optional<FunctionHit>& hit) const;

  FunctionRanges ranges_;
  FunctionRanges data_;
  std::string names_;  // "name\0[module]\0" for each function and variable
  bool restricted_ = false;
};

}  // namespace offwait
