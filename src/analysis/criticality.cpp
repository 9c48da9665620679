// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/criticality.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "replay/event_stream.h"

namespace offwait {

namespace {

enum class State : std::uint8_t { absent, running, runnable, blocked, spinning };

constexpr std::uint32_t kNoSample = UINT32_MAX;

struct ThreadState {
  State state = State::absent;
  Nanos since = 0;
  double begin = 0;                  ///< the clock when its slice began
  double credit = 0;                 ///< the clock when it last ended a wait
  std::uint32_t sample = kNoSample;  ///< the last CPU sample of its slice
};

bool is_active(State state) { return state == State::running || state == State::runnable; }

class Sum {
 public:
  explicit Sum(const Trace& trace)
      : trace_(trace),
        threads_(trace.actors.size()),
        at_(trace.window.begin),
        samples_(trace.cpu_samples.size()) {
    out_.threads.resize(trace.actors.size());
    out_.ended_by.resize(trace.sites.size());
    out_.woken_from.resize(trace.sites.size());
    out_.samples.resize(trace.cpu_samples.size());
    out_.ended_near.resize(trace.cpu_samples.size());
    std::iota(samples_.begin(), samples_.end(), 0);
    std::stable_sort(samples_.begin(), samples_.end(), [&trace](std::uint32_t a, std::uint32_t b) {
      return trace.cpu_samples[a].at < trace.cpu_samples[b].at;
    });
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      if (trace.actors[id].kind == ActorKind::thread && trace.actors[id].exit < trace.window.end) {
        exits_.emplace_back(trace.actors[id].exit, id);
      }
    }
    std::sort(exits_.begin(), exits_.end());
    for (const Gap& gap : trace.gaps) {
      if (gap.to > std::max(gap.from, trace.window.begin))
        gaps_.emplace(gap.thread, std::max(gap.from, trace.window.begin));
    }
  }

  Criticality run() {
    const Histories histories(trace_);
    EventStream events(trace_, histories);
    while (const std::optional<Event> event = events.next()) {
      // A thread may have been seen first when it was gone, or when the window was over.
      const bool late = trace_.actors[event->thread].exit < event->at || event->at >= trace_.window.end;
      if (late || !is_counted(event->thread)) continue;
      exit_before(event->at);
      advance(event->at);
      take(*event);
    }
    exit_before(trace_.window.end);
    advance(trace_.window.end);
    for (ActorId id = 0; id < threads_.size(); ++id) {
      leave(id, State::absent);
    }
    for (const Criticality::Thread& thread : out_.threads) {
      out_.total_ns += thread.critical_ns;
    }
    if (out_.some_active > 0) {
      out_.mean_active = active_ns_ / static_cast<double>(out_.some_active);
    }
    return std::move(out_);
  }

 private:
  bool is_counted(ActorId id) const { return !trace_.actors[id].outside; }

  /// Threads exit after what they did last.
  void exit_before(Nanos at) {
    while (next_exit_ < exits_.size() && exits_[next_exit_].first < at) {
      const auto [exit, id] = exits_[next_exit_++];
      if (!is_counted(id) || threads_[id].state == State::absent) continue;
      advance(exit);
      leave(id, State::absent);
    }
  }

  void advance(Nanos to) {
    while (next_sample_ < samples_.size() && trace_.cpu_samples[samples_[next_sample_]].at < to) {
      const std::uint32_t index = samples_[next_sample_++];
      const CpuSample& sample = trace_.cpu_samples[index];
      if (sample.at < trace_.window.begin || !is_counted(sample.thread) ||
          threads_[sample.thread].state == State::spinning) {
        continue;
      }
      threads_[sample.thread].sample = index;
      out_.samples[index] = 1 / static_cast<float>(std::max(active_, 1));
    }
    if (active_ > 0) {
      clock_ += static_cast<double>(to - at_) / active_;
      out_.some_active += to - at_;
      active_ns_ += static_cast<double>(to - at_) * active_;
    }
    at_ = to;
  }

  /// Ends what the thread was in, and returns the criticality of its slice.
  double leave(ActorId id, State next) {
    ThreadState& thread = threads_[id];
    Criticality::Thread& sum = out_.threads[id];
    double slice = 0;
    if (thread.state == State::running) {
      slice = clock_ - thread.begin;
      sum.critical_ns += slice;
      sum.running_ns += at_ - thread.since;
      if (next != State::blocked && next != State::spinning) {
        sum.preempted_ns += slice;
        if (thread.sample != kNoSample) out_.ended_near[thread.sample] += slice;
      }
    } else if (thread.state == State::runnable) {
      sum.runnable_ns += at_ - thread.since;
    }
    active_ += static_cast<int>(is_active(next)) - static_cast<int>(is_active(thread.state));
    thread.state = next;
    thread.since = at_;
    if (next == State::running) thread.begin = thread.credit = clock_;
    thread.sample = kNoSample;
    return slice;
  }

  void take(const Event& event) {
    switch (event.what) {
      case Event::What::born:
      case Event::What::run:
        leave(event.thread, State::running);
        return;
      case Event::What::preempted:
        // What the thread did in a gap is not known.
        leave(event.thread, gaps_.contains({event.thread, event.at}) ? State::absent : State::runnable);
        return;
      case Event::What::block: {
        const Wait& wait = trace_.waits[event.wait];
        const bool spins = trace_.sites[wait.site].wait_class == WaitClass::spin;
        const double slice = leave(event.thread, spins ? State::spinning : State::blocked);
        out_.ended_by[wait.site] += slice;
        if (wait.object != kNoObject && is_stored(trace_.objects[wait.object])) {
          Criticality::ForFile& file = out_.ended_for[{wait.site, wait.object}];
          file.critical_ns += slice;
          ++file.slices;
        }
        return;
      }
      case Event::What::wake: {
        const SiteId site = trace_.waits[event.wait].site;
        credit_waker(trace_.sites[site].waker, site);
        leave(event.thread, State::runnable);
        return;
      }
    }
  }

  void credit_waker(ActorId waker, SiteId site) {
    if (waker == kNoActor || threads_[waker].state != State::running) return;
    out_.woken_from[site] += clock_ - threads_[waker].credit;
    threads_[waker].credit = clock_;
  }

  const Trace& trace_;
  std::vector<ThreadState> threads_;
  std::vector<std::pair<Nanos, ActorId>> exits_;
  std::set<std::pair<ActorId, Nanos>> gaps_;  ///< thread, begin
  std::size_t next_exit_ = 0;
  std::size_t next_sample_ = 0;
  Nanos at_;
  int active_ = 0;
  double clock_ = 0;  ///< grows by T / n; the criticality of a slice is by how much it grew
  double active_ns_ = 0;
  std::vector<std::uint32_t> samples_;  ///< in order of time
  Criticality out_;
};

}  // namespace

Criticality criticality_of(const Trace& trace) { return Sum(trace).run(); }

}  // namespace offwait
