// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/disk_sharing.h"

#include <catch2/catch.hpp>

using namespace offwait;

namespace {

/// A database (0) waits for disk 2, at which a backup (1) has requests as well.
Findings database_and_backup(double of_database, double of_backup) {
  Findings findings;
  findings.actors.resize(3);
  findings.actors[0].program = "/usr/sbin/database";
  findings.actors[1].program = "/usr/bin/backup";
  findings.actors[2].kind = ActorKind::disk;
  FoundDisk disk;
  disk.actor = 2;
  disk.users = {{0, 100, 10, 0.001, of_database}, {1, 100, 10, 0.001, of_backup}};
  findings.disks = {disk};
  FoundAnswer answer;
  answer.what = Resource::disk;
  answer.device = 2;
  answer.evidence.actor = 0;
  findings.answers = {answer};
  return findings;
}

std::optional<OtherDiskUser> other_user(Findings findings) {
  find_disk_sharing(findings);
  return findings.answers[0].other_user;
}

bool shares(Findings findings) {
  find_disk_sharing(findings);
  return findings.answers[0].shares_syncs;
}

}  // namespace

TEST_CASE("another program has a fifth or more of a disk's requests") {
  const std::optional<OtherDiskUser> found = other_user(database_and_backup(3.2, 0.8));
  REQUIRE(found);
  CHECK(found->actor == 1);
  CHECK(found->part == Approx(0.2));
  CHECK_FALSE(other_user(database_and_backup(3.2, 0.79)));
  CHECK_FALSE(other_user(database_and_backup(0, 0)));
  Findings none = database_and_backup(1, 1);
  none.disks[0].users.clear();
  CHECK_FALSE(other_user(none));
  none.disks.clear();
  CHECK_FALSE(other_user(none));
}

TEST_CASE("who works for others, or may be the one that waits, is no other user of a disk") {
  Findings kernel = database_and_backup(1, 1);
  kernel.actors[1].program.clear();
  CHECK_FALSE(other_user(kernel));
  Findings alike = database_and_backup(1, 1);
  alike.answers[0].evidence.alike = 1;
  CHECK_FALSE(other_user(alike));
  Findings unknown = database_and_backup(1, 1);
  unknown.answers[0].evidence.actor.reset();
  CHECK_FALSE(other_user(unknown));
  Findings own_requests = database_and_backup(1, 1);
  own_requests.answers[0].what = Resource::io;
  CHECK_FALSE(other_user(own_requests));
}

TEST_CASE("syncs are shared where those that wait behind one need none of their own") {
  Findings findings = database_and_backup(1, 1);
  FoundKnot knot;
  knot.evidence.releases.served_at_disk = true;
  findings.knots = {knot};
  findings.answers[0].knot = 0;
  findings.answers[0].evidence.actions = {3, 1, 0, 0};
  CHECK(shares(findings));
  Findings tasks = findings;
  tasks.runtimes = {{Runtime::go, 4}};
  CHECK_FALSE(shares(tasks));
  findings.answers[0].evidence.actions = {1, 2, 0, 0};  // writes that are synced
  CHECK(shares(findings));
  findings.answers[0].evidence.actions = {0, 2, 0, 0};
  CHECK_FALSE(shares(findings));
  findings.answers[0].evidence.actions = {0, 0, 3, 0};  // they wait behind one that reads
  CHECK_FALSE(shares(findings));
  findings.answers[0].what = Resource::sync;
  CHECK(shares(findings));
  findings.knots[0].evidence.releases.served_at_disk = false;
  CHECK_FALSE(shares(findings));
  findings.knots[0].pattern = Pattern::group_commit;
  CHECK(shares(findings));
}
