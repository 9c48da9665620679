// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <string>

#include "report/wording_advice.h"
#include "report/wording_answers.h"
#include "unit/report/sample.h"

using namespace offwait;

TEST_CASE("Advice for a disk follows what most of the waiting is for, and names no cache for writes") {
  Findings findings = answered_findings();
  const auto try_what = [&](const ActionTimes& actions, std::size_t threads) {
    findings.answers[0].evidence.actions = actions;
    findings.answers[0].evidence.threads = threads;
    return advice(findings, findings.answers[0], raw_names(findings));
  };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  for (const std::size_t threads : {1U, 8U}) {
    const std::string syncs = try_what({3, 2, 0, 0}, threads);
    const std::string writes = try_what({1, 3, 1, 0}, threads);
    const std::string both = try_what({2, 3, 1, 0}, threads);
    const std::string reads = try_what({0, 1, 3, 1}, threads);
    const std::string others = try_what({0, 1, 1, 3}, threads);
    CHECK(says(syncs, "sync"));
    CHECK(says(writes, "larger writes"));
    CHECK(says(both, "sync"));
    CHECK(says(both, "write before it") == (threads > 1));
    CHECK_FALSE(says(both, "O_DIRECT"));
    CHECK(says(reads, "a larger cache"));
    for (const std::string& text : {syncs, writes, both, others}) CHECK_FALSE(says(text, "cache"));
    for (const std::string& text : {reads, others}) CHECK_FALSE(says(text, "sync"));
    findings.answers[0].more = MoreThreads{{0, 2, 7, true}, 3, false};
    const std::string more = try_what({0, 1, 3, 1}, threads);
    findings.answers[0].more->threads = 1;  // it may be made so
    const std::string single = try_what({0, 1, 3, 1}, threads);
    findings.answers[0].more.reset();
    CHECK(more.starts_with(
        "run more threads like it, if the program can: 5 requests wait while 2 are served; or fewer"));
    CHECK(single.ends_with(
        "; or run more threads like it, if the program can: 6 requests wait while 1 is served"));
    // One sync serves all that was written before, by whichever thread.
    for (const std::string& text : {syncs, both}) {
      CHECK_FALSE(says(text, "more threads do not help one caller"));
      CHECK(says(text, threads > 1 ? "group commit" : "several threads"));
    }
  }
}

