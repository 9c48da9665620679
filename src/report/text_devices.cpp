// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_devices.h"

#include <string>

#include "report/wording_disks.h"
#include "report/wording_files.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

constexpr std::size_t kDiskUsers = 3;
constexpr std::size_t kDiskFiles = 3;
constexpr int kDiskIndent = 6;
constexpr int kNicIndent = 5;

}  // namespace

void put_disks(const TextPage& page) {
  Canvas& canvas = page.canvas;
  canvas.gap();
  for (const ShownDisk& shown : page.screen.disks) {
    const FoundDisk& disk = page.findings.disks[shown.disk];
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
    if (shown.mismatch) {
      canvas.to(kDiskIndent).put("MISMATCH", Ink::warn).put("  ");
      canvas.flow(words(mismatch_text(*disk.check)), kDiskIndent);
    }
  }
}

void put_nics(const TextPage& page) {
  Canvas& canvas = page.canvas;
  canvas.gap();
  for (const std::size_t shown : page.screen.nics) {
    const FoundNic& nic = page.findings.nics[shown];
    const double window_s = page.findings.window_s;
    canvas.put("NIC", Ink::strong).put("  ");
    canvas.put(page.names.device(page.findings.actors[nic.actor]), Ink::actor).put("  ");
    canvas.flow(fields({words(direction_text("received", nic.received, window_s)),
                        words(direction_text("sent", nic.sent, window_s)), words(capacity_text(nic))}),
                kNicIndent);
  }
}

}  // namespace offwait
