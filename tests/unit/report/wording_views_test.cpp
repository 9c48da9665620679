// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_views.h"

#include <catch2/catch.hpp>

#include "unit/report/sample.h"

using namespace offwait;

TEST_CASE("The sums above the locks are of locks; conditions and queues have their own") {
  FoundLocks locks;
  CHECK(locks_meaning(locks) == "Threads waited for no lock.");
  locks.queues = 36;
  locks.queues_s = 153;
  const std::string columns =
      " line: how many waited at a time, on average and at most. A lock without a name is called by the "
      "function that takes it; #1 was waited for longest.";
  CHECK(locks_meaning(locks) ==
        "Threads waited for no lock, and 153 s for 36 conditions and queues." + columns);
  locks.locks = 8;
  locks.wait_s = 0.05;
  locks.queues = 1;
  CHECK(locks_meaning(locks) ==
        "Threads waited 50.0 ms for 8 locks, and 153 s for 1 condition or queue." + columns);
  locks.queues = 0;
  locks.queues_s = 0;
  locks.not_let_go_s = 3;
  CHECK(locks_meaning(locks) == "Threads waited 50.0 ms for 8 locks." + columns +
                                    " Set aside: 3.00 s of waits that no thread ended.");
}

TEST_CASE("What several holders did is told of several") {
  const Findings findings = sample_findings();
  const ActorNames names(findings, [](std::string_view name) { return std::string(name); });
  FoundLockRow lock;
  lock.wait_s = lock.owner_s = 1;
  lock.holders = {{"worker", 1, 1}};
  lock.meanwhile.looked_s = 1;
  lock.meanwhile.runnable_s = 0.6;
  lock.meanwhile.ran_s = 0.4;
  CHECK(holder_text(lock, names) ==
        "held by worker, which was ready to run without a CPU (60%) and ran (40%) meanwhile");
  lock.holders[0].threads = 8;
  CHECK(holder_text(lock, names) ==
        "held by worker×8, which were ready to run without a CPU (60%) and ran (40%) meanwhile");
}

TEST_CASE("a lock whose kind no function tells says why it is one") {
  FoundLockRow row;
  row.kind = LockKind::mutex;
  row.evidence = LockEvidence::name;
  CHECK(lock_evidence_text(row).empty());
  row.kind = LockKind::lock;
  CHECK(lock_evidence_text(row) == "the name of a function that waits for it");
  row.evidence = LockEvidence::behaviour;
  CHECK(lock_evidence_text(row).find("its behaviour") == 0);
  row.kind = LockKind::condition;
  row.evidence.reset();
  CHECK(lock_evidence_text(row).empty());
}
