// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <string>

#include "report/text.h"
#include "report/wording_advice.h"
#include "report/wording_answers.h"
#include "report/wording_files.h"
#include "report/wording_gains.h"
#include "unit/report/first_screen.h"
#include "unit/report/sample.h"

using namespace offwait;

TEST_CASE("The first screen has the progress, the best changes, what they rest on, and what to try") {
  CHECK(first_screen(answered_findings()) == R"(progress  responses to B, 1,762 waits/s for them

1  disk vda twice as fast: +82% (77 to 88) [sure]
   B (tid 12) waited 5.00 s, 1,000 waits of 5.00 ms each, 60% of it in fdatasync
   ← sync_it (log.cc:7)
   vda: busy 60% (something under way), 1.25 requests at a time, 3.75 ms each: latency-bound
   try   fewer syncs (one for several changes, or for those of several threads), or a device with
         lower latency
2  B's CPU work halved: +3% [sure]
Everything else: < 1%
)");
}

TEST_CASE("Where others wait as well, a stack is a part of the named threads' time") {
  Findings findings = answered_findings();
  findings.answers[0].evidence.others_s = 1;
  const std::string screen = sentences(findings);
  INFO(screen);
  CHECK(screen.find(
            "threads waited 5.00 s, 1,000 waits of 5.00 ms each; B (tid 12) 4.00 s of it, 75% of that in "
            "fdatasync ← sync_it (log.cc:7)") != std::string::npos);
  // More than one thread makes the requests.
  CHECK(screen.find("let one sync serve more changes") != std::string::npos);
}

TEST_CASE("An answer about syncs says what each of its two parts gains alone") {
  Findings findings = answered_findings();
  FoundAnswer& syncs = findings.answers[0];
  syncs.what = Resource::sync;
  syncs.syncs = {{"fdatasync", "msync"}, 2.5, {0.27, 0.25, 0.29}, {0.4, 0.3, 0.5}};
  CHECK(sentences(findings).find(
            "\n1  fdatasync() and msync() half as long: +82% (77 to 88) [sure] · its CPU time "
            "alone: +27% (25 to 29) · its waits for the disk alone: +40% (30 to 50) threads ran 2.50 s in "
            "fdatasync() and msync(); B (tid 12) waited 5.00 s, 1,000 waits of 5.00 ms each, 60% of it in "
            "fdatasync ← sync_it (log.cc:7)") != std::string::npos);
  syncs.syncs->calls = {"fsync", "pwrite"};
  CHECK(sentences(findings).find("\n1  fsync() and syncs by pwrite() half as long: +82%") !=
        std::string::npos);
  CHECK(sentences(findings).find(
            "try   fewer syncs (one for several changes, or for those of several threads), which gains as "
            "much where each of them takes no longer than now; a device with lower latency saves the waits "
            "alone") != std::string::npos);
}

TEST_CASE("An answer about what the kernel holds back says why, and what a disk had of the time") {
  Findings findings = answered_findings();
  FoundAnswer& pause = findings.answers[0];
  pause.what = Resource::pause;
  pause.pause = {KernelPause::unknown, 0.25};
  pause.gain = 20;
  pause.low = pause.high = std::nullopt;
  pause.certainty = Certainty::rough;
  pause.doubt = Doubt::pace_unseen;
  const std::string above = sentences(findings);
  INFO(above);
  CHECK(above.find("\n1  requests not held back above disk vda [rough] B (tid 12) waited 5.00 s, 1,000 "
                   "waits") != std::string::npos);
  CHECK(above.find("Rough: threads were held back, so how fast all else goes on without that did not "
                   "show, and no gain") != std::string::npos);
  CHECK(above.find("vda: had requests under way for 5.0% of that time; ") != std::string::npos);
  CHECK(
      above.find("try   a higher I/O limit, if its cgroup has one (io.max, blkio.throttle.*), or look at the "
                 "disk's I/O scheduler; a faster disk gains little") != std::string::npos);
  pause.device = std::nullopt;
  pause.pause->why = KernelPause::dirty_pages;
  const std::string dirty = sentences(findings);
  CHECK(dirty.find("\n1  writers not held back until dirty pages are written [rough]") != std::string::npos);
  CHECK(dirty.find("try   write less, or to a faster disk: ") != std::string::npos);
}

