// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/freed_memory.h"

#include <malloc.h>

namespace offwait {

void keep_freed_memory() {
  constexpr int kOwnMapping = 1 << 30;      // what is larger never lies in the heap
  constexpr int kMostBefore235 = 32 << 20;  // glibc 2.34 and older refuses more
  constexpr int kKept = 128 << 20;
  if (::mallopt(M_MMAP_THRESHOLD, kOwnMapping) == 0) ::mallopt(M_MMAP_THRESHOLD, kMostBefore235);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

}  // namespace offwait
