// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/service_use.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "replay/answers.h"
#include "replay/candidates.h"
#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

constexpr long kRounds = 100;

std::string process(int tid) { return "tgid=" + std::to_string(tid) + " comm="; }

/// In each round of 10 ms the target computes for 1 ms and asks the service. The database behind that sleeps
/// for 4 ms and computes for 3, and the thread that answers computes for 2.
Trace app_and_service() {
  test::Program program(kRounds * 10'000 + 1);
  program.line("thread 1 " + process(1) + "app start=0 exit=-");
  program.line("thread 2 " + process(2) + "proxy start=0 exit=- outside=yes");
  program.line("thread 3 " + process(3) + "db start=0 exit=- outside=yes");
  const std::string service = "class=net peer=service:127.0.0.1:81";
  for (long at = 0; at < kRounds * 10'000; at += 10'000) {
    program.wait(1, at + 1000, at + 10'000, "thread:2", service);
    program.wait(2, at, at + 1000, "thread:1", "class=net peer=client:127.0.0.1:40000");
    program.wait(2, at + 1500, at + 8500, "thread:3", "class=net peer=service:127.0.0.1:82");
    program.wait(3, at, at + 1500, "thread:2", "class=net peer=client:127.0.0.1:40001");
    program.wait(3, at + 1500, at + 5500, "timer", "class=sleep");
  }
  return program.trace();
}

ServiceUse use_of_first(const Trace& trace) {
  const ThreadGroups groups = group_threads(trace);
  return uses_of_services(trace, groups, kinds_of_waits(trace, groups)).at(0);
}

double ms(Nanos ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

TEST_CASE("what a service did is followed to the threads that it waits for") {
  const ServiceUse use = use_of_first(app_and_service());
  CHECK(ms(use.all_ns) == Approx(9 * kRounds));
  CHECK(ms(use.ran_ns) == Approx(5 * kRounds));
  CHECK(ms(use.slept_ns) == Approx(4 * kRounds));
  CHECK(use.ran_ns + use.slept_ns == use.all_ns);
}

TEST_CASE("every way to spend the time that a service is waited for has its sum") {
  test::Program program(100'000);
  program.line("thread 1 " + process(1) + "app start=0 exit=-");
  program.line("thread 2 " + process(2) + "db seen=5000000 start=0 exit=- outside=yes");
  program.line("thread 3 " + process(3) + "other start=0 exit=-");
  program.line("thread 4 " + process(4) + "stranger start=0 exit=- outside=yes");
  program.wait(1, 0, 100'000 - 1, "thread:2", "class=net peer=service:127.0.0.1:81");
  program.wait(2, 10'000, 20'000, "disk:vda", "class=disk");
  program.wait_and_queue(2, 20'000, 30'000, 35'000, "timer", "class=sleep");
  program.wait(2, 40'000, 50'000, "thread:3", "class=net");
  program.wait(2, 50'000, 60'000, "nic:eth0", "class=net peer=service:10.0.0.5:53");
  program.wait(2, 60'000, 70'000, "nic:lo", "class=net peer=client:127.0.0.1:9");
  program.wait(2, 70'000, 80'000, "-", "class=other");
  program.line("preempt 2 out=80000000 run=82000000");
  program.line("unknown 2 from=90000000 to=93000000");
  const ServiceUse use = use_of_first(program.trace());
  CHECK(ms(use.disk_ns) == 10);
  CHECK(use.disk != kNoActor);
  CHECK(ms(use.slept_ns) == 10);
  CHECK(ms(use.runnable_ns) == 5 + 2);
  CHECK(ms(use.remote_ns) == 10);
  CHECK(ms(use.request_ns) == 20);
  CHECK(ms(use.unknown_ns) == 5 + 10 + 3);
  CHECK(use.others_ns == 0);
  CHECK(use.disk_ns + use.slept_ns + use.runnable_ns + use.remote_ns + use.request_ns + use.unknown_ns +
            use.ran_ns ==
        use.all_ns);
}

TEST_CASE("a service twice as fast is one candidate, for all that is behind it") {
  const Trace trace = app_and_service();
  const ThreadGroups groups = group_threads(trace);
  AnswerOptions options;
  options.asked = {{{Resource::remote, kNoGroup, kNoActor, 0.25, 0}}};
  const Answers found = answers_of(trace, facts_of(trace, groups, {}), options);
  REQUIRE(found.services.size() == 1);
  REQUIRE(found.answers.size() == 2);
  const Answer& service = found.answers[0];
  CHECK(service.change.resource == Resource::remote);
  CHECK(service.change.service == 0);
  CHECK(service.gain == Approx(10.0 / 5.5 - 1).margin(0.01));
  CHECK(service.certainty == Certainty::sure);
  CHECK(service.use.waits == kRounds);
  CHECK(service.use.share == Approx(0.9));
  CHECK(ms(service.use.time_ns) == Approx(9 * kRounds));
  CHECK(groups.groups[service.use.group].name == "app");
  CHECK(found.answers[1].change.resource == Resource::cpu);
  CHECK(groups.groups[found.answers[1].change.group].name == "app");
  REQUIRE(found.asked.size() == 1);
  CHECK(found.asked[0].gain == Approx(10 / 3.25 - 1).margin(0.01));
  // Progress is the target's, not the service's.
  REQUIRE(found.progress.size() >= 1);
  for (const Progress& progress : found.progress) {
    REQUIRE(progress.parts.size() == 1);
    CHECK(progress.parts[0].groups == std::vector<GroupId>{groups.group_of[0]});
  }
}

TEST_CASE("services of other hosts are candidates of their own, in lanes and in the simulation") {
  for (const int cpus : {4, 1}) {
    test::Program program(400'000, cpus);
    program.thread(1, "app");
    if (cpus == 1) program.thread(2, "spin");
    for (long at = 0; at < 400'000; at += 10'000) {
      program.wait(1, at + 1000, at + 4000, "nic:eth0", "class=net peer=service:10.0.0.5:1");
      program.wait(1, at + 4000, at + 10'000, "nic:eth0", "class=net peer=service:10.0.0.6:2");
      if (cpus == 1)
        program.line("preempt 2 out=" + std::to_string(at * 1000) +
                     " run=" + std::to_string(at * 1000 + 1'000'000));
    }
    const Answers found = test::answers(program.trace(), {}, {"app"});
    REQUIRE(found.services.size() == 2);
    REQUIRE(found.answers.size() >= 3);
    CHECK(found.cpus_short == (cpus == 1));
    CHECK(found.simulated == (cpus == 1));
    CHECK(found.answers[0].change.service == 1);
    CHECK(found.answers[0].gain == Approx(10.0 / 7 - 1).margin(cpus == 1 ? 0.1 : 0.01));
    CHECK(found.answers[1].change.service == 0);
    CHECK(found.answers[1].gain == Approx(10 / 8.5 - 1).margin(cpus == 1 ? 0.1 : 0.01));
  }
}

TEST_CASE("a thread that a service starts for a new connection goes at the pace of who it answers") {
  constexpr long kHalf = 50 * 10'000;
  test::Program program(2 * kHalf + 1);
  program.line("thread 1 " + process(1) + "app start=0 exit=-");
  program.line("thread 2 tgid=2 comm=db start=0 exit=" + std::to_string(kHalf * 1000) + " outside=yes");
  program.line("thread 3 tgid=2 comm=db start=" + std::to_string(kHalf * 1000) + " exit=- outside=yes");
  for (long at = 0; at < 2 * kHalf; at += 10'000) {
    const int db = at < kHalf ? 2 : 3;
    program.wait(1, at + 1000, at + 9999, "thread:" + std::to_string(db),
                 "class=net peer=service:127.0.0.1:81");
    program.wait(db, at, at + 1000, "thread:1", "class=net peer=client:127.0.0.1:4000");
    program.wait(db, at + 1000, at + 9000, "timer", "class=sleep");
  }
  const Trace trace = program.trace();
  const Answers found = test::answers(trace);
  REQUIRE(!found.answers.empty());
  CHECK(found.answers[0].change.service == 0);
  CHECK(found.answers[0].certainty == Certainty::sure);
  CHECK(found.answers[0].gain == Approx(10 / 5.5 - 1).margin(0.03));
}

namespace {

/// In each round of 10 ms the target asks a service, computes for 1 ms of it, and is answered by a thread
/// that the service started for this connection alone: it is recorded from its answer on.
test::Program one_thread_for_each_connection(int cpus) {
  constexpr long kRound = 10'000;
  test::Program program(kRounds * kRound + 1, cpus);
  program.line("thread 1 " + process(1) + "app start=0 exit=-");
  if (cpus == 1) program.thread(2, "spin");
  for (long round = 0; round < kRounds; ++round) {
    const long at = round * kRound;
    const std::string db = std::to_string(1000 + round);
    const auto ns = [at](long us) { return std::to_string((at + us) * 1000); };
    program.line("thread " + db + " tgid=999 comm=db start=" + ns(1200) + " exit=" + ns(9900) +
                 " seen=" + ns(9800) + " outside=yes");
    program.wait(1, at + 1000, at + 9799, "thread:" + db, "class=net peer=service:127.0.0.1:81");
    program.wait(1000 + static_cast<int>(round), at + 9810, at + 9850, "thread:1",
                 "class=net peer=client:127.0.0.1:4000");
    if (cpus == 1) program.line("preempt 2 out=" + ns(0) + " run=" + ns(1000));
  }
  program.line(
      "responses 1 port=80 count=100 connections=100 first=0 last=1000000000 under_way=990000000 "
      "unread=7000000000");
  return program;
}

}  // namespace

TEST_CASE(
    "a service that starts a thread for each connection answers in half of the time if it is twice as fast") {
  for (const int cpus : {8, 1}) {
    const Trace trace = one_thread_for_each_connection(cpus).trace();
    const Answers found = test::answers(trace);
    CHECK(found.simulated == (cpus == 1));
    REQUIRE(!found.answers.empty());
    const Answer& first = found.answers[0];
    CHECK(first.change.service == 0);
    CHECK(first.gain == Approx(10 / 5.6 - 1).margin(cpus == 1 ? 0.1 : 0.03));
    if (cpus == 1) continue;
    CHECK(first.certainty == Certainty::sure);
    // Eight threads that ask it do eight times as much, and not what each of two changes to their waits
    // gives.
    REQUIRE(first.more);
    CHECK(first.more->gain == Approx(7).margin(0.1));
  }
}

namespace {

/// A proxy that polls eight services' threads and eight clients, and computes for 0.4 of each millisecond.
/// Each of the threads of the service sleeps for all of the time but 0.1 of each 8 ms.
Trace proxy(const std::string& peer) {
  test::Program program(400'000);
  program.line("thread 1 " + process(1) + "proxy start=0 exit=-");
  for (int i = 2; i < 10; ++i) {
    program.line("thread " + std::to_string(i) + " tgid=2 comm=db start=0 exit=- outside=yes");
  }
  for (long at = 0; at < 400'000; at += 1000) {
    const int db = 2 + static_cast<int>(at / 1000 % 8);
    const std::string waker = peer.empty() ? "nic:eth0" : "thread:" + std::to_string(db);
    program.wait(1, at, at + 300, waker, "class=poll peer=service:" + (peer.empty() ? "10.0.0.5:81" : peer));
    program.wait(1, at + 500, at + 800, "nic:eth0", "class=poll peer=client:10.0.0.7:4000");
    if (!peer.empty()) {
      program.wait(db, at + 300, at + 400, "thread:1", "class=net peer=client:127.0.0.1:4000");
      program.wait(db, at + 400, std::min(at + 8299, 399'999L), "timer", "class=sleep");
    }
  }
  program.line("responses 1 port=80 count=400 connections=8 first=0 last=399999999");
  return program.trace();
}

}  // namespace

TEST_CASE("for a proxy with many requests under way, the requests at the service bound the gain") {
  const Trace trace = proxy("127.0.0.1:81");
  const Answers found = test::answers(trace);
  REQUIRE(!found.answers.empty());
  const Answer& first = found.answers[0];
  CHECK(first.change.service == 0);
  CHECK(first.use.other_polls == Approx(0.3).margin(0.01));
  CHECK(first.use.busy == Approx(0.4).margin(0.01));
  CHECK(first.certainty == Certainty::up_to);
  CHECK(first.gain == Approx(1).margin(0.05));
  REQUIRE(first.low);
  CHECK(*first.low < 0.5);
  // Elsewhere nothing tells how many requests were under way.
  const Trace far = proxy("");
  const Answers other = test::answers(far);
  const auto service = std::find_if(other.answers.begin(), other.answers.end(),
                                    [](const Answer& answer) { return answer.change.service == 0; });
  REQUIRE(service != other.answers.end());
  CHECK(service->doubt == Doubt::many_at_once);
}