TEST_CASE("An answer about a disk names the files that much of its waiting is for") {
  Findings findings = answered_findings();
  const ActorNames names(findings, [](std::string_view name) { return std::string(name); });
  const auto waited = [&](const std::vector<AnswerEvidence::File>& files) {
    AnswerEvidence evidence = findings.answers[0].evidence;
    evidence.files = files;
    return waited_files_text(evidence, names);
  };
  FoundFileName log;
  log.path = "/data/log.0";
  FoundFileName other = log;
  other.path = "/other/log.0";
  FoundFileName journal;
  journal.kind = Object::Kind::journal;
  journal.disk = "vda";
  CHECK(waited({}).empty());
  CHECK(waited({{log, 0.4}}).empty());  // under a tenth
  CHECK(waited({{log, 3.05}, {journal, 0.6}, {other, 0.55}}) ==
        " for /data/log.0 (61%) and journal of vda (12%)");
  CHECK(waited({{log, 3.05}, {other, 0.4}, {journal, 0.3}}) == " for /data/log.0 (61%)");
  CHECK(waited({{log, 3.05}, {journal, 0.4}}) == " for log.0 (61%)");
  log.deleted = true;
  CHECK(waited({{log, 5}}) == " for log.0 (deleted) (100%)");
  findings.answers[0].evidence.files = {{other, 3.05}};
  CHECK(evidence_text(findings, findings.answers[0], names) ==
        "B (tid 12) waited 5.00 s, 1,000 waits of 5.00 ms each for log.0 (61%)");
}

TEST_CASE("Threads that are several actors of the report have one name and one number everywhere") {
  Findings findings = answered_findings();
  for (FoundAnswer& answer : findings.answers) {
    answer.evidence.alike = 7;
    answer.evidence.threads = 8;
    answer.evidence.name = "B-*";
  }
  const ActorNames names(findings, [](std::string_view name) { return std::string(name); });
  CHECK(change_text(findings.answers[0], names) == "disk vda twice as fast");
  CHECK(change_text(findings.answers[1], names) == "requests to disk vda of B-*×8 twice as fast");
  CHECK(change_text(findings.answers[2], names) == "CPU work of B-*×8 halved");
  CHECK(evidence_text(findings, findings.answers[2], names) == "B-*×8 ran 5.00 s (50% of one CPU)");
}

TEST_CASE("Where responses were counted, the progress has the number of clients and where they connect to") {
  Findings findings = answered_findings();
  FoundProgress& progress = findings.progress[0];
  const auto line = [&] {
    const std::string screen = first_screen(findings);
    return screen.substr(0, screen.find('\n'));
  };
  progress.connections = 20;
  progress.addresses = {{6379, ""}};
  CHECK(line() == "progress  1,762 responses/s to 20 clients on :6379");
  progress.connections = 0;
  CHECK(line() == "progress  1,762 responses/s to clients on :6379");
  progress.connections = 1;
  progress.addresses = {{0, std::string("\0a\x1b", 3)}, {80, ""}, {0, "/run/s"}, {81, ""}};
  CHECK(line() == "progress  1,762 responses/s to 1 client on @a\\x1b, :80 and 2 more");
  progress.addresses = {{6379, ""}};
  progress.active_s = 4.2;
  const std::string screen = first_screen(findings);
  INFO(screen);
  CHECK(screen.starts_with(
      "progress  1,762 responses/s to 1 client on :6379. Hardly any client got a response for "
      "58% of the\n          time: gains are of the rest\n"));
}

