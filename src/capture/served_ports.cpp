// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/served_ports.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace offwait {
namespace {

struct Socket {
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  std::uint8_t state = 0;
};

template <class Number>
std::optional<Number> hexadecimal(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// Reads ` 0: 0100007F:1F90 00000000:0000 0A …`; nothing for the heading.
std::optional<Socket> parse_socket(const std::string& line) {
  std::istringstream words(line);
  std::string number;
  std::string local;
  std::string remote;
  std::string state_text;
  if (!(words >> number >> local >> remote >> state_text)) return std::nullopt;
  const auto port = [](std::string_view address) -> std::optional<std::uint16_t> {
    const std::size_t colon = address.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return hexadecimal<std::uint16_t>(address.substr(colon + 1));
  };
  const auto local_port = port(local);
  const auto remote_port = port(remote);
  const auto state = hexadecimal<std::uint8_t>(state_text);
  if (!local_port || !remote_port || !state) return std::nullopt;
  return Socket{*local_port, *remote_port, *state};
}

template <class Lines>
std::set<std::uint16_t> listening(Lines& lines) {
  constexpr std::uint8_t kListen = 10;
  std::set<std::uint16_t> ports;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Socket> socket = parse_socket(line);
    if (!socket) continue;
    if (socket->state != kListen) break;
    ports.insert(socket->local_port);
  }
  return ports;
}

template <class Lines>
std::set<std::uint16_t> unconnected(Lines& lines, std::uint16_t first_own, std::uint16_t last_own) {
  std::set<std::uint16_t> ports;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Socket> socket = parse_socket(line);
    if (!socket || socket->remote_port != 0) continue;
    if (socket->local_port < first_own || socket->local_port > last_own) ports.insert(socket->local_port);
  }
  return ports;
}

}  // namespace

std::set<std::uint16_t> parse_listening(std::string_view tcp) {
  std::istringstream lines{std::string(tcp)};
  return listening(lines);
}

std::set<std::uint16_t> parse_unconnected(std::string_view udp, std::uint16_t first_own,
                                          std::uint16_t last_own) {
  std::istringstream lines{std::string(udp)};
  return unconnected(lines, first_own, last_own);
}

std::set<std::uint16_t> served_ports(std::int32_t tgid) {
  const std::string net = "/proc/" + std::to_string(tgid) + "/net/";
  std::uint16_t first_own = 32768;
  std::uint16_t last_own = 60999;
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  range >> first_own >> last_own;
  std::set<std::uint16_t> ports;
  for (const char* const name : {"tcp", "tcp6"}) {
    std::ifstream file(net + name);
    ports.merge(listening(file));
  }
  for (const char* const name : {"udp", "udp6"}) {
    std::ifstream file(net + name);
    ports.merge(unconnected(file, first_own, last_own));
  }
  return ports;
}

}  // namespace offwait
