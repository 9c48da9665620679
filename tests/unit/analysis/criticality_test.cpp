// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/criticality.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "unit/graph/traces.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

enum class State { absent, running, runnable, blocked };

/// What a thread did from `at` on, found by looking at all entries of the trace.
State state_at(const Trace& trace, ActorId id, Nanos at) {
  const Actor& actor = trace.actors[id];
  if (actor.kind != ActorKind::thread || actor.outside || at >= actor.exit || at < actor.start) {
    return State::absent;
  }
  Nanos known = actor.seen;
  State state = State::running;
  for (const Wait& wait : trace.waits) {
    if (trace.sites[wait.site].thread != id) continue;
    known = std::min(known, wait.block);
    if (wait.block <= at && at < wait.wake) state = State::blocked;
    if (wait.wake <= at && at < wait.run) state = State::runnable;
  }
  for (const Preemption& preemption : trace.preemptions) {
    if (preemption.thread != id) continue;
    known = std::min(known, preemption.out);
    if (preemption.out <= at && at < preemption.run) state = State::runnable;
  }
  for (const Gap& gap : trace.gaps) {
    if (gap.thread != id) continue;
    known = std::min(known, gap.from);
    if (gap.from <= at && at < gap.to) state = State::absent;
  }
  return at < known ? State::absent : state;
}

/// Every time at which any thread may change its state.
std::set<Nanos> all_times(const Trace& trace) {
  std::set<Nanos> times = {trace.window.begin, trace.window.end};
  const auto add = [&](Nanos at) {
    if (at > trace.window.begin && at < trace.window.end) times.insert(at);
  };
  for (const Actor& actor : trace.actors) {
    add(actor.start);
    add(actor.seen);
    add(actor.exit);
  }
  for (const Wait& wait : trace.waits) {
    add(wait.block);
    add(wait.wake);
    add(wait.run);
  }
  for (const Preemption& preemption : trace.preemptions) {
    add(preemption.out);
    add(preemption.run);
  }
  for (const Gap& gap : trace.gaps) {
    add(gap.from);
    add(gap.to);
  }
  return times;
}

/// By ActorId, in ns: the definition, interval by interval and thread by thread.
std::vector<double> brute_force(const Trace& trace) {
  std::vector<double> out(trace.actors.size());
  const std::set<Nanos> times = all_times(trace);
  for (auto from = times.begin(); std::next(from) != times.end(); ++from) {
    const Nanos length = *std::next(from) - *from;
    std::vector<ActorId> running;
    int active = 0;
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      const State state = state_at(trace, id, *from);
      active += state == State::running || state == State::runnable ? 1 : 0;
      if (state == State::running) running.push_back(id);
    }
    for (const ActorId id : running) out[id] += static_cast<double>(length) / active;
  }
  return out;
}

double sum(const std::vector<double>& values) {
  double out = 0;
  for (const double value : values) out += value;
  return out;
}

}  // namespace

TEST_CASE("criticality equals the definition, for any history") {
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const Trace trace = test::random_history(seed);
    const std::vector<double> expected = brute_force(trace);
    const Criticality found = criticality_of(trace);
    double preempted = 0;
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      INFO("seed " << seed << " actor " << id);
      CHECK(found.threads[id].critical_ns == Approx(expected[id]).margin(0.01));
      preempted += found.threads[id].preempted_ns;
    }
    CHECK(found.total_ns == Approx(sum(expected)).margin(0.01));
    // Each slice ended in one wait or in none.
    CHECK(sum(found.ended_by) + preempted == Approx(found.total_ns).margin(0.01));
    // What is credited for wakeups is part of what was run.
    CHECK(sum(found.woken_from) <= found.total_ns + 0.01);
  }
}

TEST_CASE("a thread that runs alone is critical, threads that run together share") {
  test::Program program(400, 8);
  program.thread(1, "holder");
  program.thread(2, "waiter");
  program.thread(3, "waiter");
  // The others wait for the holder for 300 of 400 us. Then all three run.
  program.wait(2, 0, 300, "thread:1", "class=futex stack=f;--;lock;two waker_stack=w;--;unlock;one");
  program.wait(3, 0, 300, "thread:1", "class=futex stack=f;--;lock;two waker_stack=w;--;unlock;one");
  const Trace trace = program.trace();
  const Criticality found = criticality_of(trace);
  CHECK(found.threads[0].critical_ns == Approx(300'000 + 100'000 / 3.0));
  CHECK(found.threads[1].critical_ns == Approx(100'000 / 3.0));
  CHECK(found.total_ns == Approx(400'000));
  CHECK(found.some_active == 400'000);
  CHECK(found.mean_active == Approx((300 + 3 * 100) / 400.0));
  // The holder's first wakeup has all that it ran before it.
  CHECK(sum(found.woken_from) == Approx(300'000));
}

TEST_CASE("a runnable thread is active, but its part of the time is nobody's") {
  test::Program program(400, 1);
  program.thread(1, "a");
  program.thread(2, "b");
  program.line("preempt 2 out=0 run=300000");
  program.line("preempt 1 out=300000 run=-");
  const Criticality found = criticality_of(program.trace());
  CHECK(found.threads[0].critical_ns == Approx(150'000));
  CHECK(found.threads[1].critical_ns == Approx(50'000));
  CHECK(found.threads[0].runnable_ns == 100'000);
  CHECK(found.threads[1].runnable_ns == 300'000);
  CHECK(found.total_ns == Approx(200'000));
}

TEST_CASE("busy waiting is waiting, and its samples are of no function") {
  test::Program program(400, 8);
  program.thread(1, "spinner");
  program.thread(2, "other");
  program.wait(1, 100, 300, "thread:2", "class=spin stack=--;spin_lock;one");
  program.line("on_cpu 1 at=50000 stack=--;one");
  program.line("on_cpu 1 at=200000 stack=--;spin_lock;one");
  program.line("on_cpu 2 at=200000 stack=--;two");
  const Trace trace = program.trace();
  const Criticality found = criticality_of(trace);
  CHECK(found.threads[0].running_ns == 200'000);
  CHECK(found.threads[1].critical_ns == Approx(200'000 + 100'000));
  for (std::size_t i = 0; i < trace.cpu_samples.size(); ++i) {
    const CpuSample& sample = trace.cpu_samples[i];
    const float expected = sample.thread == 1 ? 1.0F : sample.at == 50'000 ? 0.5F : 0.0F;
    CHECK(found.samples[i] == expected);
  }
}

TEST_CASE("a slice that ends in no wait is known by its last sample") {
  test::Program program(400, 8);
  program.thread(1, "a");
  program.line("on_cpu 1 at=50000 stack=--;one");
  program.line("on_cpu 1 at=90000 stack=--;two");
  program.line("preempt 1 out=100000 run=200000");
  program.wait(1, 300, 350, "timer", "class=sleep stack=k;--;three");
  const Criticality found = criticality_of(program.trace());
  CHECK(sum(found.ended_near) == Approx(100'000));
  CHECK(found.ended_near[1] == Approx(100'000));
  CHECK(sum(found.ended_by) == Approx(100'000));
  CHECK(found.threads[0].preempted_ns == Approx(150'000));
}

TEST_CASE("threads outside of the target are not active") {
  test::Program program(400, 8);
  program.thread(1, "a");
  program.thread(2, "client", "start=0 exit=- outside=yes");
  const Criticality found = criticality_of(program.trace());
  CHECK(found.threads[0].critical_ns == Approx(400'000));
  CHECK(found.threads[1].critical_ns == 0);
}
