// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/answers.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "replay/gains.h"
#include "unit/replay/answers.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

const char* const kQueue = "class=futex stack=f;--;pthread_cond_wait;main";

/// Two programs in one: `a` waits for the disk for most of the time, `b` computes for most of it.
test::Program two_services(long rounds) {
  test::Program program(rounds * 4000);
  program.thread(1, "a");
  program.thread(2, "b");
  for (long at = 0; at < rounds * 4000; at += 4000) {
    program.wait(1, at + 500, at + 4000, "disk:vda", "class=disk");
    program.wait(2, at + 3500, at + 4000, "disk:vdb", "class=disk");
  }
  return program;
}

/// A command of 500 ms: it computes for 100 ms, waits 300 ms for a child that computes, and computes again.
Trace make_and_compiler() {
  test::Program program(510'000, 1);
  program.line("thread 1 tgid=1 comm=make start=0 exit=500000000");
  program.line("thread 2 tgid=2 comm=cc start=100000000 exit=400000001 parent=1");
  program.wait(1, 100'001, 400'000, "thread:2", "class=child");
  Trace trace = program.trace();
  trace.recording.command = 1;
  return trace;
}

/// A command of 800 ms: it computes for 100 ms, then two children share a CPU for 600 ms, then it computes
/// again.
Trace make_and_two_compilers() {
  test::Program program(810'000, 1);
  program.line("thread 1 tgid=1 comm=make start=0 exit=800000000");
  program.line("thread 2 tgid=2 comm=cc start=100000000 exit=690000000 parent=1");
  program.line("thread 3 tgid=3 comm=cc start=100000000 exit=700000000 parent=1");
  program.wait_and_queue(1, 100'001, 690'000, 700'000, "thread:2", "class=child");
  for (int ms = 100; ms < 690; ms += 20) {
    program.line(fmt::format("preempt 3 out={}000000 run={}000000", ms, ms + 10));
    if (ms + 20 < 690) program.line(fmt::format("preempt 2 out={}000000 run={}000000", ms + 10, ms + 20));
  }
  Trace trace = program.trace();
  trace.recording.command = 1;
  return trace;
}

std::string name_of(const Trace& trace, const Answer& answer) {
  const ThreadGroups groups = group_threads(trace);
  const std::string actor =
      answer.change.group == kNoGroup ? "" : " " + groups.groups[answer.change.group].name;
  const std::string device =
      answer.change.device == kNoActor ? "" : " " + trace.actors[answer.change.device].name;
  return std::string(to_string(answer.change.resource)) + actor + device;
}

}  // namespace

TEST_CASE("the part that gains most comes first, with its gain and a range around it") {
  test::Program program(400'000);
  program.thread(1, "worker");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait(1, at + 1000, at + 4000, "disk:vda", "class=disk");
  }
  const Trace trace = program.trace();
  const Answers found = test::answers(trace);
  REQUIRE(found.answers.size() == 3);
  CHECK(found.answers[0].gain == Approx(0.6).margin(0.01));
  CHECK(found.answers[0].change.device != kNoActor);
  CHECK(found.answers[0].certainty == Certainty::sure);
  CHECK(*found.answers[0].low <= found.answers[0].gain);
  CHECK(*found.answers[0].high >= found.answers[0].gain);
  CHECK(name_of(trace, found.answers[2]) == "cpu worker");
  CHECK(found.answers[2].gain == Approx(1.0 / 7).margin(0.01));
  CHECK(!found.cpus_short);
}

TEST_CASE("two services in one target split the answer, unless the user says which counts") {
  const Trace trace = two_services(100).trace();
  const Answers found = test::answers(trace);
  REQUIRE(found.answers.size() >= 2);
  CHECK(found.answers[0].certainty == Certainty::split);
  CHECK(found.answers[0].progress == 0);
  CHECK(found.answers[1].progress != 0);
  const Answers told = test::answers(trace, {}, {"b"});
  REQUIRE(told.progress.size() == 1);
  CHECK(told.progress[0].how == Progress::How::told);
  CHECK(name_of(trace, told.answers[0]) == "cpu b");
  CHECK(told.answers[0].gain == Approx(4 / 2.25 - 1).margin(0.01));
  CHECK(told.answers[0].certainty == Certainty::sure);
}

TEST_CASE(
    "where parts of a recording differ much, a gain is approximate, or \"up to\" if it may be nothing") {
  const auto disk_gain = [](const std::array<long, 4>& waited) {
    test::Program program(1'600'000);
    program.thread(1, "worker");
    for (long at = 0; at < 1'600'000; at += 4000) {
      program.wait(1, at + 4000 - waited.at(static_cast<std::size_t>(at / 400'000)), at + 4000, "disk:vda",
                   "class=disk");
    }
    return test::answers(program.trace()).answers.at(0);
  };
  const Answer differs = disk_gain({2500, 2800, 2900, 3100});
  CHECK(differs.gain == Approx(4 / (4 - 2.825 / 2) - 1).margin(0.02));
  CHECK(differs.certainty == Certainty::sure);
  const Answer differs_much = disk_gain({1900, 2500, 2700, 3300});
  CHECK(differs_much.certainty == Certainty::approximate);
  CHECK(differs_much.doubt == Doubt::pieces_differ);
  CHECK(*differs_much.low > kWorthAnAnswer);
  CHECK(*differs_much.low < differs_much.gain / 2);
  const Answer may_be_nothing = disk_gain({2100, 2100, 2100, 3900});
  CHECK(may_be_nothing.certainty == Certainty::up_to);
  CHECK(may_be_nothing.doubt == Doubt::pieces_differ);
  CHECK(may_be_nothing.gain > 4 / (4 - 3.9 / 2) - 1);  // that of the piece with the longest waits
  CHECK(may_be_nothing.gain < 1.1);
  CHECK(!may_be_nothing.low);
}

TEST_CASE("waits that nobody knows the end of make an answer rough") {
  test::Program program(400'000);
  program.thread(1, "worker");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait(1, at + 2000, at + 3000, "-");
    program.wait(1, at + 3000, at + 4000, "disk:vda", "class=disk");
  }
  const Answers found = test::answers(program.trace());
  REQUIRE(!found.answers.empty());
  CHECK(found.answers[0].certainty == Certainty::rough);
  CHECK(!found.answers[0].low);
}

TEST_CASE("records that were lost of the target's time make an answer rough, those of others do not") {
  const auto first = [](const std::string& lost) {
    test::Program program(400'000);
    program.thread(1, "worker");
    program.thread(2, "stranger", "start=0 exit=- outside=yes");
    for (long at = 0; at < 400'000; at += 4000) {
      program.wait(1, at + 1000, at + 4000, "disk:vda", "class=disk");
    }
    program.line(lost);
    const Answers found = test::answers(program.trace());
    REQUIRE(!found.answers.empty());
    return found.answers[0];
  };
  // A hundredth of 400 ms.
  const Answer much = first(
      "unknown 1 from=4000000 to=5000000\nunknown 1 from=8000000 to=9000000\n"
      "unknown 1 from=12000000 to=13000000\nunknown 1 from=16000000 to=17000000");
  CHECK(much.certainty == Certainty::rough);
  CHECK(much.doubt == Doubt::lost_events);
  CHECK(!much.low);
  CHECK(first("unknown 1 from=4000000 to=5000000").certainty == Certainty::sure);
  CHECK(first("unknown 2 from=4000000 to=300000000").certainty == Certainty::sure);
}

TEST_CASE("where the CPUs are short their number is a candidate") {
  test::Program program(600'000, 1);
  program.thread(1, "work");
  program.thread(2, "work");
  for (long at = 0; at < 600'000; at += 6000) {
    for (const int tid : {1, 2}) {
      // Each computes for 3 ms, and is woken at once by a timer.
      const long from = at + (tid == 1 ? 3000 : 0);
      program.wait_and_queue(tid, from, from, from + 3000, "timer", "class=sleep");
    }
  }
  const Trace trace = program.trace();
  const Answers found = test::answers(trace);
  CHECK(found.cpus_short);
  REQUIRE(found.simulated);
  const auto cpus = std::find_if(found.answers.begin(), found.answers.end(), [](const Answer& answer) {
    return answer.change.resource == Resource::cpus;
  });
  REQUIRE(cpus != found.answers.end());
  CHECK(cpus->gain == Approx(1.0).margin(0.1));
  CHECK(cpus->certainty == Certainty::up_to);
}

TEST_CASE("a thread that hardly runs beside others queues hardly less with less work") {
  // It runs for 0.05 ms, waits for the disk for 0.45, and for a CPU for 2: others run on both all the time.
  test::Program program(500'000, 2);
  program.thread(1, "work");
  for (long at = 0; at < 500'000; at += 2500) {
    program.wait_and_queue(1, at + 50, at + 500, at + 2500, "disk:vda", "class=disk");
  }
  Trace trace = program.trace();
  trace.cpu_times = {{0, 500'000'000, 0}, {1, 500'000'000, 0}};
  AnswerOptions options;
  options.asked = {{{Resource::cpu, 0}}};
  const Answers found = test::answers(trace, options);
  CHECK(found.cpus_short);
  // 0.025 ms of 2.5 are saved, and so small a part of the queue.
  CHECK(found.asked.at(0).gain < 0.05);
  REQUIRE(found.asked[0].high);
  CHECK(*found.asked[0].high < 0.1);
  // What others could leave it is known without a simulation.
  CHECK_FALSE(found.simulated);
  REQUIRE_FALSE(found.answers.empty());
  CHECK(found.answers[0].change.resource == Resource::cpus);
  CHECK(found.answers[0].gain == Approx(1.0));
  CHECK(found.answers[0].certainty == Certainty::up_to);
}

TEST_CASE("a lock that nobody is known to have held, on CPUs that are short, has no group") {
  test::Program program(600'000, 1);
  program.thread(1, "favoured");
  program.thread(2, "other");
  // No fair scheduler reproduces that one of them gets the CPU for nine tenths of the time.
  for (long ms = 0; ms < 600; ms += 10) {
    program.line(fmt::format("preempt 2 out={}000000 run={}000000", ms, ms + 9));
    program.line(fmt::format("preempt 1 out={}000000 run={}000000", ms + 9, ms + 10));
  }
  program.line("wait 1 block=8500000 wake=8500000 run=8500000 waker=thread:2 class=futex futex=1 " +
               std::string("stack=futex_wait;--;pthread_mutex_lock;main"));
  const Answers found = test::answers(program.trace(), {}, {"other"});
  CHECK(found.cpus_short);
  CHECK(!found.simulated);
  REQUIRE(!found.answers.empty());
  CHECK(!found.answers.front().lock);
}

TEST_CASE("scenarios that are asked for are answered") {
  const Trace trace = two_services(100).trace();
  AnswerOptions options;
  options.asked = {{}, {{Resource::cpu, 0, kNoActor, 0.5}, {Resource::disk, kNoGroup, 2, 0.5}}};
  const Answers found = test::answers(trace, options, {"a"});
  REQUIRE(found.asked.size() == 2);
  CHECK(found.asked[0].gain == Approx(0).margin(1e-9));
  CHECK(found.asked[1].gain == Approx(1).margin(0.02));
}

TEST_CASE("a number of CPUs that is asked for is simulated, though the CPUs are not short") {
  test::Program program(600'000, 4);
  program.thread(1, "work");
  program.thread(2, "work");
  for (long at = 3000; at < 600'000; at += 3000) {
    for (const int tid : {1, 2}) {
      program.wait(tid, at, at, "timer", "class=sleep");
    }
  }
  AnswerOptions options;
  options.asked = {{{Resource::cpus, kNoGroup, kNoActor, 4}}, {{Resource::cpus, kNoGroup, kNoActor, 0.5}}};
  const Answers found = test::answers(program.trace(), options);
  CHECK(!found.cpus_short);
  CHECK(!found.simulated);
  REQUIRE(found.asked.size() == 2);
  CHECK(found.asked[0].gain == Approx(-0.5).margin(0.03));
  CHECK(found.asked[0].certainty == Certainty::sure);
  CHECK(found.asked[1].gain == Approx(0).margin(0.03));
  CHECK(found.asked[1].certainty == Certainty::up_to);
}

/// Asks for a parent that takes twice as long, and for nothing.
AnswerOptions slower_parent() {
  AnswerOptions options;
  options.asked = {{{Resource::cpu, 0, kNoActor, 2}}, {}};
  return options;
}

TEST_CASE("a command that ended gains by ending sooner, however busy the CPU is that nobody queues for") {
  const Trace trace = make_and_compiler();
  const Answers found = test::answers(trace, slower_parent());
  CHECK(found.cpus.busy > 0.9);
  CHECK_FALSE(found.cpus_short);
  REQUIRE(found.progress.size() == 1);
  CHECK(found.progress[0].how == Progress::How::end);
  CHECK(found.progress[0].ends == 0);
  REQUIRE(found.answers.size() == 2);
  CHECK(name_of(trace, found.answers[0]) == "cpu cc");
  CHECK(found.answers[0].gain == Approx(500.0 / 350 - 1).margin(0.001));
  CHECK(found.answers[0].low == Approx(range_of(found.answers[0].gain, {1, 1}, 1).low));
  CHECK(found.answers[0].certainty == Certainty::sure);
  CHECK(name_of(trace, found.answers[1]) == "cpu make");
  CHECK(found.answers[1].gain == Approx(500.0 / 400 - 1).margin(0.001));
  CHECK(found.asked[0].gain == Approx(500.0 / 700 - 1).margin(0.001));
  CHECK(found.asked[1].gain == Approx(0).margin(1e-9));
}

TEST_CASE("the end of a command that queues for the CPUs is simulated") {
  const Trace trace = make_and_two_compilers();
  const Answers found = test::answers(trace, slower_parent());
  CHECK(found.cpus_short);
  CHECK(found.simulated);
  REQUIRE(found.answers.size() == 3);
  CHECK(name_of(trace, found.answers[0]) == "cpu cc");
  CHECK(found.answers[0].gain == Approx(800.0 / 500 - 1).margin(0.02));
  CHECK(found.answers[1].change.resource == Resource::cpus);
  CHECK(found.answers[1].gain == Approx(800.0 / 500 - 1).margin(0.02));
  CHECK(found.answers[1].certainty == Certainty::up_to);
  CHECK(found.answers[2].gain == Approx(800.0 / 700 - 1).margin(0.02));
  CHECK(found.asked[0].gain == Approx(800.0 / 1000 - 1).margin(0.02));
  CHECK(found.asked[1].gain == Approx(0).margin(1e-9));
}

TEST_CASE("the end of a command is rough where much of its critical path has no known end") {
  test::Program program(510'000);
  program.line("thread 1 tgid=1 comm=make start=0 exit=500000000");
  program.wait(1, 100'000, 160'000, "-", "class=other");
  Trace trace = program.trace();
  trace.recording.command = 1;
  const Answers found = test::answers(trace);
  REQUIRE(!found.answers.empty());
  CHECK(found.answers[0].certainty == Certainty::rough);
  CHECK(found.answers[0].doubt == Doubt::unknown_wakers);
}

TEST_CASE("the user may count something else than the end of a command") {
  const Answers found = test::answers(make_and_compiler(), {}, {"cc"});
  REQUIRE(found.progress.size() == 1);
  CHECK(found.progress[0].how == Progress::How::told);
}

TEST_CASE("a target that ends while it is recorded, on CPUs that are short, gains what it would else") {
  test::Program program(600'000, 1);
  program.thread(1, "work", "start=0 exit=497000000");
  program.thread(2, "work", "start=0 exit=500000000");
  program.line("thread 3 tgid=3 comm=main start=0 exit=520000000");
  program.line("wait 3 block=0 wake=510000000 run=510000000 waker=timer class=sleep");
  for (long at = 0; at + 3000 < 500'000; at += 6000) {
    const auto ns = [](long us) { return std::to_string(us * 1000); };
    program.line("preempt 2 out=" + ns(at) + " run=" + ns(at + 3000));
    if (at + 6000 < 497'000) program.line("preempt 1 out=" + ns(at + 3000) + " run=" + ns(at + 6000));
  }
  const Trace trace = program.trace();
  const Answers found = test::answers(trace);
  REQUIRE(found.simulated);
  REQUIRE(!found.answers.empty());
  CHECK(found.answers[0].change.resource == Resource::cpu);
  CHECK(found.answers[0].gain == Approx(1).margin(0.05));
  // What gains nothing is no answer.
  for (const Answer& answer : found.answers) CHECK(answer.change.resource != Resource::sleep);
}

TEST_CASE("a service whose packets TCP holds back may be faster in vain") {
  // The origin sleeps for 20 ms and sends the headers; the body comes 40 ms later.
  test::Program program(2'400'000);
  program.thread(1, "proxy");
  program.thread(2, "origin", "start=0 exit=- outside=yes");
  const std::string origin = "class=net peer=service:127.0.0.1:80 stack=recv;--;recv;read;main";
  for (long at = 0; at < 2'400'000; at += 60'000) {
    program.wait(2, at + 200, at + 19'900, "timer", "class=sleep");
    program.wait(1, at + 100, at + 20'000, "thread:2", origin);
    program.wait(2, at + 20'100, at + 60'000 - 1, "thread:1", "class=net peer=client:127.0.0.1:4000");
    program.wait(1, at + 20'100, at + 59'900, "nic:lo", origin);
  }
  const Answers found = test::answers(program.trace());
  REQUIRE(!found.answers.empty());
  const Answer& service = found.answers[0];
  CHECK(service.change.resource == Resource::remote);
  CHECK(service.certainty == Certainty::up_to);
  CHECK(service.doubt == Doubt::held_back);
  CHECK(service.gain == Approx(60.0 / 50 - 1).margin(0.03));
  CHECK(*service.low <= 0);
}

TEST_CASE("a client that the target does not respond to may be faster in vain") {
  // The client needs 400 us to connect, and does so again when the server closes the connection.
  const auto client_of = [](int connections, int responded, double factor = 0.5) {
    test::Program program(400'000);
    program.thread(1, "server");
    program.thread(2, "client", "start=0 exit=- outside=yes");
    program.line("responses 1 port=80 count=400 connections=" + std::to_string(responded) +
                 " first=1000 last=399000000");
    int port = 0;
    for (long at = 0; at < 400'000; at += 1000) {
      port = port % connections + 1;
      program.wait(
          1, at + 100, at + 500, "thread:2",
          "class=poll peer=client:127.0.0.1:" + std::to_string(port) + " stack=poll;--;poll;serve;main");
      program.wait(2, at + 500, at + 600, "thread:1", "class=poll peer=service:127.0.0.1:80");
    }
    const GroupId client = 1;
    AnswerOptions options;
    options.asked = {{{Resource::cpu, client, kNoActor, factor}}};
    return test::answers(program.trace(), options).asked.at(0);
  };
  CHECK(client_of(100, 50).certainty == Certainty::sure);
  CHECK(client_of(40, 10).certainty == Certainty::sure);  // each goes on to send
  const Gain unanswered = client_of(101, 50);
  CHECK(unanswered.certainty == Certainty::up_to);
  CHECK(unanswered.doubt == Doubt::unanswered);
  CHECK(*unanswered.low <= 0);
  const Gain slower = client_of(101, 50, 2);
  CHECK(slower.certainty == Certainty::sure);
  CHECK(slower.gain < -0.1);
}

TEST_CASE("an empty recording has no answers") {
  test::Program program(1000);
  CHECK(test::answers(program.trace()).answers.empty());
  program.thread(1, "idle");
  CHECK(test::answers(program.trace()).answers.size() <= 1);
}

TEST_CASE("a queue that was never full makes a gain one up to") {
  // `make` needs 4 ms for each item, `use` 3 ms: twice as fast, `make` is held up by `use`.
  test::Program program(400'000);
  program.thread(1, "make");
  program.thread(2, "use");
  for (long at = 4000; at < 400'000; at += 4000) {
    program.wait(2, at - 1000, at, "thread:1", kQueue);
  }
  const Trace trace = program.trace();
  const Answers found = test::answers(trace);
  REQUIRE(!found.answers.empty());
  CHECK(name_of(trace, found.answers[0]) == "cpu make");
  CHECK(found.answers[0].gain == Approx(1.0 / 3).margin(0.02));
  CHECK(found.answers[0].certainty == Certainty::up_to);
  CHECK(*found.answers[0].high == Approx(1.0).margin(0.02));
}

TEST_CASE("a target that shares the CPU to which it is pinned gets the machine's CPUs at most") {
  // It computes for 3 ms of every 6, and something else on the same CPU for the other 3. CPU 1 is free.
  test::Program program(600'000, 2);
  program.thread(1, "work");
  program.thread(2, "work");
  for (long at = 0; at < 600'000; at += 12'000) {
    program.line(fmt::format("preempt 1 out={}000 run={}000", at + 3000, at + 12'000));
    program.line(fmt::format("preempt 2 out={}000 run={}000", at, at + 6000));
    program.line(fmt::format("preempt 2 out={}000 run={}000", at + 9000, at + 12'000));
  }
  Trace trace = program.trace();
  for (const ActorId id : {0U, 1U}) trace.actors[id].allowed_cpus = {{0, 0}};
  trace.cpu_times = {{0, 600'000'000, 0}, {1, 30'000'000, 570'000'000}};
  const Answers found = test::answers(trace);
  CHECK(found.cpus.pinned_to == 1);
  CHECK(found.cpus.shared == 0);
  const Answer* const cpus = test::answer_about(found, Resource::cpus);
  REQUIRE(cpus != nullptr);
  CHECK(cpus->change.factor == 0.5);
  // Its two threads have half of a CPU, and could have two.
  CHECK(cpus->gain == Approx(2 / 0.5 - 1).margin(0.02));
  CHECK(cpus->certainty == Certainty::up_to);
  // A quota explains it as well, and its gain is another one.
  trace.cpu_quotas = {{"/a", 50'000'000, 100'000'000, 6, 3, 100'000'000}};
  const Answers with_quota = test::answers(trace);
  CHECK(with_quota.cpus.pinned_to == 0);
  CHECK(with_quota.cpus.quota == 0.5);
  const Answer* const lifted = test::answer_about(with_quota, Resource::cpus);
  REQUIRE(lifted != nullptr);
  CHECK(lifted->change.factor == 0.5 / trace.recording.cpus);
  // In half of its periods it was used up.
  CHECK(lifted->gain >= 0.5 * (trace.recording.cpus / 0.5 - 1));
  CHECK(lifted->certainty == Certainty::up_to);
}

TEST_CASE("a thread that shares the CPU to which it is pinned gains the time in which it queued at most") {
  // It queues for a tenth of the time, for another program on its CPU.
  test::Program program(600'000, 8);
  program.thread(1, "work");
  for (long at = 0; at < 600'000; at += 10'000) {
    program.line(fmt::format("preempt 1 out={}000 run={}000", at + 4000, at + 5000));
  }
  Trace trace = program.trace();
  trace.actors[0].allowed_cpus = {{0, 0}};
  trace.cpu_times = {{0, 600'000'000, 0}};
  for (std::uint32_t cpu = 1; cpu < 8; ++cpu) trace.cpu_times.push_back({cpu, 0, 600'000'000});
  AnswerOptions options;
  options.asked = {{{Resource::cpus, kNoGroup, kNoActor, 1.0 / 8}},
                   {{Resource::cpus, kNoGroup, kNoActor, 0.5}, {Resource::cpu, 0, kNoActor, 0}}};
  const Answers found = test::answers(trace, options);
  CHECK(found.cpus.pinned_to == 1);
  CHECK(found.cpus.online == 8);
  CHECK(found.cpus.shared == 0);
  CHECK(found.asked.at(0).gain == Approx(1 / 0.9 - 1).margin(0.01));
  CHECK(std::isfinite(found.asked.at(1).gain));
}

TEST_CASE("where threads give up and ask again, it is not known how much was done in vain") {
  // Each second request is given up after 2 ms, though the server goes on; the caller asks again 2 ms later.
  const auto gain_of_server = [](bool gives_up) {
    const std::string ask = "class=futex stack=f;--;pthread_cond_timedwait;ask;main";
    test::Program program(400'000);
    program.thread(1, "caller");
    program.thread(2, "server");
    for (long at = 0; at + 4300 < 400'000; at += 4000) {
      const bool in_vain = gives_up && at % 8000 == 4000;
      program.wait(1, at + 400, at + (in_vain ? 2400 : 3500), in_vain ? "timer" : "thread:2", ask);
      if (in_vain)
        program.wait(1, at + 2500, at + 3900, "timer", "class=sleep stack=k;--;nanosleep;back_off");
      program.wait(2, at + 3600, at + 4300, "thread:1", "class=futex stack=f;--;pthread_cond_wait;take;main");
    }
    const Answers found = test::answers(program.trace());
    const Answer* const answer = test::answer_about(found, Resource::cpu);
    REQUIRE(answer != nullptr);
    return static_cast<Gain>(*answer);
  };
  CHECK(gain_of_server(false).certainty == Certainty::sure);
  const Gain gain = gain_of_server(true);
  CHECK(gain.certainty == Certainty::approximate);
  CHECK(gain.doubt == Doubt::gave_up);
}
