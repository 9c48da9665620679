// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/usable_cpus.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/side_by_side.h"
#include "model/pinning.h"
#include "replay/event_stream.h"

namespace offwait {

namespace {

constexpr Nanos kWakeUp = 50'000;
constexpr double kRanAtOnce = 0.05;
constexpr double kLeastPart = 0.1;
/// Other programs run on a pinned target's CPUs if they take this part of a CPU there.
constexpr double kSomeOthers = 0.02;
/// In parts of the window that have this many waits together, threads run and queue as in the whole window.
constexpr std::size_t kEnoughWaits = 500'000;
constexpr std::size_t kParts = 16;

enum class QueueState : std::uint8_t { absent, running, ready, queued, blocked };

/// How many threads run, and how many queue, as time goes on.
class Counter {
 public:
  Counter(std::size_t actors, Nanos begin) : states_(actors), at_(begin) {}

  void enter(ActorId thread, QueueState state, Nanos at) {
    pass(at);
    count(states_[thread], -1);
    states_[thread] = state;
    count(state, 1);
  }
  void pass(Nanos at) {
    const auto elapsed = static_cast<double>(std::max<Nanos>(0, at - at_));
    running_ns += static_cast<double>(running_) * elapsed;
    const auto number = static_cast<std::size_t>(std::max(running_, 0));
    at_once_ns.resize(std::max(at_once_ns.size(), number + 1));
    at_once_ns[number] += elapsed;
    if (queued_ > 0) {
      queued_ns += elapsed;
      running_while_queued_ns += static_cast<double>(running_) * elapsed;
    }
    at_ = std::max(at, at_);
  }

  /// Adds the times of another part of the window.
  void add(const Counter& other) {
    running_ns += other.running_ns;
    queued_ns += other.queued_ns;
    running_while_queued_ns += other.running_while_queued_ns;
    at_once_ns.resize(std::max(at_once_ns.size(), other.at_once_ns.size()));
    for (std::size_t i = 0; i < other.at_once_ns.size(); ++i) at_once_ns[i] += other.at_once_ns[i];
  }

  /// The largest number such that as many threads or more ran at once for `for_ns`, all times together.
  double ran_at_once(double for_ns) const {
    double sum = 0;
    for (std::size_t number = at_once_ns.size(); number-- > 0;) {
      sum += at_once_ns[number];
      if (sum >= for_ns) {
        return static_cast<double>(number);
      }
    }
    return 0;
  }

  std::vector<double> at_once_ns;  ///< by the number of threads that ran
  double running_ns = 0;
  double queued_ns = 0;
  double running_while_queued_ns = 0;

 private:
  void count(QueueState state, int by) {
    running_ += state == QueueState::running ? by : 0;
    queued_ += state == QueueState::queued ? by : 0;
  }
  std::vector<QueueState> states_;
  Nanos at_;
  int running_ = 0;
  int queued_ = 0;
};

QueueState state_after(const Trace& trace, const Event& event) {
  switch (event.what) {
    case Event::What::block:
      return QueueState::blocked;
    case Event::What::preempted:
      return QueueState::queued;
    case Event::What::wake: {
      const Wait& wait = trace.waits[event.wait];
      return wait.run - wait.wake > kWakeUp ? QueueState::queued : QueueState::ready;
    }
    case Event::What::born:
    case Event::What::run:
      break;
  }
  return QueueState::running;
}

/// Threads by their exits, the last exit first. Threads that outlive the part of the window are left out.
std::vector<ActorId> threads_by_exit(const Trace& trace, const Window& part) {
  std::vector<ActorId> out;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind == ActorKind::thread && actor.exit > part.begin && actor.exit < part.end) {
      out.push_back(id);
    }
  }
  std::sort(out.begin(), out.end(),
            [&trace](ActorId a, ActorId b) { return trace.actors[a].exit > trace.actors[b].exit; });
  return out;
}