TEST_CASE("Only an answer that is sure, split or up to has a number") {
  Findings findings = answered_findings();
  findings.answers[0].certainty = Certainty::up_to;
  CHECK(gain_text(findings.answers[0]) == "+77% to +88%");
  findings.answers[0].low = -0.1;
  CHECK(gain_text(findings.answers[0]) == "up to +88%");
  findings.answers[0].low.reset();
  CHECK(gain_text(findings.answers[0]) == "up to +88%");
  findings.answers[0].low = 0.88;
  CHECK(gain_text(findings.answers[0]) == "up to +88%");
  findings.answers[0].gain = -0.3;
  findings.answers[0].low = -0.4;
  findings.answers[0].high = -0.2;
  CHECK(gain_text(findings.answers[0]) == "-40% to -20%");
  // The middle of a range that is wider than the gain says nothing.
  findings.answers[0].certainty = Certainty::approximate;
  findings.answers[0].gain = 0.21;
  findings.answers[0].low = 0.11;
  findings.answers[0].high = 1;
  CHECK(gain_text(findings.answers[0]) == "+11% to +100%");
  CHECK(marked_gain_text(findings.answers[0]) == "+11% to +100% [approximate]");
  findings.answers[0].low = -0.01;
  CHECK(gain_text(findings.answers[0]) == "up to +100%");
  findings.answers[0].high = 0.31;
  findings.answers[0].low = 0.11;
  CHECK(gain_text(findings.answers[0]) == "+21% (11 to 31)");
  // Three times as fast or more is told as that.
  CHECK(rate_gain_text(1.99) == "+199%");
  CHECK(rate_gain_text(2) == "×3.0");
  CHECK(rate_gain_text(10.19) == "×11");
  CHECK(gain_text({2.5, 2.4, 2.61, Certainty::sure}) == "×3.5 (×3.4 to ×3.6)");
  CHECK(gain_text({-0.3, -0.35, -0.25, Certainty::approximate}) == "-30% (-35 to -25)");
  CHECK(certainty_sentence(findings, {0.9, 0.87, 0.91, Certainty::up_to}).empty());
  CHECK(certainty_sentence(findings, {0.9, 0.7, 0.91, Certainty::up_to}) ==
        "Where between the two the gain is cannot be told, because what would limit next did not show.");
  findings.answers[0].certainty = Certainty::rough;
  CHECK(gain_text(findings.answers[0]).empty());
  findings.answers[0].doubt = Doubt::unknown_wakers;
  const std::string screen = first_screen(findings);
  CHECK(screen.find("1  disk vda twice as fast [rough]\n") != std::string::npos);
  CHECK(screen.find("Rough: for much of its waiting time it is unknown what ended the wait") !=
        std::string::npos);
  CHECK(screen.find("Everything else") == std::string::npos);
}

TEST_CASE("Where no change gains a fifth, the report says balanced, or idle") {
  Findings findings = answered_findings();
  findings.answers = {findings.answers[2]};
  CHECK(first_screen(findings).find(
            "Balanced: no single change gains more than 3%; the machine's CPUs were 75% busy.\n"
            "1  B's CPU work halved: +3% [sure]\n") != std::string::npos);
  findings.verdict = {};
  findings.verdict.rule = Verdict::Rule::idle;
  CHECK(first_screen(findings).find("There is no knot, and nothing is saturated") != std::string::npos);
  findings.progress.front().how = Progress::How::inferred;
  CHECK(first_screen(findings).find("Idle: no knot, and nothing is saturated.") != std::string::npos);
}

TEST_CASE("What gains less than 1% is no answer") {
  Findings findings = answered_findings();
  findings.answers = {findings.answers[2]};
  findings.answers[0].gain = 0.004;
  findings.answers[0].low.reset();
  findings.answers[0].high.reset();
  CHECK(first_screen(findings).find(
            "Balanced: no single change gains more than 1%; the machine's CPUs were 75% busy.\n"
            "Everything else: < 1%\n") != std::string::npos);
  CHECK(first_screen(findings).find("halved") == std::string::npos);
}

