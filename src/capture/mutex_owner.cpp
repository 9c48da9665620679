// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/mutex_owner.h"

#include <limits>

#include <linux/futex.h>

namespace offwait {

std::optional<std::int32_t> mutex_owner(const std::array<std::uint64_t, 3>& arguments,
                                        const ReadWord& read_word) {
  // struct __pthread_mutex_s of 64-bit machines has int lock; unsigned count; int owner; unsigned users; int
  // kind.
  constexpr std::uint32_t kLockedWithWaiters = 2;
  constexpr std::uint32_t kKindBits = 0x3ff;
  const auto [address, operation, value] = arguments;
  const auto lock_and_count = read_word(address);
  const auto owner_and_users = read_word(address + 8);
  const auto kind = read_word(address + 16);
  if (address % 4 != 0 || !lock_and_count || !owner_and_users || !kind ||
      (static_cast<std::uint32_t>(*kind) & ~kKindBits) != 0) {
    return std::nullopt;
  }
  const auto lock = static_cast<std::uint32_t>(*lock_and_count);
  std::uint32_t owner = 0;
  switch (static_cast<std::uint32_t>(operation) & static_cast<std::uint32_t>(FUTEX_CMD_MASK)) {
    case FUTEX_WAIT:
      if (static_cast<std::uint32_t>(value) == kLockedWithWaiters && lock == kLockedWithWaiters) {
        owner = static_cast<std::uint32_t>(*owner_and_users);
      }
      break;
    case FUTEX_LOCK_PI:
#ifdef FUTEX_LOCK_PI2
    case FUTEX_LOCK_PI2:
#endif
      owner = lock & FUTEX_TID_MASK;
      break;
    default:
      break;
  }
  if (owner == 0 || owner > std::uint32_t{std::numeric_limits<std::int32_t>::max()}) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(owner);
}

}  // namespace offwait
