// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/script.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "progress/progress.h"
#include "replay/event_stream.h"
#include "replay/origins.h"

namespace offwait {

namespace {

/// A wake-up on a free CPU takes no longer than this. The shortest recorded one may be longer if no thread
/// ever found a free CPU.
constexpr Nanos kLongestWakeUp = 50'000;

enum class ScriptState : std::uint8_t { absent, running, runnable, blocked };

struct ScriptThread {
  ScriptState state = ScriptState::absent;
  Nanos last = 0;            ///< time of the last event
  Nanos step_from = 0;       ///< recorded time that is in no step yet
  double work_ns = 0;        ///< running time that is in no step yet
  double timed_out_ns = 0;   ///< in time-outs that came to nothing, since its last other wait
  double worked_ns = 0;      ///< all running time so far
  double served_ns = 0;      ///< all time so far for which disks served its requests
  ActorId disk = kNoActor;   ///< the last of these disks
  double holder_worked = 0;  ///< of a blocked thread: worked_ns and served_ns of the thread that has the lock
  double holder_served = 0;
  std::span<const Hold> holds;   ///< those that are not over at `last`
  SiteId after = Step::kNoSite;  ///< the last wait that is over
};

struct DiskState {
  std::vector<Nanos> free_from;  ///< by channel: when its last request was complete
  std::uint64_t completed = 0;
};

class Writer {
 public:
  explicit Writer(const ReplayInput& input)
      : input_(input),
        trace_(input.trace),
        origins_(origins_of(trace_)),
        ties_(input.ties),
        threads_(trace_.actors.size()) {
    out_.threads.resize(trace_.actors.size());
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      const Actor& actor = trace_.actors[id];
      threads_[id].holds = input.holds.of(id);
      // Where the end of a thread is what counts, threads that exit in the window do not repeat their
      // scripts.
      const bool lived_on = input.thread != kNoActor
                                ? actor.exit >= trace_.window.end
                                : is_nearly_all({actor.start, actor.exit}, trace_.window);
      out_.threads[id].repeats =
          actor.kind == ActorKind::thread && actor.start <= trace_.window.begin && lived_on;
    }
  }

  Scripts write(std::size_t most_steps) {
    EventStream events(trace_, input_.histories);
    Nanos end = trace_.window.end;
    while (const std::optional<Event> event = events.next()) {
      if (out_.steps >= most_steps) {
        end = event->at;
        break;
      }
      take(*event);
    }
    for (ActorId id = 0; id < threads_.size(); ++id) {
      if (threads_[id].state == ScriptState::running || threads_[id].state == ScriptState::runnable) {
        advance(id, std::min(end, trace_.actors[id].exit));
        flush(id);
      }
    }
    out_.length_ns = static_cast<double>(end - trace_.window.begin);
    out_.wake_up_ns = static_cast<double>(std::min(shortest_, kLongestWakeUp));
    return std::move(out_);
  }

 private:
  void take(const Event& event) {
    ScriptThread& thread = threads_[event.thread];
    switch (event.what) {
      case Event::What::born:
        return born(event);
      case Event::What::wake:
        return wake(event);
      case Event::What::run:
        shortest_ = std::min(shortest_, event.at - thread.last);
        thread.state = ScriptState::running;
        thread.last = event.at;
        return;
      case Event::What::block: {
        advance(event.thread, event.at);
        flush(event.thread);
        thread.state = ScriptState::blocked;
        const SiteId site = trace_.waits[event.wait].site;
        if (ties_.of_site[site] == Tie::lasts) {
          const ActorId holder = trace_.sites[site].waker;
          thread.holder_worked = worked_until(holder, event.at);
          thread.holder_served = threads_[holder].served_ns;
        }
        return;
      }
      case Event::What::preempted:
        advance(event.thread, event.at);
        thread.state = ScriptState::runnable;
        return;
    }
  }

