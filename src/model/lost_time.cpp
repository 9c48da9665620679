// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/lost_time.h"

#include <algorithm>

namespace offwait {

LostTime lost_time(const Trace& trace) {
  LostTime out;
  for (const Actor& actor : trace.actors) {
    if (actor.kind != ActorKind::thread || actor.outside) continue;
    out.lived_ns += known_life(actor, trace.window);
  }
  for (const Gap& gap : trace.gaps) {
    if (!trace.actors[gap.thread].outside) out.lost_ns += clipped(gap.from, gap.to, trace.window);
  }
  return out;
}

}  // namespace offwait
