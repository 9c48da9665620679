// SPDX-License-Identifier: GPL-2.0-or-later
#include "traces.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "model/validate.h"

namespace offwait::test {

Sweep swept(const Trace& trace) {
  const Status valid = validate(trace);
  if (!valid.ok()) FAIL(valid.error().message);
  Result<Sweep> result = sweep(trace);
  if (!result.ok()) FAIL(result.error().message);
  return *std::move(result);
}

SiteId intern(Trace& trace, const WaitSite& site) {
  const auto found = std::find(trace.sites.begin(), trace.sites.end(), site);
  if (found != trace.sites.end()) {
    return static_cast<SiteId>(found - trace.sites.begin());
  }
  trace.sites.push_back(site);
  return static_cast<SiteId>(trace.sites.size() - 1);
}

ActorId TraceByHand::thread(const std::string& name) {
  Actor actor;
  actor.name = name;
  actor.tid = 100 + static_cast<std::int32_t>(trace.actors.size());
  actor.tgid = 1;
  trace.actors.push_back(actor);
  return static_cast<ActorId>(trace.actors.size() - 1);
}

ActorId TraceByHand::device(ActorKind kind, const std::string& name) {
  Actor actor;
  actor.kind = kind;
  actor.name = name;
  trace.actors.push_back(actor);
  return static_cast<ActorId>(trace.actors.size() - 1);
}

StackId TraceByHand::stack(const std::string& leaf) {
  trace.frames.push_back({.function = leaf});
  trace.stacks.push_back({{static_cast<FrameId>(trace.frames.size() - 1)}});
  return static_cast<StackId>(trace.stacks.size() - 1);
}

void TraceByHand::in(WaitClass wait_class, StackId wait_stack, StackId waker_stack) {
  class_ = wait_class;
  wait_stack_ = wait_stack;
  waker_stack_ = waker_stack;
}

SiteId TraceByHand::wait(ActorId thread, ActorId waker, Nanos block, Nanos wake) {
  return wait(thread, waker, block, wake, wake);
}

SiteId TraceByHand::wait(ActorId thread, ActorId waker, Nanos block, Nanos wake, Nanos run) {
  const SiteId site = intern(trace, {thread, waker, class_, wait_stack_, waker_stack_});
  trace.waits.push_back({site, kNoObject, block, wake, run});
  return site;
}

TraceByHand too_heavy_chain() {
  constexpr Nanos kLength = kNever / 6;
  TraceByHand chain(kLength);
  ActorId waker = chain.device(ActorKind::timer, "");
  for (int i = 0; i < 4; ++i) {
    const ActorId thread = chain.thread();
    chain.wait(thread, waker, 0, kLength);
    waker = thread;
  }
  return chain;
}

namespace {

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed), deep_(seed % 8 == 0) {}

  Trace run() {
    add_stacks();
    for (std::size_t i = 0; i < 4; ++i) {
      add_device(i);
    }
    const std::size_t threads = deep_ ? 66 + below(6) : 2 + below(30);
    for (std::size_t i = 0; i < threads; ++i) {
      spawn(next_tid_++);
    }
    const std::size_t scenes = 12 + below(12);
    const std::size_t deep_scene = scenes / 2;
    for (std::size_t scene = 0; scene < scenes; ++scene) {
      if (deep_ && scene == deep_scene) {
        while (all(State::running).size() < threads) {
          spawn(next_tid_++);
        }
        chain(threads);
        continue;
      }
      switch (below(8)) {
        case 0:
          chain(1 + below(8));
          break;
        case 1:
          convoy(1 + below(8));
          break;
        case 2:
          barrier();
          break;
        default:
          for (std::size_t i = 0; i < 10; ++i) {
            anything();
          }
      }
    }
    finish();
    return std::move(trace_);
  }

 private:
  enum class State : std::uint8_t { running, blocked, woken, preempted, lost, dead };
  struct Life {
    State state = State::running;
    Nanos since = 0;
    Nanos wake = kNever;
    WaitSite site;
  };

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  void pass() {
    if (!one_in(3)) {
      now_ += static_cast<Nanos>(below(40));
    }
  }

  void add_stacks() {
    for (FrameId i = 0; i < 3; ++i) {
      trace_.frames.push_back({.function = "f" + std::to_string(i)});
      trace_.stacks.push_back({{i}});
    }
  }

  void add_device(std::size_t index) {
    static constexpr std::array kKinds = {ActorKind::disk, ActorKind::nic, ActorKind::timer, ActorKind::irq};
    Actor actor;
    actor.kind = kKinds.at(index);
    actor.name = index == 2 ? "" : "d" + std::to_string(index);
    trace_.actors.push_back(actor);
    lives_.emplace_back().state = State::dead;
  }

