// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_devices.h"

#include <algorithm>
#include <string>

#include "analysis/rankings.h"
#include "report/text_answers.h"
#include "report/wording_disks.h"
#include "report/wording_files.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

constexpr std::size_t kDiskUsers = 3;
constexpr std::size_t kDiskFiles = 3;
constexpr int kDiskIndent = 6;
constexpr int kNicIndent = 5;

bool is_waited_for(const Findings& findings, FoundActorId device) {
  return std::any_of(findings.edges.begin(), findings.edges.end(), [&](const FoundEdge& edge) {
    return edge.to == device && !findings.actors[edge.from].outside;
  });
}

/// A device is shown if the target uses it or waits for it, or if an answer, a knot or a sink above names it.
bool concerns_target(const Findings& findings, FoundActorId device) {
  const auto is_it = [device](const auto& one) { return one.device == device; };
  const auto has_it = [device](const FoundKnot& knot) {
    return std::binary_search(knot.actors.begin(), knot.actors.end(), device);
  };
  const auto is_full = [device](const FoundSink& sink) { return sink.actor == device && sink.limits(); };
  return is_waited_for(findings, device) ||
         std::any_of(findings.answers.begin(), findings.answers.end(), is_it) ||
         std::any_of(findings.knots.begin(), findings.knots.end(), has_it) ||
         std::any_of(findings.sinks.begin(), findings.sinks.end(), is_full);
}

/// Whether an answer is about the disk. Without answers any disk may be the answer.
bool is_of_an_answer(const TextPage& page, FoundActorId disk) {
  if (!answers_can_be_judged(page.findings)) return true;
  const std::vector<const FoundAnswer*> answers = shown_answers(page);
  return std::any_of(answers.begin(), answers.end(),
                     [disk](const FoundAnswer* answer) { return answer->device == disk; });
}

bool concerns_target(const Findings& findings, const FoundDisk& disk) {
  return disk.users.empty() || concerns_target(findings, disk.actor) ||
         std::any_of(disk.users.begin(), disk.users.end(), [&findings](const FoundDiskUser& user) {
           return user.actor && user.ios > 0 && !findings.actors[*user.actor].outside;
         });
}

}  // namespace

void put_disks(const TextPage& page) {
  if (page.findings.disks.empty()) return;
  Canvas& canvas = page.canvas;
  canvas.gap();
  for (const FoundDisk& disk : page.findings.disks) {
    if (!page.verbose && !concerns_target(page.findings, disk)) continue;
    const FoundActor& actor = page.findings.actors[disk.actor];
    canvas.put("DISK", Ink::strong).put("  ");
    canvas.put(page.names.device(actor), Ink::actor).put(page.names.disks_below(actor)).put("  ");
    canvas.flow(
        fields({words(busy_text(page.findings, disk)), words(requests_text(disk)), words(rate_text(disk)),
                words(capacity_text(page.findings, disk)), words(unseen_text(disk))}),
        kDiskIndent);
    if (disk.users.size() > 1 && disk.bytes != 0) {
      canvas.to(kDiskIndent)
          .flow(words(disk_users_text(disk, page.names, page.limit(kDiskUsers, disk.users.size()))),
                kDiskIndent);
    }
    if (const std::string files =
            disk_files_text(disk, page.names, page.limit(kDiskFiles, disk.files.size()));
        !files.empty()) {
      canvas.to(kDiskIndent).flow(words(files), kDiskIndent);
    }
    if (disk.check && disk.check->mismatch && (page.verbose || is_of_an_answer(page, disk.actor))) {
      canvas.to(kDiskIndent).put("MISMATCH", Ink::warn).put("  ");
      canvas.flow(words(mismatch_text(*disk.check)), kDiskIndent);
    }
  }
}

void put_nics(const TextPage& page) {
  if (page.findings.nics.empty()) return;
  Canvas& canvas = page.canvas;
  canvas.gap();
  for (const FoundNic& nic : page.findings.nics) {
    if (!page.verbose && !concerns_target(page.findings, nic.actor)) continue;
    const double window_s = page.findings.window_s;
    canvas.put("NIC", Ink::strong).put("  ");
    canvas.put(page.names.device(page.findings.actors[nic.actor]), Ink::actor).put("  ");
    canvas.flow(fields({words(direction_text("received", nic.received, window_s)),
                        words(direction_text("sent", nic.sent, window_s)), words(capacity_text(nic))}),
                kNicIndent);
  }
}

}  // namespace offwait
