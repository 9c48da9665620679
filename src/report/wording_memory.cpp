// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_memory.h"

#include <fmt/format.h>

#include "report/quantity.h"

namespace offwait {
namespace {

std::string limit_text(const FoundMemory& memory, const ActorNames& names) {
  if (!memory.cgroup.empty()) {
    return fmt::format("cgroup {} may use {}, and reached that {}", names.text(memory.cgroup),
                       format_bytes(memory.limit_bytes), format_plural(memory.reached, "time"));
  }
  return fmt::format("the machine has {}, and programs use {} of it", format_bytes(memory.limit_bytes),
                     format_bytes(memory.used_bytes));
}

}  // namespace

std::string memory_text(const FoundMemory& memory, const ActorNames& names) {
  const std::string limit = limit_text(memory, names);
  const std::string again = format_bytes(memory.refault_bytes + memory.swap_bytes);
  const std::string what =
      memory.read_bytes == 0
          ? fmt::format("{} of what was read from disks had been in memory before, and was dropped", again)
          : fmt::format(
                "Up to {} of what the target read from disks ({}) had been in memory before, and was "
                "dropped{}",
                format_percent(memory.read_again(), 1), format_bytes(memory.read_bytes),
                memory.of_all_programs ? ", as far as what all programs of the machine read again tells"
                                       : "");
  return fmt::format(
      "{}: {}. More memory, if all of it fits there, or less use of it saves these reads; a faster disk "
      "makes them shorter.",
      what, limit);
}

}  // namespace offwait
