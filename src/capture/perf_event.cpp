// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/perf_event.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace offwait {

UniqueFd open_perf_event(perf_event_attr event, pid_t thread, int cpu) {
  constexpr int kNoGroup = -1;
  event.size = sizeof(event);
  return UniqueFd(
      static_cast<int>(::syscall(SYS_perf_event_open, &event, thread, cpu, kNoGroup, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace offwait
