// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/simulate.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "replay/usable_cpus.h"
#include "unit/replay/program.h"
#include "unit/replay/replayer.h"

using namespace offwait;

namespace {

UsableCpus cpus_of(const Trace& trace) { return usable_cpus(trace, Histories(trace)); }

struct Simulator : test::Replayable {
  explicit Simulator(const Trace& a_trace)
      : Replayable(a_trace, cpus_of(a_trace)), scripts(scripts_of(input, 1'000'000)) {}

  /// How many times as fast the first group is.
  double speed(const Scenario& scenario) const {
    const std::optional<Replayed> replayed = simulate(input, scripts, {scenario}, {true}, 1);
    REQUIRE(replayed);
    return replayed->pieces[0][0].done_ns[0] / replayed->pieces[0][0].took_ns[0];
  }

  Scripts scripts;
};

/// Two threads compute in turns of 3 ms on one CPU.
Trace two_on_one_cpu() {
  test::Program program(600'000, 1);
  program.thread(1, "work");
  program.thread(2, "work");
  for (long at = 0; at < 600'000; at += 6000) {
    const auto ns = [](long us) { return std::to_string(us * 1000); };
    program.line("preempt 2 out=" + ns(at) + " run=" + ns(at + 3000));
    program.line("preempt 1 out=" + ns(at + 3000) + " run=" + ns(at + 6000));
  }
  return program.trace();
}

}  // namespace

TEST_CASE("as many CPUs are usable as run threads while others queue") {
  Trace trace = two_on_one_cpu();
  trace.recording.cpus = 4;
  CHECK(cpus_of(trace).cpus == Approx(1));
  CHECK(cpus_of(trace).busy == Approx(1));
  trace.recording.cpus = 0;
  CHECK(cpus_of(trace).cpus == 0);
}

TEST_CASE("idle CPUs that the threads may use are usable, though these wake up late") {
  test::Program program(400'000, 2);
  program.thread(1, "worker");
  for (long at = 0; at < 400'000; at += 4000) {
    program.line("wait 1 block=" + std::to_string(at * 1000) + " wake=" + std::to_string((at + 3000) * 1000) +
                 " run=" + std::to_string((at + 3900) * 1000) + " waker=timer class=sleep");
  }
  Trace trace = program.trace();
  CHECK(cpus_of(trace).are_short());
  trace.cpu_times = {{0, 40'000'000, 360'000'000}, {1, 40'000'000, 360'000'000}};
  CHECK(cpus_of(trace).cpus == Approx(1.825));
  CHECK_FALSE(cpus_of(trace).are_short());
  trace.actors[0].allowed_cpus = {{1, 1}};
  CHECK(cpus_of(trace).cpus == Approx(0.925));
  trace.cpu_times[1] = {1, 390'000'000, 10'000'000};
  CHECK(cpus_of(trace).are_short());
  trace.cpu_times[1] = {1, 40'000'000, 360'000'000};
  trace.cpu_quotas = {{"/c", 10'000'000, 100'000'000, 4, 4, 30'000'000}};
  CHECK(cpus_of(trace).are_short());
}

TEST_CASE("threads that share their CPUs with others can use a part of each") {
  Trace trace = two_on_one_cpu();
  trace.recording.cpus = 2;
  trace.cpu_times = {{0, 600'000'000, 0}, {1, 600'000'000, 0}};
  CHECK(cpus_of(trace).usable() == Approx(1));
  CHECK(cpus_of(trace).are_short());
  // Both run at once for a tenth of the time.
  for (int i = 0; i < 20; ++i) trace.preemptions[static_cast<std::size_t>(i)].run -= 3'000'000;
  CHECK(cpus_of(trace).cpus == Approx(2));
  CHECK(cpus_of(trace).usable() == Approx(1.1).epsilon(0.01));
  CHECK(cpus_of(trace).part == Approx(0.55).epsilon(0.01));
}

TEST_CASE("a thread outside of the target does not run before it was seen") {
  test::Program program(400'000, 2);
  program.thread(1, "worker");
  program.thread(2, "outside", "start=0 exit=- outside=yes seen=200000000");
  program.wait(2, 200'000, 300'000, "timer", "class=sleep");
  for (long at = 0; at < 400'000; at += 4000) {
    program.line("preempt 1 out=" + std::to_string(at * 1000) + " run=" + std::to_string((at + 2000) * 1000));
  }
  // worker: 0.2 s; outside: from 300 ms on.
  CHECK(cpus_of(program.trace()).busy * cpus_of(program.trace()).cpus == Approx(0.75).epsilon(0.01));
}

TEST_CASE("where nobody queues, all CPUs are usable, and threads that have ended use none") {
  test::Program program(400'000, 4);
  program.thread(1, "half", "start=0 exit=200000000");
  program.thread(2, "woken");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait_and_queue(2, at, at + 2000, at + 2040, "timer", "class=sleep");
  }
  const UsableCpus found = cpus_of(program.trace());
  CHECK(found.cpus == 4);
  CHECK(found.busy == Approx((0.5 + 0.49) / 4));
}

TEST_CASE("a script is what a thread does, without when") {
  test::Program program(100);
  program.thread(1, "a");
  program.thread(2, "b");
  program.wait_and_queue(1, 10, 40, 50, "thread:2", "class=futex stack=f;--;pthread_cond_wait;main");
  program.wait(1, 70, 90, "timer", "class=sleep");
  const Simulator simulator(program.trace());
  const std::vector<Step>& a = simulator.scripts.threads[0].steps;
  REQUIRE(a.size() == 5);
  CHECK((a[0].what == Step::What::work && a[0].length_ns == 10'000));
  CHECK((a[1].what == Step::What::await && a[1].recorded_ns == 30'000));
  CHECK((a[2].what == Step::What::work && a[2].length_ns == 20'000 && a[2].recorded_ns == 30'000));
  CHECK((a[3].what == Step::What::sleep && a[3].length_ns == 20'000));
  CHECK((a[4].what == Step::What::work && a[4].length_ns == 10'000));
  const std::vector<Step>& b = simulator.scripts.threads[1].steps;
  REQUIRE(b.size() == 3);
  CHECK((b[0].what == Step::What::work && b[0].length_ns == 40'000));
  CHECK((b[1].what == Step::What::signal && b[1].id == a[1].id));
  CHECK((b[2].what == Step::What::work && b[2].length_ns == 60'000));
  CHECK(simulator.scripts.wake_up_ns == 0);
}

TEST_CASE("unchanged, a simulation gives the recording back") {
  CHECK(Simulator(two_on_one_cpu()).speed({}) == Approx(1.0).epsilon(0.02));
}

TEST_CASE("threads that share a CPU are twice as fast with two, or with half of the work") {
  const Simulator simulator(two_on_one_cpu());
  CHECK(simulator.speed({{Resource::cpus}}) == Approx(2.0).epsilon(0.02));
  CHECK(simulator.speed({{Resource::cpu, 0}}) == Approx(2.0).epsilon(0.02));
  CHECK(simulator.speed({{Resource::cpus, kNoGroup, kNoActor, 0.25}}) == Approx(2.0).epsilon(0.02));
}

TEST_CASE("other programs want CPUs as they did in the recording, whatever the threads do") {
  // `work` computes all the time, and another program as well, on the one CPU.
  test::Program program(600'000, 1);
  program.thread(1, "work");
  for (long at = 0; at < 600'000; at += 6000) {
    const auto ns = [](long us) { return std::to_string(us * 1000); };
    program.line("preempt 1 out=" + ns(at) + " run=" + ns(at + 3000));
  }
  Trace trace = program.trace();
  trace.cpu_times = {{0, 600'000'000, 0}};
  const Simulator simulator(std::move(trace));
  CHECK(simulator.input.cpus.others == Approx(0.5));
  CHECK(simulator.speed({}) == Approx(1).epsilon(0.03));
  // Half of the work takes half of the time: the other program gets no more of the CPU for it.
  CHECK(simulator.speed({{Resource::cpu, 0}}) == Approx(2).epsilon(0.03));
  // With a CPU for each of the two the thread has one of its own.
  CHECK(simulator.speed({{Resource::cpus}}) == Approx(2).epsilon(0.03));
}

TEST_CASE("threads that are pinned to a CPU share it, however idle the others are") {
  // Two that compute on CPU 0, and one that may run on any and computes all the time, on CPU 1 of 4.
  Trace trace = two_on_one_cpu();
  Actor anywhere = trace.actors[0];
  anywhere.tid = 3;
  anywhere.name = "free";
  trace.actors.push_back(anywhere);
  for (const ActorId id : {0U, 1U}) trace.actors[id].allowed_cpus = {{0, 0}};
  trace.recording.cpus = 4;
  trace.cpu_times = {{0, 600'000'000, 0}, {1, 600'000'000, 0}, {2, 0, 600'000'000}, {3, 0, 600'000'000}};
  const Simulator simulator(trace);
  CHECK(simulator.input.cpus.shared == 4);
  CHECK(simulator.input.cpus.others == Approx(0));
  CHECK(simulator.speed({}) == Approx(1).epsilon(0.02));
  CHECK(simulator.speed({{Resource::cpu, 0}}) == Approx(2).epsilon(0.02));
  // What runs elsewhere takes nothing from them.
  CHECK(simulator.speed({{Resource::cpu, 1}}) == Approx(1).epsilon(0.02));
  CHECK(simulator.speed({{Resource::cpus}}) == Approx(2).epsilon(0.02));
  // Without that one, others must have run on CPU 0 for a tenth: they are pinned, too, and nobody knows how.
  trace.actors.pop_back();
  for (Preemption& out : trace.preemptions) out.run += 300'000;
  CHECK(cpus_of(trace).shared == 0);
}

TEST_CASE("threads that are pinned get no more CPU time than the machine has left") {
  // Two that compute on CPU 0, and a client on CPU 1 that runs for 2 ms of every 3.
  test::Program program(600'000, 2);
  for (const int tid : {1, 2}) program.thread(tid, "work");
  program.thread(3, "client", "start=0 exit=- outside=yes seen=0");
  for (long at = 0; at < 600'000; at += 6000) {
    const auto ns = [](long us) { return std::to_string(us * 1000); };
    program.line("preempt 2 out=" + ns(at) + " run=" + ns(at + 3000));
    program.line("preempt 1 out=" + ns(at + 3000) + " run=" + ns(at + 6000));
    for (const long late : {0L, 3000L}) {
      program.wait(3, at + late + 2000, at + late + 3000, "timer", "class=sleep");
    }
  }
  Trace trace = program.trace();
  for (const ActorId id : {0U, 1U}) trace.actors[id].allowed_cpus = {{0, 0}};
  trace.cpu_times = {{0, 600'000'000, 0}, {1, 400'000'000, 200'000'000}};
  const Simulator simulator(trace);
  REQUIRE(simulator.input.cpus.shared == 2);
  CHECK(simulator.input.cpus.pinned_to == 1);
  CHECK(simulator.speed({}) == Approx(1).epsilon(0.02));
  CHECK(simulator.speed({{Resource::cpus}}) == Approx(4.0 / 3).epsilon(0.05));
  // CPU 1 is as busy as CPU 0: only a bigger machine has more.
  trace.cpu_times[1] = {1, 500'000'000, 100'000'000};
  CHECK(cpus_of(trace).pinned_to == 0);
  // A target that is not pinned is kept from nothing.
  for (const ActorId id : {0U, 1U}) trace.actors[id].allowed_cpus = {};
  trace.cpu_times[1] = {1, 400'000'000, 200'000'000};
  CHECK(cpus_of(trace).pinned_to == 0);
}

TEST_CASE("other programs that leave a CPU idle for a time want it for the rest") {
  // `work` needs 1 ms of every 4, and so does something else, at other times.
  test::Program program(600'000, 1);
  program.thread(1, "work");
  for (long at = 0; at < 600'000; at += 4000) program.wait(1, at + 1000, at + 4000, "timer", "class=sleep");
  Trace trace = program.trace();
  trace.cpu_times = {{0, 300'000'000, 300'000'000}};
  const Simulator simulator(std::move(trace));
  CHECK(simulator.input.cpus.others == Approx(0.25).epsilon(0.01));
  CHECK(simulator.speed({}) == Approx(1).epsilon(0.15));
  // 1.6 times as fast if the two never met.
  const double less_sleep = simulator.speed({{Resource::sleep, 0}});
  CHECK(less_sleep > 1.25);
  CHECK(less_sleep < 1.6);
}

TEST_CASE("a thread's time counts until its script ends") {
  // Both compute for 250 ms each, on the one CPU, and have ended when the last part of the window begins.
  test::Program program(600'000, 1);
  program.thread(1, "work", "start=0 exit=497000000");
  program.thread(2, "work", "start=0 exit=500000000");
  for (long at = 0; at + 3000 < 500'000; at += 6000) {
    const auto ns = [](long us) { return std::to_string(us * 1000); };
    program.line("preempt 2 out=" + ns(at) + " run=" + ns(at + 3000));
    if (at + 6000 < 497'000) program.line("preempt 1 out=" + ns(at + 3000) + " run=" + ns(at + 6000));
  }
  const Simulator simulator(program.trace());
  CHECK(simulator.speed({}) == Approx(1).epsilon(0.03));
  CHECK(simulator.speed({{Resource::cpu, 0}}) == Approx(2).epsilon(0.03));
}

TEST_CASE("who computes all the time goes on doing so when others need less of the CPU") {
  // `short` needs 1 ms of the CPU, then sleeps for 1 ms, during which `hog` has it.
  test::Program program(400'000, 1);
  program.thread(1, "short");
  program.thread(2, "hog");
  for (long at = 0; at < 400'000; at += 2000) {
    const auto ns = [](long us) { return std::to_string(us * 1000); };
    program.wait(1, at + 1000, at + 2000, "timer", "class=sleep");
    program.line("preempt 2 out=" + ns(at) + " run=" + ns(at + 1000));
  }
  const Simulator simulator(program.trace());
  CHECK(simulator.speed({}) == Approx(1.0).epsilon(0.03));
  CHECK(simulator.speed({{Resource::cpu, 0}}) == Approx(4.0 / 3.0).epsilon(0.03));
  // It has its fair share of the CPU, and to sleep less gives it no more.
  CHECK(simulator.speed({{Resource::sleep, 0}}) == Approx(1.0).epsilon(0.1));
}

TEST_CASE("a turn goes on through pieces of work that are shorter, and then ends") {
  test::Program program(600'000, 1);
  program.thread(1, "source");
  program.thread(2, "sink");
  for (long at = 0; at < 600'000; at += 4000) {
    const auto ns = [](long us) { return std::to_string(us * 1000); };
    program.line("wait 2 block=" + ns(at) + " wake=" + ns(at + 2000) + " run=" + ns(at + 2000) +
                 " waker=thread:1 class=futex");
    program.line("preempt 1 out=" + ns(at + 2000) + " run=" + ns(at + 4000));
  }
  CHECK(Simulator(program.trace()).speed({}) == Approx(1).epsilon(0.02));
}

TEST_CASE("a thread that ends stays ended, and its child begins with it") {
  test::Program program(100'000, 1);
  program.thread(1, "parent");
  program.thread(2, "child", "start=40000000 exit=50000000 parent=1");
  program.wait(1, 40'000, 50'000, "thread:2", "class=child");
  const Simulator simulator(program.trace());
  CHECK(simulator.scripts.threads[1].steps.front().what == Step::What::await);
  CHECK(simulator.speed({}) == Approx(1.0).epsilon(0.02));
  CHECK(simulator.speed({{Resource::cpu, 1}}) == Approx(100.0 / 95.0).epsilon(0.02));
}

TEST_CASE("only the scenarios that are wanted are simulated") {
  const Simulator simulator(two_on_one_cpu());
  const Scenario faster{{Resource::cpu, 0}};
  const std::optional<Replayed> some =
      simulate(simulator.input, simulator.scripts, {{}, faster, {}}, {false, true, true}, 1);
  REQUIRE(some);
  const GroupTime& time = some->pieces[0][0];
  CHECK(time.took_ns[0] == 0);
  CHECK(time.done_ns[1] / time.took_ns[1] == simulator.speed(faster));
  CHECK(time.done_ns[2] / time.took_ns[2] == simulator.speed({}));
}

TEST_CASE("a script that repeats without taking time is given up") {
  // `a` is woken at once, and then has no CPU for the rest of the window though one is free.
  test::Program program(100'000, 2);
  program.thread(1, "a");
  program.thread(2, "b");
  program.wait(1, 0, 0, "timer", "class=sleep");
  program.line("preempt 1 out=0 run=100000000");
  Simulator simulator(program.trace());
  simulator.input.cpus = {2, 0.5};
  REQUIRE(simulator.scripts.threads[0].repeats);
  CHECK_FALSE(simulate(simulator.input, simulator.scripts, {{}}, {true}, 1).has_value());
}

TEST_CASE("the simulation knows the work done while a lock is held, and a lock that nobody waits for") {
  const Simulator simulator(test::three_at_a_lock());
  CHECK(simulator.speed({}) == Approx(1.0).epsilon(0.01));
  CHECK(simulator.speed({{Resource::held, kNoGroup, kNoActor, 0.5, kNoService, 0}}) ==
        Approx(2.0).epsilon(0.05));
  CHECK(simulator.speed({{Resource::waited, kNoGroup, kNoActor, 0, kNoService, 0}}) ==
        Approx(2.0).epsilon(0.05));
}

TEST_CASE("in a script a lock of another group is waited for as long as its holder works with it") {
  test::Program program(100);
  program.thread(1, "a");
  program.thread(2, "b");
  program.line("thread 3 tgid=3 comm=recorder start=0 exit=- outside=yes");
  program.wait(2, 0, 30, "timer", "class=sleep");
  program.wait(1, 10, 40, "thread:2", "class=lock");
  program.wait(1, 70, 90, "thread:3", "class=lock");
  const Simulator simulator(program.trace());
  const std::vector<Step>& a = simulator.scripts.threads[0].steps;
  REQUIRE(a.size() == 6);
  CHECK((a[1].what == Step::What::others && a[1].length_ns == 10'000));
  CHECK(a[1].id == simulator.groups.group_of[1]);
  CHECK((a[2].what == Step::What::delay && a[2].length_ns == 20'000));
  CHECK((a[3].what == Step::What::work && a[3].length_ns == 30'000));
  CHECK((a[4].what == Step::What::delay && a[4].length_ns == 20'000));
  CHECK(simulator.scripts.signals == 0);
}

TEST_CASE("a CPU that the threads have for part of the time only takes longer for their work") {
  Simulator simulator(two_on_one_cpu());
  simulator.input.cpus.part = 0.5;
  CHECK(simulator.speed({}) == Approx(0.5).epsilon(0.01));
}

TEST_CASE("a function that is faster makes its work shorter, where CPUs are short as well") {
  Trace trace = two_on_one_cpu();
  Simulator simulator(std::move(trace));
  // Half of each group's work is in the function.
  Code code;
  for (GroupId id = 0; id < simulator.groups.groups.size(); ++id) code.groups.push_back(id);
  code.parts.push_back({{}, std::vector<double>(code.groups.size(), 0.5), {}, 100, 0, 0});
  simulator.input.code = &code;
  CHECK(simulator.speed({{Resource::cpu, kNoGroup, kNoActor, 0.5, kNoService, kNoLock, 0}}) ==
        Approx(4 / 3.0).margin(0.01));
  CHECK(simulator.speed({{Resource::io, kNoGroup, kNoActor, 0.5, kNoService, kNoLock, 0}}) ==
        Approx(1).margin(0.01));
}

TEST_CASE(
    "in a script a sleep at a fixed rate is until a moment, and one behind another thread waits for it") {
  test::Program program(test::kThrottledUs);
  program.thread(3, "frame");
  test::add_throttled_writer(program);
  for (long round = 0; round < 60; ++round) {
    const long begin = round * 5000;
    program.wait(3, begin + 500 + round * 7 % 4 * 300, begin + 5000, "timer",
                 "class=sleep stack=k;--;nanosleep;frame");
  }
  const Simulator simulator(program.trace());
  const std::vector<Step>& frame = simulator.scripts.threads[0].steps;
  const auto number = [](const std::vector<Step>& steps, Step::What what) {
    return std::count_if(steps.begin(), steps.end(), [what](const Step& step) { return step.what == what; });
  };
  CHECK(number(frame, Step::What::sleep) == 0);
  CHECK(number(frame, Step::What::until) == 60);
  const std::vector<Step>& writer = simulator.scripts.threads[1].steps;
  CHECK(number(writer, Step::What::sleep) == 0);
  CHECK(number(writer, Step::What::await) == 240);
  CHECK(number(simulator.scripts.threads[2].steps, Step::What::signal) == 240);
}

TEST_CASE("a simulated thread at a fixed rate needs as few periods as its work takes") {
  const Trace trace = test::late_frame(true);
  const Simulator simulator(trace);
  CHECK(simulator.speed({}) == Approx(1).epsilon(0.01));
  CHECK(simulator.speed({{Resource::cpu, 0}}) == Approx(25.0 / 20).epsilon(0.03));
  CHECK(simulator.speed({{Resource::sleep, 0}}) > 1.2);
}

TEST_CASE("simulated writers that sleep while a compaction is behind go at its pace") {
  test::Program program(test::kThrottledUs);
  test::add_throttled_writer(program);
  const Simulator simulator(program.trace());
  CHECK(simulator.speed({}) == Approx(1).epsilon(0.02));
  CHECK(simulator.speed({{Resource::cpu, 0}}) == Approx(1).epsilon(0.03));
  CHECK(simulator.speed({{Resource::cpu, simulator.groups.group_of[1]}}) == Approx(1 / 0.7).epsilon(0.05));
}

TEST_CASE("a disk that serves one request at a time never works on two, in whatever order they came") {
  // Each of the first thread's requests takes until two short ones that came later are complete.
  test::Program program(10'000);
  program.thread(1, "large");
  program.thread(2, "small");
  for (long at = 0; at < 10'000; at += 100) {
    program.wait(2, at + 10, at + 20, "disk:vda", "class=disk");
    program.wait(2, at + 30, at + 40, "disk:vda", "class=disk");
    program.wait(1, at, at + 90, "disk:vda", "class=disk");
  }
  Simulator simulator(program.trace());
  const ActorId disk = simulator.trace.sites[0].waker;
  simulator.channels[disk].known = 1;
  const Scripts scripts = scripts_of(simulator.input, 1'000'000);
  double served = 0;
  for (const Script& script : scripts.threads) {
    for (const Step& step : script.steps) served += step.what == Step::What::disk ? step.length_ns : 0;
  }
  CHECK(served == Approx(100 * (10'000 + 10'000 + 50'000)));
}

TEST_CASE(
    "requests of a thread below a device are simulated as a part of those of the threads that wait for it") {
  // Computes for 1 ms, waits for the disk for 1 ms and for the commit for 2 ms, all of which the disk takes.
  test::Program program(400'000);
  program.thread(1, "db");
  program.thread(2, "jbd2", "start=0 exit=- outside=kernel");
  program.line("disk vda bytes_per_s=1e6 ios_per_s=1000 capacity=assumed");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait(1, at + 1000, at + 2000, "disk:vda", "class=disk");
    program.wait(2, at + 2000, at + 4000, "disk:vda", "class=disk");
    program.wait(1, at + 2000, at + 4000, "thread:2", "class=lock");
    program.line("io 1 disk=vda bytes=4096 issue=" + std::to_string((at + 1000) * 1000) +
                 " complete=" + std::to_string((at + 2000) * 1000));
    program.line("io 2 disk=vda bytes=4096 issue=" + std::to_string((at + 2000) * 1000) +
                 " complete=" + std::to_string((at + 4000) * 1000));
  }
  Simulator simulator(program.trace());
  const ActorId disk = simulator.trace.sites[0].waker;
  simulator.channels[disk].known = 1;
  simulator.scripts = scripts_of(simulator.input, 1'000'000);
  CHECK(simulator.speed({}) == Approx(1.0).epsilon(0.01));
  CHECK(simulator.speed({{Resource::io, 0, disk}}) == Approx(4.0 / 2.5).epsilon(0.01));
  CHECK(simulator.speed({{Resource::disk, kNoGroup, disk}}) == Approx(4.0 / 2.5).epsilon(0.01));
}
