// SPDX-License-Identifier: GPL-2.0-or-later
// bench_unwind_tables FILE…: prints how long it takes to make the unwind table of each ELF file (the best of
// five), and how long a walk over the same .eh_frame with elfutils' libdw takes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>

#include "base/unique_fd.h"
#include "unwind/eh_frame.h"

namespace {

template <class Work>
double best_ms(int times, const Work& work) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// Asks libdw for the rules of each function, row by row.
void walk_with_libdw(int fd, const offwait::UnwindTable& table) {
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  Dwarf_CFI* cfi = dwarf_getcfi_elf(elf);
  for (const offwait::FunctionExtent& function : table.functions) {
    const std::uint64_t end = table.base + function.begin + function.size;
    for (Dwarf_Addr pc = table.base + function.begin; pc < end;) {
      Dwarf_Frame* frame = nullptr;
      if (cfi == nullptr || dwarf_cfi_addrframe(cfi, pc, &frame) != 0) {
        break;
      }
      Dwarf_Addr row_begin = 0;
      Dwarf_Addr row_end = 0;
      dwarf_frame_info(frame, &row_begin, &row_end, nullptr);
      Dwarf_Op* ops = nullptr;
      std::size_t count = 0;
      dwarf_frame_cfa(frame, &ops, &count);
      std::free(frame);
      if (row_end <= pc) {
        break;
      }
      pc = row_end;
    }
  }
  dwarf_cfi_end(cfi);
  elf_end(elf);
}

}  // namespace

int main(int argc, char** argv) {
  elf_version(EV_CURRENT);
  std::printf("%9s %9s %9s %9s %9s  %s\n", "ms", "libdw ms", "rows", "KB", "functions", "file");
  for (const std::string path : std::vector<const char*>(argv + 1, argv + argc)) {
    const offwait::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto table = offwait::read_unwind_table(fd.get());
    if (!table.ok()) {
      std::printf("%s: %s\n", path.c_str(), table.error().message.c_str());
      continue;
    }
    const double ours = best_ms(5, [&] { (void)offwait::read_unwind_table(fd.get()).ok(); });
    const double libdw = best_ms(1, [&] { walk_with_libdw(fd.get(), *table); });
    std::printf("%9.2f %9.1f %9zu %9.0f %9zu  %s\n", ours, libdw, table->rows.size(),
                static_cast<double>(table->rows.size() * sizeof(offwait_unwind_row)) / 1000,
                table->functions.size(), path.c_str());
  }
}
