// SPDX-License-Identifier: GPL-2.0-or-later
// The .eh_frame parser on any bytes: no crash, no hang, and tables that keep the contract of
// offwait/unwind.h. Then a walk by each of the rules through memory that is the input as well.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "unwind/eh_frame.h"
#include "unwind/walk.h"

namespace {

bool equal(const offwait_unwind_row& a, const offwait_unwind_row& b) {
  return a.kind == b.kind && a.fp == b.fp && a.cfa == b.cfa;
}

void check(const offwait::UnwindTable& table) {
  const auto& rows = table.rows;
  if (!rows.empty() && rows.back().kind != OFFWAIT_UNWIND_NONE) {
    std::abort();
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((rows[i].kind & OFFWAIT_UNWIND_KIND_MASK) >= OFFWAIT_UNWIND_KINDS) {
      std::abort();
    }
    if (i > 0 && (rows[i - 1].pc >= rows[i].pc || equal(rows[i - 1], rows[i]))) {
      std::abort();
    }
  }
  for (std::size_t i = 0; i < table.functions.size(); ++i) {
    const offwait::FunctionExtent& function = table.functions[i];
    if (function.size == 0 || function.begin + function.size < function.begin ||
        (i > 0 && table.functions[i - 1].begin > function.begin)) {
      std::abort();
    }
  }
}

void walk(const offwait::UnwindTable& table, std::string_view memory) {
  constexpr std::uint64_t kBias = 0x7f0000000000;
  constexpr std::uint64_t kStack = 0x7ffc00000000;
  const offwait::FindCode find = [&](std::uint64_t address) {
    return address % 16 == 0 ? std::nullopt : std::optional(offwait::code_at(table, address - kBias));
  };
  const offwait::ReadWord read = [&](std::uint64_t address) -> std::optional<std::uint64_t> {
    std::uint64_t word = 0;
    if (memory.size() < sizeof word) {
      return std::nullopt;
    }
    std::memcpy(&word, memory.data() + address % (memory.size() - sizeof word + 1), sizeof word);
    // A quarter of the words are addresses in the stack, another quarter addresses in the file's code.
    return word % 4 == 0 ? kStack + word % 4096 : word % 4 == 1 ? kBias + table.base + word % 4096 : word;
  };
  constexpr std::size_t kMostWalks = 64;
  for (std::size_t i = 0; i < table.rows.size() && i < kMostWalks; ++i) {
    const std::uint64_t pc = kBias + table.base + table.rows[i].pc;
    const offwait::UserStack stack = offwait::walk_stack(
        table.architecture, {.pc = pc, .sp = kStack, .fp = kStack + 64, .lr = pc + 4}, find, read);
    if (stack.pcs.empty() || stack.pcs.size() > offwait::kMostFrames || stack.pcs[0] != pc ||
        stack.end >= OFFWAIT_STACK_ENDS) {
      std::abort();
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("unwind_fuzz", MFD_CLOEXEC);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const auto from_file = offwait::read_unwind_table(file);
  const auto from_memory =
      offwait::read_unwind_table(std::string_view(reinterpret_cast<const char*>(data), size));
  if (from_file.ok() != from_memory.ok()) {
    std::abort();
  }
  if (from_file.ok()) {
    if (from_file->rows.size() != from_memory->rows.size()) {
      std::abort();
    }
    check(*from_file);
    walk(*from_file, {reinterpret_cast<const char*>(data), size});
  }
  return 0;
}
