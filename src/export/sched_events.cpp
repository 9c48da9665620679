// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/sched_events.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "model/histories.h"

namespace offwait {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// A stretch [from, to) of a thread's life in which it did not run.
struct Off {
  Nanos from = 0;
  Nanos to = 0;
  Leaving leaving = Leaving::wait;
  // Waits only:
  Nanos wake = kNever;
  SiteId site = 0;
};

Leaving leaving_of(WaitClass wait_class) {
  const bool is_deep =
      wait_class == WaitClass::disk || wait_class == WaitClass::lock || wait_class == WaitClass::fault;
  return is_deep ? Leaving::disk_wait : Leaving::wait;
}

Off off_of(const Trace& trace, const Interval& interval) {
  Off off{interval.from, interval.to, Leaving::gap};
  if (interval.kind == Interval::Kind::preemption) off.leaving = Leaving::preemption;
  if (interval.kind == Interval::Kind::wait) {
    const Wait& wait = trace.waits[interval.index];
    off.leaving = leaving_of(trace.sites[wait.site].wait_class);
    off.wake = wait.wake;
    off.site = wait.site;
  }
  return off;
}

/// Makes the runs and wakings of all threads.
class Threads {
 public:
  explicit Threads(const Trace& trace)
      : trace_(trace), histories_(trace), first_run_(trace.actors.size() + 1) {}

  void read(SchedEvents& out) {
    out_ = &out;
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      first_run_[id] = static_cast<std::uint32_t>(out.runs.size());
      if (trace_.actors[id].kind == ActorKind::thread) read_thread(id);
    }
    first_run_.back() = static_cast<std::uint32_t>(out.runs.size());
  }

  /// The run of this thread that contains the instant; kNone if it did not run then.
  std::uint32_t run_at(ActorId thread, Nanos at) const {
    const auto begin = out_->runs.begin() + first_run_[thread];
    const auto end = out_->runs.begin() + first_run_[thread + 1];
    const auto after = std::partition_point(begin, end, [at](const Run& run) { return run.from <= at; });
    if (after == begin || std::prev(after)->to < at) return kNone;
    return static_cast<std::uint32_t>(std::prev(after) - out_->runs.begin());
  }

 private:
  void read_thread(ActorId id) {
    const Actor& actor = trace_.actors[id];
    const Nanos since = std::max(actor.start, trace_.window.begin);
    const Nanos end = std::max(since, std::min(actor.exit, trace_.window.end));
    read_offs(id);
    const Nanos first = offs_.empty() ? kNever : offs_.front().from;
    const Nanos known = std::max(since, std::min(actor.seen, first));
    if (known >= end) return;
    const bool exits = actor.exit < trace_.window.end;
    Nanos cursor = known;
    for (const Off& off : offs_) {
      if (off.from >= end) break;
      if (off.to <= known) continue;
      const bool was_woken = off.wake < known;
      add_run(id, cursor, std::max(off.from, cursor), was_woken ? Leaving::preemption : off.leaving);
      if (off.wake >= known && off.wake < end)
        out_->wakings.push_back({off.wake, off.site, static_cast<std::uint32_t>(out_->runs.size() - 1)});
      cursor = std::min(off.to, end);
    }
    if (exits || cursor < end) add_run(id, cursor, end, exits ? Leaving::exit : Leaving::stays);
  }

  /// The second part of a wait for a packet continues the first one.
  void read_offs(ActorId id) {
    offs_.clear();
    History rest = histories_.of(id);
    while (const std::optional<Interval> interval = take_next(trace_, rest)) {
      const Off off = off_of(trace_, *interval);
      const bool continues = interval->kind == Interval::Kind::wait && trace_.sites[off.site].in_flight &&
                             !offs_.empty() && offs_.back().to == off.from &&
                             offs_.back().wake == offs_.back().to;
      if (!continues) {
        offs_.push_back(off);
        continue;
      }
      offs_.back().to = off.to;
      offs_.back().wake = off.wake;
      offs_.back().site = off.site;
    }
  }

  void add_run(ActorId id, Nanos from, Nanos to, Leaving leaving) {
    out_->runs.push_back({id, from, to, leaving});
  }

  const Trace& trace_;
  Histories histories_;
  std::vector<std::uint32_t> first_run_;
  std::vector<Off> offs_;
  SchedEvents* out_ = nullptr;
};