Counter counted(const Trace& trace, const Histories& histories, const Window& part) {
  Counter counter(trace.actors.size(), part.begin);
  std::vector<ActorId> exits = threads_by_exit(trace, part);
  const auto pass_exits = [&](Nanos at) {
    while (!exits.empty() && trace.actors[exits.back()].exit <= at) {
      counter.enter(exits.back(), QueueState::absent, trace.actors[exits.back()].exit);
      exits.pop_back();
    }
  };
  EventStream events(trace, histories, part);
  while (const std::optional<Event> event = events.next()) {
    pass_exits(event->at);
    counter.enter(event->thread, state_after(trace, *event), event->at);
  }
  pass_exits(part.end);
  counter.pass(part.end);
  return counter;
}

/// The parts of the window that are counted: its two halves or, where there are very many waits, short parts
/// at equal distances. They are the same on any machine, because sums are rounded.
std::vector<Window> counted_parts(const Trace& trace) {
  const std::size_t parts = trace.waits.size() > kEnoughWaits ? kParts : 2;
  const double part =
      static_cast<double>(kEnoughWaits) / static_cast<double>(std::max(trace.waits.size(), kEnoughWaits));
  const auto each = static_cast<double>(trace.window.length()) / static_cast<double>(parts);
  std::vector<Window> out;
  for (std::size_t i = 0; i < parts; ++i) {
    const Nanos begin = trace.window.begin + static_cast<Nanos>(static_cast<double>(i) * each);
    out.push_back({begin, begin + std::max<Nanos>(1, static_cast<Nanos>(part * each))});
  }
  return out;
}

/// The CPUs that some thread of the target may use, and how long they were busy, whoever used them.
struct AllowedCpus {
  Nanos busy_ns = 0;
  Nanos idle_ns = 0;
  Nanos busy_of_all_ns = 0;  ///< of all CPUs of the machine
  bool all = true;           ///< the target is not pinned
  bool known = false;
};

AllowedCpus allowed_cpus(const Trace& trace) {
  const auto may_use = [&trace](const CpuTime& cpu) {
    return std::any_of(trace.actors.begin(), trace.actors.end(), [&cpu](const Actor& actor) {
      return actor.kind == ActorKind::thread && !actor.outside && !actor.kernel &&
             (actor.allowed_cpus.empty() || contains(actor.allowed_cpus, cpu.cpu));
    });
  };
  AllowedCpus out;
  out.known = !trace.cpu_times.empty() || trace.recording.cpu_busy_ns + trace.recording.cpu_idle_ns > 0;
  if (trace.cpu_times.empty()) {
    out.busy_ns = trace.recording.cpu_busy_ns;
    out.busy_of_all_ns = out.busy_ns;
    out.idle_ns = trace.recording.cpu_idle_ns;
  }
  for (const CpuTime& cpu : trace.cpu_times) {
    out.busy_of_all_ns += cpu.busy_ns;
    if (may_use(cpu)) {
      out.busy_ns += cpu.busy_ns;
      out.idle_ns += cpu.idle_ns;
    } else {
      out.all = false;
    }
  }
  return out;
}

bool is_throttled(const Trace& trace) { return most_used_up(trace.cpu_quotas) != nullptr; }

/// How many of these CPUs were idle, on average; 0 if a quota was used up.
double idle_cpus(const Trace& trace, const AllowedCpus& cpus) {
  return is_throttled(trace) ? 0
                             : static_cast<double>(cpus.idle_ns) / static_cast<double>(trace.window.length());
}

/// How busy these CPUs were, 0 to 1; 0 for a target that is not pinned. Clients outside of it may run on the
/// other CPUs.
double pinned_busy(const AllowedCpus& cpus) {
  return cpus.all || cpus.busy_ns == 0
             ? 0
             : static_cast<double>(cpus.busy_ns) / static_cast<double>(cpus.busy_ns + cpus.idle_ns);
}

