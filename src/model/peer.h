// SPDX-License-Identifier: GPL-2.0-or-later
// Who is at the other end of a socket.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offwait {

inline constexpr std::uint16_t kAnyPort = 0;

/// Peers are interned: no two in a Trace are equal.
struct Peer {
  /// `client`: it connected to the thread that waits, which listened and waits for its requests. `service`:
  /// the thread that waits has asked it.
  enum class Role : std::uint8_t { client, service };
  Role role = Role::service;
  /// `10.0.0.5`, `2001:db8::1`; hostile bytes. A peer of a text trace that has another form than to_string()
  /// gives is all address, without a port.
  std::string address{};
  std::optional<std::uint16_t> port{};  ///< kAnyPort: any port of this address
  friend bool operator==(const Peer&, const Peer&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Peer&, const Peer&) = default;
};

/// `10.0.0.5:3306`, `[2001:db8::1]:443`, `10.0.0.5:*` for any port; not escaped.
std::string to_string(const Peer& peer);
/// The same without the port: `10.0.0.5`, `[2001:db8::1]`.
std::string host_of(const Peer& peer);
/// `client`, `service`
std::string_view to_string(Peer::Role role);

}  // namespace offwait