  void born(const Event& event) {
    ScriptThread& thread = threads_[event.thread];
    thread.state = ScriptState::running;
    thread.last = thread.step_from = event.at;
    if (event.at <= trace_.window.begin) {
      return;
    }
    const ActorId origin = origins_[event.thread];
    if (origin != kNoActor && threads_[origin].state == ScriptState::running) {
      signal(origin, event.at, event.thread, 1e300, 0);
      out_.threads[event.thread].repeats = out_.threads[origin].repeats;
    } else if (origin != kNoActor && threads_[origin].state != ScriptState::absent) {
      // The thread begins this long after its origin stopped running.
      push(origin, {Step::What::signal, kNoLock, out_.signals, 0, 0});
      push(event.thread, {Step::What::await, kNoLock, out_.signals, 1e300, 0});
      push(event.thread,
           {Step::What::delay, kNoLock, 0, static_cast<double>(event.at - threads_[origin].last), 0});
      ++out_.signals;
      out_.threads[event.thread].repeats = out_.threads[origin].repeats;
    } else {
      push(event.thread,
           {Step::What::delay, kNoLock, 0, static_cast<double>(event.at - trace_.window.begin), 0});
    }
    out_.threads[event.thread].born = out_.threads[event.thread].steps.size();
  }

  void push(ActorId thread, const Step& step) {
    out_.threads[thread].steps.push_back(step);
    ++out_.steps;
  }

  void advance(ActorId id, Nanos at) {
    ScriptThread& thread = threads_[id];
    while (!thread.holds.empty() && thread.holds.front().from < at) {
      const Hold& hold = thread.holds.front();
      if (hold.from > thread.last) {
        work_until(thread, hold.from);
        flush(id);
      }
      work_until(thread, std::min(hold.to, at));
      if (hold.to > at) return;
      flush(id, hold.lock);
      thread.holds = thread.holds.subspan(1);
    }
    work_until(thread, at);
  }

  static void work_until(ScriptThread& thread, Nanos at) {
    if (thread.state == ScriptState::running) {
      thread.work_ns += static_cast<double>(at - thread.last);
      thread.worked_ns += static_cast<double>(at - thread.last);
    }
    thread.last = at;
  }

  double worked_until(ActorId id, Nanos at) const {
    const ScriptThread& thread = threads_[id];
    const bool runs = thread.state == ScriptState::running;
    return thread.worked_ns + (runs ? static_cast<double>(at - thread.last) : 0);
  }

  /// The lock that the thread holds.
  static LockId held_by(const ScriptThread& thread) {
    const bool holds = !thread.holds.empty() && thread.holds.front().from < thread.last;
    return holds ? thread.holds.front().lock : kNoLock;
  }

  /// The lock that the thread holds for most of the time from its last event to `at`.
  static LockId held_in(const ScriptThread& thread, Nanos at) {
    for (const Hold& hold : thread.holds) {
      if (hold.from >= at) break;
      if (2 * (std::min(hold.to, at) - std::max(hold.from, thread.last)) > at - thread.last) return hold.lock;
    }
    return kNoLock;
  }

  /// Writes down the work since the last step.
  void flush(ActorId id) { flush(id, held_by(threads_[id])); }

  void flush(ActorId id, LockId lock) {
    ScriptThread& thread = threads_[id];
    push(id, {Step::What::work, lock, 0, thread.work_ns, static_cast<double>(thread.last - thread.step_from),
              thread.after});
    thread.work_ns = 0;
    thread.step_from = thread.last;
  }

  void signal(ActorId from, Nanos at, ActorId to, double longest, double recorded, LockId lock = kNoLock) {
    advance(from, at);
    flush(from);
    push(from, {Step::What::signal, kNoLock, out_.signals, 0, 0});
    push(to, {Step::What::await, lock, out_.signals, longest, recorded});
    ++out_.signals;
  }