/// Gives each run a CPU. A thread that goes on at the instant at which it left is served first, so that it
/// stays where it is: events of two CPUs at one instant have no order.
void number_cpus(SchedEvents& events, std::size_t actors) {
  std::vector<Run>& runs = events.runs;
  const auto goes_on = [&runs](std::uint32_t index) {
    return index > 0 && runs[index - 1].thread == runs[index].thread &&
           runs[index - 1].to == runs[index].from && runs[index - 1].from < runs[index].from;
  };
  std::vector<std::uint32_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(runs[a].from, !goes_on(a), runs[a].to, a) <
           std::tuple(runs[b].from, !goes_on(b), runs[b].to, b);
  });
  struct Cpu {
    Nanos free_from = 0;
    std::uint32_t runs = 0;
  };
  std::vector<Cpu> cpus;
  std::vector<std::uint32_t> last(actors, kNone);
  for (const std::uint32_t index : order) {
    Run& run = runs[index];
    run.cpu = last[run.thread];
    if (run.cpu == kNone || cpus[run.cpu].free_from > run.from) {
      const auto free = std::find_if(cpus.begin(), cpus.end(),
                                     [&run](const Cpu& cpu) { return cpu.free_from <= run.from; });
      run.cpu = static_cast<std::uint32_t>(free - cpus.begin());
      if (free == cpus.end()) cpus.push_back({});
    }
    last[run.thread] = run.cpu;
    cpus[run.cpu].free_from = run.to;
    run.place = cpus[run.cpu].runs++;
  }
  events.cpus = static_cast<std::uint32_t>(cpus.size());
}

/// The place of an event before, in or after a run on its CPU, among events at one instant.
enum class Beside : std::uint8_t { before, begin, inside, end, after };
std::uint64_t rank_beside(const Run& run, Beside beside) {
  constexpr std::uint64_t kPlaces = 8;
  return run.place * kPlaces + static_cast<std::uint64_t>(beside);
}

/// A wakeup as an event. It is on the waker's CPU, unless the thread itself leaves or comes at this instant.
SchedEvent place_waking(const Trace& trace, const SchedEvents& events, const Threads& threads,
                        std::uint32_t index) {
  const Waking& waking = events.wakings[index];
  const Run& before = events.runs[waking.run];
  SchedEvent event{waking.at, before.cpu, SchedEvent::Kind::waking, index, UINT64_MAX};
  const std::size_t next = waking.run + std::size_t{1};
  const bool comes = next < events.runs.size() && events.runs[next].thread == before.thread &&
                     events.runs[next].from == waking.at;
  if (comes) {
    event.cpu = events.runs[next].cpu;
    event.rank = rank_beside(events.runs[next], Beside::before);
  } else if (before.to == waking.at) {
    event.rank = rank_beside(before, Beside::after);
  } else if (const ActorId waker = trace.sites[waking.site].waker;
             waker != kNoActor && trace.actors[waker].kind == ActorKind::thread) {
    if (const std::uint32_t run = threads.run_at(waker, waking.at); run != kNone) {
      event.cpu = events.runs[run].cpu;
      event.rank = rank_beside(events.runs[run], Beside::inside);
    }
  }
  return event;
}

}  // namespace

SchedEvents sched_events(const Trace& trace) {
  SchedEvents out;
  Threads threads(trace);
  threads.read(out);
  number_cpus(out, trace.actors.size());
  out.events.reserve(2 * out.runs.size() + out.wakings.size());
  for (std::uint32_t index = 0; index < out.runs.size(); ++index) {
    const Run& run = out.runs[index];
    out.events.push_back(
        {run.from, run.cpu, SchedEvent::Kind::comes, index, rank_beside(run, Beside::begin)});
    if (run.leaving != Leaving::stays)
      out.events.push_back({run.to, run.cpu, SchedEvent::Kind::leaves, index, rank_beside(run, Beside::end)});
  }
  for (std::uint32_t index = 0; index < out.wakings.size(); ++index)
    out.events.push_back(place_waking(trace, out, threads, index));
  std::sort(out.events.begin(), out.events.end(), [](const SchedEvent& a, const SchedEvent& b) {
    return std::tuple(a.at, a.cpu, a.rank, a.index) < std::tuple(b.at, b.cpu, b.rank, b.index);
  });
  return out;
}

}  // namespace offwait
