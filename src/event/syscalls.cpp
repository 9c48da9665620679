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

/// A system call of 32-bit programs, and the one of x86_64 for which threads wait alike.
struct Of32Bits {
  std::int16_t i386;
  std::int16_t x86_64;
};
constexpr std::array kOf32Bits = {
    Of32Bits{7, 61},     // waitpid: wait4
    Of32Bits{82, 23},    // select
    Of32Bits{102, 45},   // socketcall: recvfrom
    Of32Bits{114, 61},   // wait4
    Of32Bits{120, 56},   // clone
    Of32Bits{142, 23},   // _newselect: select
    Of32Bits{162, 35},   // nanosleep
    Of32Bits{168, 7},    // poll
    Of32Bits{190, 58},   // vfork
    Of32Bits{240, 202},  // futex
    Of32Bits{247, 208},  // io_getevents
    Of32Bits{256, 232},  // epoll_wait
    Of32Bits{267, 230},  // clock_nanosleep
    Of32Bits{284, 247},  // waitid
    Of32Bits{308, 270},  // pselect6
    Of32Bits{309, 271},  // ppoll
    Of32Bits{319, 281},  // epoll_pwait
    Of32Bits{337, 299},  // recvmmsg
    Of32Bits{345, 307},  // sendmmsg
    Of32Bits{362, 42},   // connect
    Of32Bits{364, 288},  // accept4
    Of32Bits{369, 44},   // sendto
    Of32Bits{370, 46},   // sendmsg
    Of32Bits{371, 45},   // recvfrom
    Of32Bits{372, 47},   // recvmsg
    Of32Bits{373, 48},   // shutdown
    Of32Bits{385, 333},  // io_pgetevents
    Of32Bits{407, 230},  // clock_nanosleep_time64
    Of32Bits{413, 270},  // pselect6_time64
    Of32Bits{414, 271},  // ppoll_time64
    Of32Bits{416, 333},  // io_pgetevents_time64
    Of32Bits{417, 299},  // recvmmsg_time64
    Of32Bits{422, 202},  // futex_time64
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

std::int16_t call_of_64_bits(std::int16_t number) {
  if (number < OFFWAIT_CALL_OF_32_BITS) return number;
  const auto call = static_cast<std::int16_t>(number - OFFWAIT_CALL_OF_32_BITS);
  if (call >= kFirstCommon) return call;
  const auto* const found = std::find_if(kOf32Bits.begin(), kOf32Bits.end(),
                                         [=](const Of32Bits& known) { return known.i386 == call; });
  return found == kOf32Bits.end() ? std::int16_t{OFFWAIT_SYSCALL_UNKNOWN}
                                  : native_syscall("x86_64", found->x86_64);
}

}  // namespace offwait