TEST_CASE("Kinds of progress that want different changes are named beside them") {
  Findings findings = answered_findings();
  findings.progress.push_back({{{"A", 3}}, Progress::How::inferred, {0}, std::nullopt, 0.3});
  findings.answers.erase(findings.answers.begin() + 1);
  findings.answers[1].progress = 1;
  for (FoundAnswer& answer : findings.answers) answer.certainty = Certainty::split;
  const std::string screen = first_screen(findings);
  CHECK(screen.find("What limits depends on whose progress counts; --progress GLOB names it:\n"
                    "1  for B: disk vda twice as fast: +82% (77 to 88) [split]\n") != std::string::npos);
  CHECK(screen.find("2  for A×3: B's CPU work halved: +3% [split]\n   B (tid 12) ran 5.00 s") !=
        std::string::npos);
}

TEST_CASE("The end of a command has its time in place of a rate") {
  Findings findings = answered_findings();
  findings.progress = {{{{"B", 1}}, Progress::How::end, {1}, std::nullopt, 0}};
  findings.progress[0].end_s = 4.21;
  CHECK(first_screen(findings).starts_with(
      "progress  the end of B, after 4.21 s; +100% means in half of that time\n"));
}

TEST_CASE("Calls of a function that the user counts have a rate and the threads that call it") {
  Findings findings = answered_findings();
  findings.progress = {{{{"B", 1}}, Progress::How::told, {1}, 1203.6, 0}};
  findings.progress[0].functions = {"ns::\x1b"};
  CHECK(first_screen(findings).starts_with("progress  1,204 calls/s of ns::\\x1b by B\n"));
}

TEST_CASE("A command that took less than a tenth of a second is too short") {
  Findings findings = answered_findings();
  findings.window_s = 0.5;
  findings.totals.waits = 3;
  findings.progress = {{{{"B", 1}}, Progress::How::end, {1}, std::nullopt, 0}};
  findings.progress[0].end_s = 0.4;
  CHECK(first_screen(findings).find("\n1  disk vda twice as fast: +82%") != std::string::npos);
  findings.progress[0].end_s = 0.09;
  const std::string screen = first_screen(findings);
  CHECK(screen.find("\n\nToo short to judge: it ended after 90.0 ms. Give it more to do.\n") !=
        std::string::npos);
  CHECK(screen.find("twice as fast") == std::string::npos);
}

TEST_CASE("What the user asked about follows the answers, with one sentence for each doubt") {
  Findings findings = answered_findings();
  findings.what_ifs = {{{0.61, 0.55, 0.66}, "disk vda /2, comm:\x1b cpu /2"},
                       {{0.4, {}, {}, Certainty::up_to}, "cpus *2"},
                       {{0.2, {}, {}, Certainty::rough, Doubt::not_simulated}, "cpus *3"},
                       {{-0.2, {}, {}, Certainty::rough, Doubt::not_simulated}, "cpus /2"},
                       {{0.01, {}, {}, Certainty::rough, Doubt::pieces_differ}, "disk vda *2"}};
  const std::string screen = first_screen(findings);
  CHECK(screen.substr(screen.find("Everything else")) == R"(Everything else: < 1%

what if disk vda /2, comm:\x1b cpu /2: +61% (55 to 66) [sure]
what if cpus *2: up to +40%
Up to: an upper bound; it may be much less, because what would limit next did not show.
what if cpus *3: a gain [rough]
Rough: the simulation of the CPUs does not reproduce the recording, so only the direction is given.
what if cpus /2: a loss [rough]
what if disk vda *2: little would change [rough]
Rough: parts of the recording differ much (a longer one may tell), so only the direction is given.
)");
  findings.answers[0].certainty = Certainty::split;
  CHECK(first_screen(findings).find("what if cpus *2: for B: up to +40%\n") != std::string::npos);
  findings.window_s = 0.4;
  CHECK(first_screen(findings).find("what if") == std::string::npos);
}

