// SPDX-License-Identifier: GPL-2.0-or-later
// Waits told apart by the lock or file that they were for, so that sums by site are sums by object as well.
#pragma once

#include <vector>

#include "model/trace.h"

namespace offwait {

/// What the waits of a site have in common after split_by_object().
struct ObjectSite {
  SiteId part_of = 0;  ///< the site that the trace had for them before
  ObjectId object = kNoObject;
};

/// Gives the waits at one site for different objects sites of their own, which follow the sites of the trace.
/// Returns all sites, by SiteId.
std::vector<ObjectSite> split_by_object(Trace& trace);

}  // namespace offwait