  void wake(const Event& event) {
    ScriptThread& thread = threads_[event.thread];
    const SiteId site_id = trace_.waits[event.wait].site;
    const WaitSite& site = trace_.sites[site_id];
    if (input_.kinds.time_outs.came_to_nothing(event.wait)) {
      thread.timed_out_ns += static_cast<double>(event.at - thread.last);
      thread.last = thread.step_from = event.at;
      thread.state = ScriptState::runnable;
      return;
    }
    const double length =
        static_cast<double>(event.at - thread.last) + std::exchange(thread.timed_out_ns, 0.0);
    std::vector<Step>& steps = out_.threads[event.thread].steps;
    const std::size_t before = steps.size();
    const auto simple = [&](Step::What what) {
      push(event.thread, {what, kNoLock, 0, length, length, site_id});
    };
    switch (input_.kinds.of_site[site_id]) {
      case WaitKind::handover:
      case WaitKind::lock:
        wait_for_thread(event, site.waker, ties_.of_site[site_id], length);
        break;
      case WaitKind::disk:
        // Requests of those that are below a device are a part of what the device does for others, who wait
        // for all of it (WaitKind::below).
        if (input_.kinds.below_devices[input_.groups.group_of[event.thread]]) {
          push(event.thread, {Step::What::below, kNoLock, site.waker, length, length, site_id});
          break;
        }
        push(event.thread,
             {Step::What::disk, kNoLock, site.waker, service(event, site.waker), length, site_id});
        thread.served_ns += out_.threads[event.thread].steps.back().length_ns;
        thread.disk = site.waker;
        break;
      case WaitKind::timer:
        simple(Step::What::sleep);
        if (is_at_fixed_rate(input_.kinds.sleeps.of_site[site_id])) {
          sleep_until(event, input_.kinds.sleeps.period_ns[site_id], steps.back());
        }
        break;
      case WaitKind::throttled:
        wait_for_pace(event, length);
        break;
      case WaitKind::remote:
        push(event.thread,
             {Step::What::remote, kNoLock, input_.kinds.services.of_site[site_id], length, length, site_id});
        break;
      case WaitKind::below:
      case WaitKind::paused:
        below(event, length);
        break;
      case WaitKind::looked:
        wait_for_thread(event, input_.kinds.let_go_by(event.wait), Tie::follows, length);
        break;
      case WaitKind::transit:
      case WaitKind::stopped:
      case WaitKind::unknown:
        simple(Step::What::delay);
        break;
    }
    const WaitKind kind = input_.kinds.of_site[site_id];
    for (std::size_t i = before; kind != WaitKind::handover && kind != WaitKind::lock && i < steps.size();
         ++i) {
      steps[i].held = held_in(thread, event.at);
    }
    thread.last = thread.step_from = event.at;
    thread.after = site_id;
    thread.state = ScriptState::runnable;
  }

  /// `waker`: kNoActor if it is not known who ended the wait.
  void wait_for_thread(const Event& event, ActorId waker, Tie tie, double length) {
    const SiteId site_id = trace_.waits[event.wait].site;
    const LockId lock = input_.holds.lock_of(input_.kinds, trace_.waits[event.wait]);
    const ScriptState state = waker == kNoActor ? ScriptState::absent : threads_[waker].state;
    const ServiceId service = input_.kinds.services.of_site[site_id];
    if (waker != kNoActor && state == ScriptState::absent && service != kNoService) {
      return push(event.thread, {Step::What::remote, lock, service, length, length, site_id});
    }
    if (tie == Tie::follows && (state == ScriptState::running || state == ScriptState::runnable)) {
      const GroupId group = input_.groups.group_of[event.thread];
      return signal(waker, event.at, event.thread, ties_.longest(group, length), length, lock);
    }
    double rest = length;
    if (tie == Tie::lasts) {
      const ScriptThread& thread = threads_[event.thread];
      const ScriptThread& holder = threads_[waker];
      const double work = std::min(rest, worked_until(waker, event.at) - thread.holder_worked);
      push(event.thread, {Step::What::others, lock, input_.groups.group_of[waker], work, work, site_id});
      rest -= work;
      const double served = std::min(rest, holder.served_ns - thread.holder_served);
      if (served > 0) push(event.thread, {Step::What::below, lock, holder.disk, served, served, site_id});
      rest -= std::max(0.0, served);
    }
    push(event.thread, {Step::What::delay, lock, 0, rest, rest, site_id});
  }

