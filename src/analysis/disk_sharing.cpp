// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/disk_sharing.h"

#include <algorithm>
#include <optional>

#include "analysis/rankings.h"
#include "progress/runtimes.h"

namespace offwait {
namespace {

std::optional<OtherDiskUser> other_user_of(const Findings& findings, const FoundAnswer& answer) {
  constexpr double kMuch = 0.2;
  // Threads of several actors wait alike: any of these may be the user.
  if (answer.what != Resource::disk || !answer.device || !answer.evidence.actor || answer.evidence.alike > 0)
    return std::nullopt;
  const FoundDisk* const disk = disk_of(findings, *answer.device);
  if (disk == nullptr) return std::nullopt;
  OtherDiskUser out;
  double all = 0;
  double most = 0;
  for (const FoundDiskUser& user : disk->users) {
    all += user.in_flight;
    // A kernel thread, which has no program, works for others.
    const bool is_program = user.actor && !findings.actors[*user.actor].program.empty();
    if (!is_program || user.actor == answer.evidence.actor || user.in_flight <= most) continue;
    out.actor = *user.actor;
    most = user.in_flight;
  }
  if (most <= 0 || most < kMuch * all) return std::nullopt;
  out.part = most / all;
  return out;
}

bool shares_syncs(const Findings& findings, const FoundAnswer& answer) {
  const bool about_syncs =
      answer.what == Resource::sync ||
      ((answer.what == Resource::disk || answer.what == Resource::io) && answer.evidence.actions.are_syncs());
  if (!about_syncs || !answer.knot) return false;
  // Which task of a runtime waits for a sync does not show: its scheduler lets threads go for other tasks,
  // too.
  if (std::any_of(findings.runtimes.begin(), findings.runtimes.end(),
                  [](const FoundRuntime& found) { return hides_waits(found.runtime); })) {
    return false;
  }
  const FoundKnot& knot = findings.knots[*answer.knot];
  return knot.pattern == Pattern::group_commit || knot.evidence.releases.served_at_disk;
}

}  // namespace

void find_disk_sharing(Findings& findings) {
  for (FoundAnswer& answer : findings.answers) {
    answer.other_user = other_user_of(findings, answer);
    answer.shares_syncs = shares_syncs(findings, answer);
  }
}

}  // namespace offwait
