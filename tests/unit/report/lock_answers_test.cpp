// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <string>

#include "report/text.h"
#include "report/wording_advice.h"
#include "report/wording_answers.h"
#include "report/wording_locks.h"
#include "unit/report/first_screen.h"
#include "unit/report/sample.h"

using namespace offwait;

TEST_CASE("A lock is an answer with both gains, who waited, who held it for what, and what to do about it") {
  Findings findings = answered_findings();
  FoundAnswer lock = findings.answers[2];
  lock.what = Resource::waited;
  lock.gain = 7.6;
  lock.low.reset();
  lock.high.reset();
  lock.certainty = Certainty::up_to;
  lock.lock = {"registry_lock",       25.8, 1740, 0.15, findings.edges[0].stacks[0].wait_stack,
               Gain{0.92, 0.8, 1.04}, 7.6};
  lock.lock->waiters = {{"A", 8}, {"B", 1}};
  lock.lock->holders = {{"B", 1}};
  lock.lock->slept = 0.95;
  lock.lock->ran = 0.05;
  findings.answers = {lock};
  const std::string screen = sentences(findings);
  INFO(screen);
  CHECK(screen.find("lock registry_lock split, or not waited for: up to ×8.6 · held half as "
                    "long: +92% (80 to 104) [sure]") != std::string::npos);
  CHECK(screen.find("threads of A×8, B waited 25.8 s for it altogether, 1,740 waits; held by B, which ") !=
        std::string::npos);
  CHECK(screen.find("sleep (95%)") != std::string::npos);
  CHECK(screen.find("do not sleep while the lock is held, or split it") != std::string::npos);
  CHECK(screen.find("At this bound") == std::string::npos);
  findings.answers[0].lock->held->certainty = Certainty::approximate;
  findings.answers[0].lock->held->doubt = Doubt::simulated_roughly;
  CHECK(sentences(findings).find("Approximate: the simulation of the CPUs reproduces the recording only "
                                 "roughly.") != std::string::npos);
  findings.answers[0].lock->held = Gain{0.92, 0.8, 1.04};
  // Where CPUs are full it may gain more; what is surely reached is not known.
  findings.answers[0].high = 8.2;
  CHECK(sentences(findings).find("not waited for: up to ×9.2") != std::string::npos);
  findings.answers[0].certainty = Certainty::split;
  CHECK(sentences(findings).find("not waited for: up to ×9.2 [split]") != std::string::npos);
  findings.answers[0].lock->slept = 0.3;
  findings.answers[0].lock->no_cpu = 0.65;
  const std::string queues = sentences(findings);
  INFO(queues);
  CHECK(queues.find("which lack a CPU") != std::string::npos);
  CHECK(queues.find("let its holders run") != std::string::npos);
}

TEST_CASE("advice for locks of rows says where the database shows the statements") {
  FoundLock lock;
  lock.at_disks = 1;
  lock.runtime = RuntimeLock::innodb_row;
  CHECK(lock_advice(lock) ==
        "let transactions change different rows (split the one that all change), or change it last, right "
        "before the commit; SHOW ENGINE INNODB STATUS shows the statements");
  lock.at_disks = 0;
  lock.for_clients = 1;
  lock.runtime = RuntimeLock::postgres_row;
  CHECK(
      lock_advice(lock) ==
      "commit, or roll back, before waiting for the client (pg_stat_activity shows whose transaction it is)");
}

TEST_CASE("What keeps a split lock from gaining more is said, and half as long only where that can be done") {
  Findings findings = answered_findings();
  FoundAnswer lock = findings.answers[2];
  lock.what = Resource::waited;
  lock.certainty = Certainty::up_to;
  lock.lock = {"registry_lock", 25.8, 1740, 0.15, {}, std::nullopt, 7.6, Full::cpus};
  findings.answers = {lock};
  CHECK(sentences(findings).find(
            "Without its waits the CPUs would be full, if the work takes as much CPU time as now.") !=
        std::string::npos);
  CHECK(sentences(findings).find("Up to: an upper bound; it may be much less, because threads may wait for "
                                 "parts of a split lock, "
                                 "too.") != std::string::npos);
  CHECK(sentences(findings).find("held half as long") == std::string::npos);
  findings.answers[0].lock->runtime = RuntimeLock::cpython_gil;
  CHECK(sentences(findings).find("because processes have to exchange what threads share.") !=
        std::string::npos);
  findings.answers[0].lock->full = Full::lock;
  findings.answers[0].lock->full_lock = "LOCK_open";
  CHECK(sentences(findings).find("Without its waits lock LOCK_open would be held all the time.") !=
        std::string::npos);
}

TEST_CASE("A knot that explains an answer about a lock is about that lock") {
  Findings findings = answered_findings();
  REQUIRE(findings.knots[0].pattern == Pattern::blocking_io);
  FoundAnswer lock = findings.answers[2];
  lock.what = Resource::waited;
  lock.gain = 7.6;
  lock.certainty = Certainty::up_to;
  lock.knot = 0;
  lock.lock = {"lock of rows (InnoDB)", 25.8, 1740, 0.15, {}, std::nullopt, 7.6};
  const auto knot = [&findings] {
    const std::string text = to_text(findings, {});
    const std::size_t at = text.find("KNOT 1, explains answer 1");
    REQUIRE(at != std::string::npos);
    const std::size_t second = text.find('\n', at) + 1;
    return text.substr(second, text.find("\n  edge", second) - second);
  };
  findings.answers = {lock};
  CHECK(knot() ==
        "        lock contention: its threads waited 25.8 s for lock of rows (InnoDB), all together.");
  findings.knots[0].pattern = Pattern::lock_across_disk;
  CHECK(knot().starts_with("        lock held across a disk wait"));
}

TEST_CASE("A lock that a language's runtime has is told what people do about that one") {
  Findings findings = answered_findings();
  FoundAnswer lock = findings.answers[2];
  lock.what = Resource::waited;
  lock.lock.emplace();
  lock.lock->name = "lock of synchronized Java code";
  lock.lock->slept = 1;
  const ActorNames names(findings, [](std::string_view name) { return std::string(name); });
  const std::string held =
      "do not sleep while the lock is held, or split it, so that fewer threads need the same one";
  CHECK(advice(findings, lock, raw_names(findings)) == held);
  lock.lock->runtime = RuntimeLock::java_monitor;
  CHECK(advice(findings, lock, raw_names(findings)) == held + "; jstack shows whose monitor it is");
  CHECK(change_text(lock, names) == "lock of synchronized Java code split, or not waited for");
  lock.lock->runtime = RuntimeLock::cpython_gil;
  lock.lock->name = "lock of all Python code (GIL)";
  CHECK(advice(findings, lock, raw_names(findings)) ==
        "use processes instead of threads (or a build without GIL)");
  CHECK(change_text(lock, names) == "lock of all Python code (GIL) not waited for");
  // It is the clients' lock.
  lock.lock->outside = true;
  lock.lock->waiters = {{"python3", 8}};
  CHECK(change_text(lock, names) == "lock of all Python code (GIL) of python3×8 (outside) not waited for");
  CHECK(advice(findings, lock, raw_names(findings)) ==
        "change nothing in the target, which waits for these threads: use processes instead of threads (or a "
        "build without GIL)");
}