TEST_CASE("A recording that is too short has no answer but what the wait graph says") {
  Findings findings = answered_findings();
  findings.window_s = 0.4;
  CHECK(first_screen(findings) == R"(progress  responses to B, 1,762 waits/s for them

Too short to judge: 400 ms were recorded. Record for 10 s or more (-d 10s). A first guess: disk vda
twice as fast.
One knot limits throughput: at least one wait in it must get shorter before throughput can rise.
)");
  findings.window_s = 10;
  findings.totals.waits = 99;
  CHECK(first_screen(findings).find("Too short to judge: 99 waits in 10.0 s. Record for longer (-d).\n") !=
        std::string::npos);
}

TEST_CASE("What limits nothing is left out of an answered report, unless somebody is stuck") {
  Findings findings = answered_findings();
  const std::string text = to_text(findings, {});
  CHECK(text.find("LONG WAITS") == std::string::npos);
  INFO(text);
  CHECK(
      text.find("-v also shows 1 more knot, and what limits nothing: 1 long wait outside the knots, 1 actor "
                "in the\nbackground, 1 thread blocked throughout.\n") != std::string::npos);
  TextStyle verbose;
  verbose.verbosity = 1;
  CHECK(to_text(findings, verbose).find("LONG WAITS") != std::string::npos);
  findings.open_waits[0].holder = FoundThread{0, 11, "A", 11};
  CHECK(to_text(findings, {}).find("BLOCKED THROUGHOUT") != std::string::npos);
}

TEST_CASE("A service is named with who answers, what it did meanwhile, and what to try about that") {
  Findings findings = answered_findings();
  FoundAnswer answer;
  answer.what = Resource::remote;
  answer.gain = 0.86;
  answer.actor = 1;
  answer.evidence.time_s = 9.1;
  answer.evidence.waits = 7420;
  answer.evidence.threads = 1;
  answer.evidence.actor = 1;
  answer.evidence.share = 0.91;
  FoundService service;
  service.peers = {{Peer::Role::service, "127.0.0.1", 28081}};
  service.threads = {{"up_worker", 4}};
  service.slept = 0.95;
  service.ran = 0.04;
  service.runnable = 0.01;
  answer.service = service;
  findings.answers = {answer};
  CHECK(first_screen(findings) == R"(progress  responses to B, 1,762 waits/s for them

1  service 127.0.0.1:28081 (up_worker×4) twice as fast: +86% [sure]
   B (tid 12) waited 9.10 s (91% of its time), 7,420 waits of 1.23 ms each
   meanwhile up_worker×4 slept (95%) and ran (4.0%)
   try   make the service answer sooner: it sleeps meanwhile; or ask it less often (a cache), or for
         several things at a time
Everything else: < 1%
)");
  // A thread is told what it waited itself.
  findings.answers[0].evidence.others_s = 4;
  CHECK(
      sentences(findings).find("threads waited 9.10 s, 7,420 waits of 1.23 ms each; B (tid 12) 5.10 s of it "
                               "(91% of its time) meanwhile") != std::string::npos);
  findings.answers[0].evidence.others_s = 0;
  findings.answers[0].doubt = Doubt::held_back;
  CHECK(advice(findings, findings.answers[0], raw_names(findings))
            .starts_with("set TCP_NODELAY on the service's sockets"));
  findings.answers[0].service->threads.clear();
  findings.answers[0].service->peers.push_back({Peer::Role::service, "10.0.0.6", 53});
  findings.answers[0].certainty = Certainty::rough;
  findings.answers[0].doubt = Doubt::many_at_once;
  CHECK(first_screen(findings) == R"(progress  responses to B, 1,762 waits/s for them

1  service 127.0.0.1:28081 and 1 more twice as fast [rough]
   B (tid 12) waited 9.10 s (91% of its time), 7,420 waits of 1.23 ms each
   What the service did is not known: it is on another host, or who sends its packets could not be
   followed.
   try   make the service answer faster, or ask it less often (a cache), or for several things at a
         time
Rough: it waits for many connections at once, which does not show how long each request took. No
gain can be given, and the order may be wrong, too.
)");
}

