// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/syscalls.h"

#include <algorithm>
#include <array>

#include "offwait/event.h"

namespace offwait {
namespace {

/// The numbers of one system call. Where arm64 lacks it, it has that of another for which threads wait alike.
struct Numbers {
  std::int16_t x86_64;
  std::int16_t arm64;
};

/// Those that classify() knows. From 424 on numbers are the same everywhere.
constexpr std::int16_t kFirstCommon = 424;
constexpr std::array kNumbers = {
    Numbers{202, 98},   // futex
    Numbers{7, 73},     // poll: ppoll
    Numbers{271, 73},   // ppoll
    Numbers{23, 72},    // select: pselect6
    Numbers{270, 72},   // pselect6
    Numbers{232, 22},   // epoll_wait: epoll_pwait
    Numbers{281, 22},   // epoll_pwait
    Numbers{35, 101},   // nanosleep
    Numbers{230, 115},  // clock_nanosleep
    Numbers{58, 260},   // vfork: wait4
    Numbers{61, 260},   // wait4
    Numbers{247, 95},   // waitid
    Numbers{43, 202},   // accept
    Numbers{288, 242},  // accept4
    Numbers{42, 203},   // connect
    Numbers{45, 207},   // recvfrom
    Numbers{47, 212},   // recvmsg
    Numbers{299, 243},  // recvmmsg
    Numbers{44, 206},   // sendto
    Numbers{46, 211},   // sendmsg
    Numbers{307, 269},  // sendmmsg
    Numbers{48, 210},   // shutdown
    Numbers{56, 220},   // clone
    Numbers{208, 4},    // io_getevents
    Numbers{333, 292},  // io_pgetevents
};

std::int16_t translated(std::int16_t number, std::int16_t Numbers::*from, std::int16_t Numbers::*to) {
  // The calls that arm64 has, too, stand behind those that it lacks.
  const auto found = std::find_if(kNumbers.rbegin(), kNumbers.rend(),
                                  [=](const Numbers& call) { return call.*from == number; });
  return found == kNumbers.rend() ? std::int16_t{OFFWAIT_SYSCALL_UNKNOWN} : (*found).*to;
}

}  // namespace

std::string_view native_architecture() {
#ifdef __aarch64__
  return "aarch64";
#else
  return "x86_64";
#endif
}

std::int16_t native_syscall(std::string_view architecture, std::int16_t number) {
  if (architecture == native_architecture() || number < 0 || number >= kFirstCommon) return number;
  if (architecture == "x86_64") return translated(number, &Numbers::x86_64, &Numbers::arm64);
  if (architecture == "aarch64") return translated(number, &Numbers::arm64, &Numbers::x86_64);
  return OFFWAIT_SYSCALL_UNKNOWN;
}

}  // namespace offwait
