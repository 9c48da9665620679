// SPDX-License-Identifier: GPL-2.0-or-later
// The ports on which somebody waits to be asked, as the kernel prints them in /proc/PID/net.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace offwait {

/// The text of /proc/PID/net/tcp or tcp6: ports of listening sockets. They stand first; what follows the
/// first other socket is not looked at. A line that is not of its form is left out.
std::set<std::uint16_t> parse_listening(std::string_view tcp);

/// The text of /proc/PID/net/udp or udp6: ports of sockets that are connected to nobody. UDP does not say who
/// asks; ports from `first_own` to `last_own`, which the kernel gives to who does not ask for one, are left
/// out.
std::set<std::uint16_t> parse_unconnected(std::string_view udp, std::uint16_t first_own,
                                          std::uint16_t last_own);

/// All of them, as the process sees them; empty when it is gone.
std::set<std::uint16_t> served_ports(std::int32_t tgid);

}  // namespace offwait