  ActorId a_device() { return static_cast<ActorId>(below(4)); }

  void spawn(std::int32_t tid) {
    Actor actor;
    actor.name = "t";
    actor.tid = tid;
    actor.tgid = 1;
    actor.start = now_;
    actor.seen = now_;
    trace_.actors.push_back(actor);
    lives_.emplace_back().since = now_;
  }

  std::vector<ActorId> all(State state) {
    std::vector<ActorId> found;
    for (ActorId id = 0; id < lives_.size(); ++id) {
      if (lives_[id].state == state) {
        found.push_back(id);
      }
    }
    std::shuffle(found.begin(), found.end(), random_);
    return found;
  }

  void enter(ActorId id, State state) {
    lives_[id].state = state;
    lives_[id].since = now_;
  }

  void block(ActorId id) {
    lives_[id].site = {id, kNoActor, static_cast<WaitClass>(below(3)), static_cast<StackId>(below(2)),
                       kNoStack};
    enter(id, State::blocked);
  }

  void wake(ActorId id, ActorId waker) {
    if (!one_in(20)) {
      lives_[id].site.waker = waker;
    }
    lives_[id].site.waker_stack = one_in(2) ? kNoStack : 2;
    lives_[id].wake = now_;
    lives_[id].state = State::woken;
  }

  void record_wait(ActorId id, Nanos run) {
    const Life& life = lives_[id];
    trace_.waits.push_back({intern(trace_, life.site), kNoObject, life.since, life.wake, run});
  }

  void run_on(ActorId id) {
    if (lives_[id].state == State::woken) {
      record_wait(id, now_);
      lives_[id].wake = kNever;
    } else {
      trace_.preemptions.push_back({id, lives_[id].since, now_});
    }
    enter(id, State::running);
  }

