// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the ports on which a process's network namespace serves requests, from the text in /proc/PID/net.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace offwait {

/// The ports of listening sockets in the text of /proc/PID/net/tcp or tcp6. Listening sockets come first;
/// reading ends at the first other socket. A line of another form is left out.
std::set<std::uint16_t> parse_listening(std::string_view tcp);

/// The ports of unconnected sockets in the text of /proc/PID/net/udp or udp6. UDP does not distinguish
/// clients from servers, so ports from `first_own` to `last_own` are left out: the kernel gives these to
/// sockets that ask for no particular port.
std::set<std::uint16_t> parse_unconnected(std::string_view udp, std::uint16_t first_own,
                                          std::uint16_t last_own);

/// All these ports, as the process sees them; none when it is gone.
std::set<std::uint16_t> served_ports(std::int32_t tgid);

}  // namespace offwait
