// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/facts.h"

#include <utility>

namespace offwait {

Facts facts_of(const Trace& trace, ThreadGroups groups, const ProgressOptions& options) {
  Facts out;
  out.groups = std::move(groups);
  out.kinds = kinds_of_waits(trace, out.groups);
  out.uses = uses_of(trace, out.groups, out.kinds);
  out.progress = progress_of(trace, out.groups, out.kinds, out.uses, options);
  return out;
}

}  // namespace offwait