  void anything() {
    pass();
    const std::vector<ActorId> running = all(State::running);
    const std::vector<ActorId> blocked = all(State::blocked);
    const std::vector<ActorId> woken = all(State::woken);
    const std::vector<ActorId> preempted = all(State::preempted);
    const std::vector<ActorId> lost = all(State::lost);
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        if (!running.empty()) {
          block(running[0]);
        }
        break;
      case 4:
      case 5:
      case 6:
        if (!blocked.empty() && !running.empty()) {
          wake(blocked[0], running[0]);
        }
        break;
      case 7:
        if (!blocked.empty()) {
          wake(blocked[0], a_device());
        }
        break;
      case 8:
        if (!blocked.empty() && !lost.empty()) {
          wake(blocked[0], lost[0]);
        }
        break;
      case 9:
      case 10:
      case 11:
        if (!woken.empty()) {
          run_on(woken[0]);
        }
        break;
      case 12:
        if (!running.empty()) {
          enter(running[0], State::preempted);
        }
        break;
      case 13:
        if (!preempted.empty()) {
          run_on(preempted[0]);
        }
        break;
      case 14:
        if (!lost.empty()) {
          trace_.gaps.push_back({lost[0], lives_[lost[0]].since, now_});
          enter(lost[0], State::running);
        } else if (!running.empty() && one_in(2)) {
          enter(running[0], State::lost);
        }
        break;
      default:
        if (running.size() > 2 && one_in(2)) {
          trace_.actors[running[0]].exit = now_;
          lives_[running[0]].state = State::dead;
          if (one_in(2)) {
            pass();
          }
          spawn(one_in(2) ? trace_.actors[running[0]].tid : next_tid_++);
        }
    }
  }

  /// Lets each thread run that can.
  void settle() {
    for (const ActorId id : all(State::blocked)) {
      wake(id, a_device());
    }
    for (const ActorId id : all(State::woken)) {
      run_on(id);
    }
    for (const ActorId id : all(State::preempted)) {
      run_on(id);
    }
  }

  /// Adds threads that each wait for the one before: all block, then a device wakes the first, and each wakes
  /// the next.
  void chain(std::size_t length) {
    settle();
    std::vector<ActorId> links = all(State::running);
    links.resize(std::min(links.size(), length));
    for (const ActorId id : links) {
      pass();
      block(id);
    }
    now_ += 1;
    ActorId waker = a_device();
    for (const ActorId id : links) {
      pass();
      wake(id, waker);
      lives_[id].site.waker = waker;
      if (one_in(2)) {
        pass();
      }
      run_on(id);
      waker = id;
    }
  }

  /// Adds a lock convoy: the thread that held the lock wakes the next one, and soon queues again.
  void convoy(std::size_t rounds) {
    settle();
    std::vector<ActorId> queue = all(State::running);
    if (queue.size() < 2) {
      return;
    }
    ActorId holder = queue.back();
    queue.pop_back();
    for (const ActorId id : queue) {
      pass();
      block(id);
    }
    for (std::size_t i = 0; i < rounds * 4; ++i) {
      pass();
      const ActorId next = queue.front();
      queue.erase(queue.begin());
      wake(next, holder);
      if (one_in(2)) {
        pass();
      }
      block(holder);
      queue.push_back(holder);
      run_on(next);
      holder = next;
    }
  }

  /// Adds a barrier: the last thread to arrive wakes all.
  void barrier() {
    settle();
    std::vector<ActorId> arriving = all(State::running);
    if (arriving.empty()) {
      return;
    }
    const ActorId last = arriving.back();
    arriving.pop_back();
    for (const ActorId id : arriving) {
      pass();
      block(id);
    }
    pass();
    for (const ActorId id : arriving) {
      wake(id, last);
    }
  }

  void finish() {
    pass();
    for (ActorId id = 0; id < lives_.size(); ++id) {
      switch (lives_[id].state) {
        case State::blocked:
        case State::woken:
          record_wait(id, kNever);
          break;
        case State::preempted:
          trace_.preemptions.push_back({id, lives_[id].since, kNever});
          break;
        case State::lost:
          trace_.gaps.push_back({id, lives_[id].since, now_});
          break;
        default:
          break;
      }
    }
    trace_.window = {0, now_ + 1};
    if (one_in(2)) {
      trace_.window.begin = static_cast<Nanos>(below(static_cast<std::size_t>(now_ / 4 + 1)));
    }
    if (one_in(2)) {
      trace_.window.end -= static_cast<Nanos>(below(static_cast<std::size_t>(now_ / 4 + 1)));
    }
    if (one_in(2)) {
      forget_after_the_window();
    }
    see_late();
    if (one_in(2)) {
      group_by_thread();
    }
  }

  /// Cuts the trace as the end of a recording does: waits that are not over are open.
  void forget_after_the_window() {
    const Nanos end = trace_.window.end;
    std::erase_if(trace_.waits, [end](const Wait& wait) { return wait.block >= end; });
    std::erase_if(trace_.preemptions, [end](const Preemption& preemption) { return preemption.out >= end; });
    std::erase_if(trace_.gaps, [end](const Gap& gap) { return gap.from >= end; });
    for (Wait& wait : trace_.waits) {
      if (wait.run > end) {
        wait.run = kNever;
      }
      if (wait.wake <= end) {
        continue;
      }
      wait.wake = kNever;
      WaitSite site = trace_.sites[wait.site];
      site.waker = kNoActor;
      site.waker_stack = kNoStack;
      wait.site = intern(trace_, site);
    }
    for (Preemption& preemption : trace_.preemptions) {
      if (preemption.run > end) {
        preemption.run = kNever;
      }
    }
    for (Actor& actor : trace_.actors) {
      if (actor.exit > end) {
        actor.exit = kNever;
      }
    }
  }

  void see_late() {
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      Actor& actor = trace_.actors[id];
      // A thread that is forgotten breaks the chain.
      if (actor.kind != ActorKind::thread || !one_in(deep_ ? 256 : 4)) {
        continue;
      }
      actor.seen = actor.start + static_cast<Nanos>(below(static_cast<std::size_t>(now_)));
      if (one_in(4)) {
        continue;
      }
      const Nanos seen = actor.seen;
      std::erase_if(trace_.waits, [&](const Wait& wait) {
        return trace_.sites[wait.site].thread == id && wait.block < seen;
      });
      std::erase_if(trace_.preemptions, [&](const Preemption& preemption) {
        return preemption.thread == id && preemption.out < seen;
      });
      std::erase_if(trace_.gaps, [&](const Gap& gap) { return gap.thread == id && gap.from < seen; });
    }
  }

  void group_by_thread() {
    std::stable_sort(trace_.waits.begin(), trace_.waits.end(), [this](const Wait& a, const Wait& b) {
      return trace_.sites[a.site].thread > trace_.sites[b.site].thread;
    });
  }

  std::mt19937_64 random_;
  bool deep_;
  Trace trace_;
  std::vector<Life> lives_;
  Nanos now_ = 0;
  std::int32_t next_tid_ = 1;
};

}  // namespace

Trace random_history(std::uint64_t seed) { return Simulation(seed).run(); }

}  // namespace offwait::test