/// By ActorId: how long the thread was ready to run without a CPU.
std::vector<Nanos> runnable_of_threads(const Trace& trace) {
  std::vector<Nanos> out(trace.actors.size());
  for (const Wait& wait : trace.waits) {
    out[trace.sites[wait.site].thread] += clipped(wait.wake, wait.run, trace.window);
  }
  for (const Preemption& preemption : trace.preemptions) {
    out[preemption.thread] += clipped(preemption.out, preemption.run, trace.window);
  }
  return out;
}

/// A quota that was used up keeps the target from more CPUs as well.
void add_pinning(const Trace& trace, UsableCpus& out) {
  const Pinning pinning = pinning_of(trace, runnable_of_threads(trace));
  if (is_throttled(trace) || !pinning.explains || !pinning.most->are_kept_out()) return;
  out.pinned_to = pinning.most->allowed_cpus;
  out.online = pinning.most->online_cpus;
}

void add_quota(const Trace& trace, UsableCpus& out) {
  const CpuQuota* const quota = most_used_up(trace.cpu_quotas);
  if (quota == nullptr || cpus_of(*quota) >= static_cast<double>(trace.recording.cpus)) return;
  out.quota = cpus_of(*quota);
  out.online = static_cast<double>(trace.recording.cpus);
}

/// What the recorded threads share with other programs, if nothing limits them but the sets of CPUs to which
/// threads are pinned (cpu_sets()). Other programs that run on the CPUs of a pinned target although other
/// CPUs are free must be pinned as well, and it was not recorded how.
void add_others(const Trace& trace, const AllowedCpus& allowed, double running, UsableCpus& out) {
  if (!allowed.known || is_throttled(trace)) return;
  const auto window = static_cast<double>(trace.window.length());
  const double stolen = static_cast<double>(trace.recording.cpu_steal_ns) / window;
  const auto others_of = [&](Nanos busy_ns) {
    return static_cast<double>(busy_ns) / window - stolen - running;
  };
  if (!allowed.all && others_of(allowed.busy_ns) > kSomeOthers) return;
  out.shared = static_cast<double>(trace.recording.cpus);
  out.others = std::clamp(others_of(allowed.busy_of_all_ns), 0.0, out.shared);
  out.stolen = std::clamp(stolen / out.shared, 0.0, 1 - kLeastPart);
}

}  // namespace

UsableCpus usable_cpus(const Trace& trace, const Histories& histories) {
  const auto all = static_cast<double>(trace.recording.cpus);
  if (trace.recording.cpus == 0) {
    return {};
  }
  const std::vector<Window> parts = counted_parts(trace);
  std::vector<Counter> counters(parts.size(), Counter(0, 0));
  each_side_by_side(parts.size(), [&](std::size_t i) { counters[i] = counted(trace, histories, parts[i]); });
  Counter counter = std::move(counters.front());
  for (std::size_t i = 1; i < counters.size(); ++i) counter.add(counters[i]);
  const double window = std::accumulate(parts.begin(), parts.end(), 0.0, [](double sum, const Window& part) {
    return sum + static_cast<double>(part.length());
  });
  UsableCpus out;
  const AllowedCpus allowed = allowed_cpus(trace);
  add_others(trace, allowed, counter.running_ns / window, out);
  add_pinning(trace, out);
  add_quota(trace, out);
  if (counter.queued_ns < UsableCpus::kQueues * window) {
    out.cpus = all;
    out.busy = std::min(1.0, counter.running_ns / (all * window));
    return out;
  }
  const double at_once = counter.ran_at_once(kRanAtOnce * window);
  const double least = allowed.known ? counter.running_ns / window + idle_cpus(trace, allowed) : at_once;
  const double usable =
      std::clamp(counter.running_while_queued_ns / counter.queued_ns, std::min(all, least), all);
  const double cpus = std::clamp(at_once, usable, all);
  const double busy = usable > 0 ? std::min(1.0, counter.running_ns / (usable * window)) : 1.0;
  out.cpus = cpus;
  out.busy = std::max(busy, pinned_busy(allowed));
  out.part = std::clamp(usable / std::max(1.0, std::round(cpus)), kLeastPart, 1.0);
  out.queued = counter.queued_ns / window;
  return out;
}

}  // namespace offwait
