// SPDX-License-Identifier: GPL-2.0-or-later
// Services that the target asks and that are no part of it: a database behind an application, an upstream
// behind a proxy, a name server. What they take limits the target like a part of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"
#include "progress/thread_groups.h"

namespace offwait {

using ServiceId = std::uint32_t;  // index into Services::all
inline constexpr ServiceId kNoService = UINT32_MAX;

struct Service {
  /// Where it is asked: one or more. A unix socket has its name as the address, and no port; the name of one
  /// that is no file begins with `@`.
  std::vector<Peer> peers;
  /// Groups outside of the target whose threads sent its answers. If there is none, the service is on another
  /// host, or the senders of its packets could not be followed.
  std::vector<GroupId> answering;
  /// The answering groups, the groups outside of the target that these wait for, those that they wait for in
  /// turn, and so on. Groups that ask the service do not belong to them, nor do groups that answer for
  /// another service of the target, or that work below devices.
  std::vector<GroupId> behind;
};

struct Services {
  std::vector<Service> all;
  std::vector<ServiceId> of_site;  ///< by SiteId: the service that a thread of the target waits for there
  std::vector<bool> is_behind;     ///< by GroupId: the group is in Service::behind of one or more

  /// Threads that answer for it were recorded; not for kNoService.
  bool is_recorded(ServiceId id) const { return id != kNoService && !all[id].answering.empty(); }
};

/// In order of the first site that waits for them. What the same groups answer for is one service, whatever
/// addresses it has. Service::behind is still empty.
///
/// An internet service is a peer with that role which no thread of the target answers for. Sockets of other
/// kinds have no peers in a trace. There, a thread outside of the target answers if it responded to clients
/// on a unix socket (Trace::responses), and if the thread that it woke responded on none.
Services asked_services(const Trace& trace, const ThreadGroups& groups);

/// Fills in Service::behind. `below_devices` is by GroupId (WaitKinds).
void find_who_is_behind(Services& services, const Trace& trace, const ThreadGroups& groups,
                        const std::vector<bool>& below_devices);

}  // namespace offwait
