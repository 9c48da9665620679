// SPDX-License-Identifier: GPL-2.0-or-later
// The capabilities of the calling thread (capabilities(7)). The functions of the C library have none for
// that.
#pragma once

#include <array>
#include <cstdint>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace offwait {

/// A bit for each capability, by its number.
using Capabilities = std::uint64_t;

constexpr Capabilities bit(int capability) { return Capabilities{1} << capability; }

struct CapabilitySets {
  Capabilities effective = 0;
  Capabilities permitted = 0;
};

/// Those of the calling thread; none if they cannot be read.
inline CapabilitySets own_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return {};
  const auto [low, high] = data;
  return {Capabilities{high.effective} << 32 | low.effective,
          Capabilities{high.permitted} << 32 | low.permitted};
}

/// Gives the calling thread exactly these capabilities; none can be inherited. False if it may not.
inline bool set_capabilities(Capabilities capabilities) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  data[0].effective = data[0].permitted = static_cast<std::uint32_t>(capabilities);
  data[1].effective = data[1].permitted = static_cast<std::uint32_t>(capabilities >> 32);
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

}  // namespace offwait
