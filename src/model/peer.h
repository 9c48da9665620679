// SPDX-License-Identifier: GPL-2.0-or-later
// The other end of a socket.
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
  /// A `client` connected to the waiting thread's side, and the thread waits for its requests. A `service`
  /// was asked by the waiting thread, and the thread waits for its answer.
  enum class Role : std::uint8_t { client, service };
  Role role = Role::service;
  /// `10.0.0.5`, `2001:db8::1`; hostile bytes. If a peer of a text trace does not have the form of
  /// to_string(), this is the whole text, and there is no port.
  std::string address{};
  std::optional<std::uint16_t> port{};  ///< kAnyPort: any port of this address
  friend bool operator==(const Peer&, const Peer&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Peer&, const Peer&) = default;
};

/// The peer's text, not escaped: `10.0.0.5:3306`, `[2001:db8::1]:443`, or `10.0.0.5:*` for any port.
std::string to_string(const Peer& peer);
/// The same without the port: `10.0.0.5`, `[2001:db8::1]`.
std::string host_of(const Peer& peer);
/// `client`, `service`
std::string_view to_string(Peer::Role role);

}  // namespace offwait