TEST_CASE("More threads than there are, or as many as there are requests, and whose limit that is") {
  Findings findings = answered_findings();
  FoundAnswer answer = findings.answers[2];
  answer.more = MoreThreads{{0, 1, 7, false}, 3.02, false};
  answer.limit = LimitedBy::target;
  CHECK(more_threads_text(findings, answer, raw_names(findings)) == "· 7 threads instead of 1: up to ×4.0");
  CHECK(advice(findings, answer, raw_names(findings)) ==
        "share it among more threads: 6 threads wait while 1 does it; or do less of this work, or make its "
        "code cheaper");
  answer.more->requests = true;
  answer.more->threads = 2;
  answer.more->waiting = 47;
  CHECK(more_threads_text(findings, answer, raw_names(findings)) == "· more than 2 workers: up to ×4.0");
  // The certainty is that of the answer's gain alone.
  findings.answers[0].more = answer.more;
  CHECK(sentences(findings).find("+82% (77 to 88) [sure] · more than 2 workers: up to "
                                 "×4.0") != std::string::npos);
  // A disk was never asked for as many requests at a time.
  findings.disks.resize(1);
  findings.disks[0].actor = *(answer.device = 2);
  findings.disks[0].activity = FoundDiskActivity{};
  findings.disks[0].activity->in_flight_while_busy = 1;
  CHECK(more_threads_text(findings, answer, raw_names(findings)) ==
        "· more than 2 workers: up to ×4.0, if disk vda serves 47 requests at a time");
  findings.disks[0].serves = 4;
  CHECK(more_threads_text(findings, answer, raw_names(findings))
            .ends_with(", but disk vda serves 4 requests at a time"));
  answer.device.reset();
  answer.what = Resource::remote;
  answer.service = FoundService{{{Peer::Role::service, "127.0.0.1", 28081}}, {{"up_worker", 4}}};
  CHECK(advice(findings, answer, raw_names(findings))
            .starts_with(
                "run more workers in the target: 45 requests wait while 2 workers ask the service; or "));
  answer.more->threads = 1;
  CHECK(advice(findings, answer, raw_names(findings))
            .find("46 requests wait while 1 worker asks the service;") != std::string::npos);
  answer.more->threads = 2;
  answer.service->unknown = 1;
  CHECK(advice(findings, answer, raw_names(findings)).find("; or find out what it does (record it); or") !=
        std::string::npos);
  answer.more->of_service = true;
  CHECK(more_threads_text(findings, answer, raw_names(findings)) ==
        "· 47 requests at a time instead of 2: up to ×4.0");
  CHECK(advice(findings, answer, raw_names(findings))
            .starts_with("raise the target's own limit (a pool, connections): 45 requests wait while 2 "
                         "are at the service; or "));
  answer.limit = LimitedBy::service;
  CHECK(advice(findings, answer, raw_names(findings))
            .starts_with("run more workers in the service, whose limit it is: 45 requests wait while 2 "
                         "are under way there; or "));
  answer.limit = LimitedBy::unknown;
  CHECK(advice(findings, answer, raw_names(findings))
            .starts_with("let it do more at a time: 45 requests wait while 2 are under way (whether the "
                         "target's connections or the service's workers limit cannot be told); or "));
  // What gains most comes first.
  answer.more->gain = answer.gain / 2;
  CHECK(advice(findings, answer, raw_names(findings)).starts_with("find out what it does (record it); or"));
}