TEST_CASE("Advice names only what applies") {
  Findings findings = answered_findings();
  FoundAnswer answer = findings.answers[0];
  answer.evidence.threads = 8;
  CHECK(advice(findings, answer, raw_names(findings)).find("more threads") == std::string::npos);
  answer.what = Resource::cpu;
  answer.actor = 0;
  findings.actors[0].outside = true;
  CHECK(advice(findings, answer, raw_names(findings)) ==
        "change nothing in the target, which waits for it: make this client (or load generator, or consumer) "
        "faster, or run more of it");
  // It ran for longer than the CPUs were idle.
  findings.recording.cpus = 2;
  findings.recording.cpu_busy_ns = 9 * (findings.recording.cpu_idle_ns = 1'000'000'000);
  answer.evidence.time_s = 0.21 * findings.window_s;
  CHECK(advice(findings, answer, raw_names(findings)) ==
        "run this client (or load generator, or consumer) on another machine, or make it cheaper: the target "
        "waits for it, and there is no CPU left for it here");
  findings.progress[0].requests = Requests{1, 2};
  CHECK(advice(findings, answer, raw_names(findings)).ends_with(": it uses CPUs that the target needs"));
}

TEST_CASE("Advice for a client that is not responded to is about the target") {
  Findings findings = answered_findings();
  FoundAnswer answer = findings.answers[0];
  answer.what = Resource::cpu;
  answer.actor = 0;
  findings.actors[0].outside = true;
  answer.doubt = Doubt::unanswered;
  CHECK(advice(findings, answer, raw_names(findings)) ==
        "raise the limit that keeps the target from responding on most of this client's connections (of "
        "connections, open files or threads: its log says which)");
}

TEST_CASE("That most connections had no response stands first") {
  Findings findings = answered_findings();
  FoundAnswer& answer = findings.answers[0];
  answer.what = Resource::cpu;
  answer.actor = 0;
  CHECK(answers_heading(findings, heading_of(findings), raw_names(findings)).empty());
  answer.doubt = Doubt::unanswered;
  CHECK(answers_heading(findings, heading_of(findings), raw_names(findings)) ==
        "The target did not respond on most connections of A: raise the limit that keeps it from that (of "
        "connections, open files or threads: its log says which).");
}

TEST_CASE("Work of tasks is shared among more of them, whatever the number of threads") {
  Findings findings = answered_findings();
  FoundAnswer answer = findings.answers[0];
  answer.what = Resource::cpu;
  answer.actor = 1;
  answer.evidence.threads = 5;
  findings.recording.cpus = 2;
  findings.recording.cpu_busy_ns = 3 * (findings.recording.cpu_idle_ns = 1'000'000'000);
  const auto text = [&] { return advice(findings, answer, raw_names(findings)); };
  CHECK(text() == "do less of this work, or make its code cheaper");
  answer.evidence.runtime = Runtime::go;
  CHECK(text() ==
        "do less of this work, make its code cheaper, or share it among more goroutines (0.50 of 2 CPUs were "
        "idle)");
  // No CPU is idle for them.
  findings.recording.cpu_busy_ns = 8 * findings.recording.cpu_idle_ns;
  CHECK(text() == "do less of this work, or make its code cheaper");
  // Only one greenlet runs at a time.
  findings.recording.cpu_busy_ns = 3 * findings.recording.cpu_idle_ns;
  answer.evidence.runtime = Runtime::greenlets;
  CHECK(text() == "do less of this work, or make its code cheaper");
}

TEST_CASE("A database that looks at one row after the other is told to have an index") {
  Findings findings = answered_findings();
  FoundAnswer answer = findings.answers[0];
  answer.what = Resource::cpu;
  answer.actor = 1;
  answer.evidence.work = KnownWork::row_filter;
  CHECK(advice(findings, answer, raw_names(findings))
            .starts_with("an index, or a query that looks at fewer rows"));
}

TEST_CASE("Who else has much of the disk is named beside an answer about it") {
  Findings findings = answered_findings();
  FoundAnswer& answer = findings.answers[0];
  CHECK(device_text(findings, answer, raw_names(findings)).find(" has ") == std::string::npos);
  answer.other_user = OtherDiskUser{0, 0.2};
  CHECK(device_text(findings, answer, raw_names(findings))
            .ends_with("; A (tid 11) has 20% of the requests under way"));
  CHECK(advice(findings, answer, raw_names(findings))
            .ends_with("; or let A ask less often, for less at a time, or of another disk"));
  answer.other_user->part = 0.7;
  CHECK(advice(findings, answer, raw_names(findings))
            .starts_with("let A ask less often, for less at a time, or of another disk; or "));
}

TEST_CASE("Threads whose syncs serve others already are not told to let them") {
  Findings findings = answered_findings();
  FoundAnswer& answer = findings.answers[0];
  answer.evidence.threads = 8;
  CHECK(advice(findings, answer, raw_names(findings)).starts_with("let one sync serve more changes"));
  answer.shares_syncs = true;
  CHECK(advice(findings, answer, raw_names(findings))
            .starts_with("sync less often (one sync serves several threads already)"));
}

TEST_CASE("What there may be more of is called by what it is") {
  Findings findings = answered_findings();
  FoundAnswer& answer = findings.answers[0];
  answer.more = MoreThreads{{0, 2, 7, true}, 3, false};
  const auto more = [&](std::vector<std::int32_t> tids, std::vector<std::int32_t> tgids) {
    answer.evidence.actor = 1;
    findings.actors[1].tids = std::move(tids);
    findings.actors[1].tgids = std::move(tgids);
    const std::string text = advice(findings, answer, raw_names(findings));
    return text.substr(0, text.find(", if"));
  };
  CHECK(more({12}, {11}) == "run more threads like it");
  CHECK(more({12, 13}, {11}) == "run more threads like it");
  CHECK(more({12, 13}, {12, 13}) == "run more processes like these");
  CHECK(more({12}, {12}) == "run more processes, or threads, like it");
}

TEST_CASE("CPU work of a known kind has its own advice: garbage a larger heap, syncs fewer of them") {
  Findings findings = answered_findings();
  FoundAnswer& cpu = findings.answers[2];
  CHECK(advice(findings, cpu, raw_names(findings)).starts_with("do less of this work"));
  cpu.evidence.work = KnownWork::garbage;
  CHECK(advice(findings, cpu, raw_names(findings)) ==
        "a larger heap, or allocate less: these threads collect garbage");
  cpu.evidence.work = KnownWork::sync;
  CHECK(advice(findings, cpu, raw_names(findings)).starts_with("fewer syncs (one for several changes"));
}