  /// The step is a sleep at a fixed rate.
  void sleep_until(const Event& event, double period_ns, Step& step) {
    step.what = Step::What::until;
    const auto [last, is_first] = moments_.try_emplace(event.thread, event.at);
    if (is_first) return;
    const auto since = static_cast<double>(event.at - std::exchange(last->second, event.at));
    const FixedRate rate = at_fixed_rate(since, since - step.length_ns, period_ns);
    step.length_ns = rate.period_ns;
    step.id = static_cast<std::uint32_t>(std::min(rate.worked, 1e9));
    step.slept = rate.slept;
  }

  /// Until the thread that is behind gets to where it was then.
  void wait_for_pace(const Event& event, double length) {
    const auto found = input_.kinds.sleeps.at_work.find(event.wait);
    if (found == input_.kinds.sleeps.at_work.end() || threads_[found->second].state == ScriptState::absent) {
      return push(event.thread, {Step::What::delay, kNoLock, 0, length, length});
    }
    const ScriptThread& behind = threads_[found->second];
    const bool is_blocked = behind.state == ScriptState::blocked;
    const auto rest = is_blocked ? std::min(length, static_cast<double>(event.at - behind.last)) : 0;
    if (is_blocked) {
      push(found->second, {Step::What::signal, kNoLock, out_.signals, 0, 0});
      push(event.thread, {Step::What::await, kNoLock, out_.signals++, 1e300, length - rest});
    } else {
      signal(found->second, event.at, event.thread, 1e300, length);
    }
    if (rest > 0) push(event.thread, {Step::What::delay, kNoLock, 0, rest, rest});
  }

  /// What the disks took, and the rest.
  void below(const Event& event, double length) {
    double rest = length;
    const SiteId site = trace_.waits[event.wait].site;
    for (const DiskPart& part : parts_of(input_.kinds.disk_parts, event.wait)) {
      const double served = std::min(rest, static_cast<double>(part.part_ns));
      push(event.thread, {Step::What::below, kNoLock, part.disk, served, served, site});
      rest -= served;
    }
    const bool paused = input_.kinds.of_site[site] == WaitKind::paused;
    if (paused && rest < length) {
      threads_[event.thread].served_ns += length - rest;
      threads_[event.thread].disk = trace_.sites[site].waker;
    }
    push(event.thread, {paused ? Step::What::pause : Step::What::delay, kNoLock, 0, rest, rest,
                        paused ? site : Step::kNoSite});
  }

  /// How long the request took once a channel of the disk was free. Channels take turns in the order in which
  /// requests are complete, whatever order these came in, so that a channel never does two at a time. Time
  /// for which it queued behind requests of threads below devices is a part of it.
  double service(const Event& event, ActorId id) {
    const std::uint64_t channels = input_.channels[id].known;
    DiskState& disk = disks_[id];
    const ScriptThread& thread = threads_[event.thread];
    Nanos begin = thread.last;
    if (channels != 0) {
      disk.free_from.resize(channels);
      Nanos& free_from = disk.free_from[disk.completed++ % channels];
      begin = std::max(begin, std::exchange(free_from, event.at));
    }
    return static_cast<double>(event.at - begin);
  }

  const ReplayInput& input_;
  const Trace& trace_;
  std::vector<ActorId> origins_;
  const Ties& ties_;
  std::vector<ScriptThread> threads_;
  std::map<ActorId, DiskState> disks_;
  std::map<ActorId, Nanos> moments_;  ///< until when threads that go on at a fixed rate slept last
  Nanos shortest_ = kNever;           ///< time from a wake to running: without a queue for a CPU
  Scripts out_;
};

}  // namespace

Scripts scripts_of(const ReplayInput& input, std::size_t most_steps) {
  return Writer(input).write(most_steps);
}

}  // namespace offwait