TEST_CASE("Of groups that are parts of one actor, each has its own name and number, and each its line") {
  Findings findings = answered_findings();
  findings.actors[1].kind = ActorKind::group;
  findings.actors[1].name = "sleep";
  findings.actors[1].tids.assign(138, 1);
  FoundAnswer first = findings.answers[2];
  first.what = Resource::sleep;
  first.gain = 0.5;
  first.low.reset();
  first.evidence.threads = 90;
  first.evidence.name = "sleep";
  first.evidence.tid = 1000;
  FoundAnswer second = first;
  second.evidence.threads = 48;
  second.evidence.tid = 1001;
  FoundAnswer again = first;
  again.progress = 1;
  findings.answers = {first, second, again};
  const std::string screen = first_screen(findings);
  INFO(screen);
  CHECK(screen.find("1  sleeps of sleep×90 half as long: +50% [sure]\n   sleep×90 slept 5.00 s") !=
        std::string::npos);
  CHECK(screen.find("2  sleeps of sleep×48 half as long: +50% [sure]\n") != std::string::npos);
  CHECK(screen.find("\n3 ") == std::string::npos);
}

TEST_CASE("Data that TCP held back is told first, with what to do, where it was seen") {
  Findings findings = answered_findings();
  CHECK(first_screen(findings).find("TCP") == std::string::npos);
  findings.held_back = HeldBack{0, false, {Peer::Role::service, "127.0.0.1", 7101}, 230, 9.9, 0.99};
  const std::string screen = first_screen(findings);
  INFO(screen);
  CHECK(
      screen.find(
          "\n\nA waited 230 times, 43.0 ms each (99% of its time), for data that 127.0.0.1:7101 had written: "
          "TCP\nheld it back until the packet before was acknowledged (Nagle's algorithm, delayed ACK). Set\n"
          "TCP_NODELAY there, or write it with one call.\n1  disk vda twice as fast") != std::string::npos);
  findings.cpu_supply.cause = CpuSupply::Cause::others;
  findings.actors[0].time.runnable_s = findings.actors[0].time.lifetime_s;
  const std::string beside = sentences(findings);
  CHECK(beside.find("with one call. Other programs have") == std::string::npos);  // a line of its own
  CHECK(beside.find("Nagle's algorithm") < beside.find("Other programs have CPUs"));
  findings.held_back->asked = true;
  findings.verdict.rule = Verdict::Rule::idle;
  findings.answers.clear();
  const std::string asked = std::regex_replace(first_screen(findings), std::regex("\n"), " ");
  CHECK(asked.find("until 127.0.0.1:7101 had all of the request that it had written: TCP held it back") !=
        std::string::npos);
  CHECK(asked.find("Set TCP_NODELAY on its socket, or write it with one call.") != std::string::npos);
  CHECK(asked.find("Idle") == std::string::npos);
}

TEST_CASE("Where others have most of the CPUs that the target lacks, they are named first") {
  Findings findings = answered_findings();
  CHECK(first_screen(findings).find("Other programs") == std::string::npos);
  findings.cpu_supply.cause = CpuSupply::Cause::others;
  findings.cpu_supply.target_cpus = 0.7;
  findings.cpu_supply.other_cpus = 1.25;
  findings.cpu_supply.others = {{71, "rustc", 11, 0.5}, {72, "make\n", 0.1, 0.5}};
  // It hardly lacks any.
  findings.actors[0].time.runnable_s = 0.04 * findings.actors[0].time.lifetime_s;
  CHECK(first_screen(findings).find("Other programs") == std::string::npos);
  findings.actors[0].time.runnable_s = 0.06 * findings.actors[0].time.lifetime_s;
  // A disk limits: that the target lacks CPUs is said where it stands how long.
  CHECK(first_screen(findings).find("Other programs") == std::string::npos);
  CHECK(to_text(findings, {}).find("CPUs 75% busy") != std::string::npos);
  FoundAnswer work = findings.answers[0];
  work.what = Resource::cpu;
  work.actor = 1;
  findings.answers.insert(findings.answers.begin(), work);
  INFO(first_screen(findings));
  CHECK(first_screen(findings).find("\n\nOther programs have CPUs that the target lacks: of 2, it has 0.70, "
                                    "others 1.25 (rustc (pid 71) "
                                    "1.15,\n"
                                    "ended children of make\\x0a (pid 72) 0.06).\n1  B's CPU work halved") !=
        std::string::npos);
  CHECK(to_text(findings, {}).find("CPUs 75% busy") == std::string::npos);
}
