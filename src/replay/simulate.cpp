// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/simulate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <queue>
#include <system_error>
#include <thread>
#include <utility>

#include "progress/group_use.h"
#include "replay/cpu_sets.h"
#include "replay/others.h"
#include "replay/simulated_cpus.h"
#include "replay/simulated_thread.h"

namespace offwait {

namespace {

constexpr double kSlice = 3e6;
constexpr double kGranularity = 1e6;
/// A thread that slept long is preferred by no more than this.
constexpr double kMostCredit = 2e6;
constexpr std::uint32_t kNobody = UINT32_MAX;
/// A simulation that needs more moves than these is given up. A recorded step needs about two moves. Scripts
/// that repeat without taking time, and threads that compute for hours, would need any number.
constexpr std::uint64_t kMovesPerStep = 16;
constexpr std::uint64_t kMovesBesides = 1'000'000;
/// A thread of another program takes no more moves than this in a second.
constexpr double kMovesOfOther = 4000;
/// Other programs get what they got in the recording to within this many CPUs.
constexpr double kAsRecorded = 0.02;
/// Other programs want at most this many CPUs for each CPU that there is.
constexpr double kMostDemand = 8;
constexpr int kMostBisections = 5;
/// Threads that simulate side by side. The machine may have much else to do.
constexpr std::size_t kMostWorkers = 4;

class Simulation {
 public:
  /// `others` are threads besides those of `scripts`, with the ids that follow theirs.
  Simulation(const ReplayInput& input, const CpuSets& sets, const Scripts& scripts,
             const std::vector<Script>& others, const Scenario& scenario)
      : input_(input),
        scripts_(scripts),
        others_(others),
        scenario_(scenario),
        threads_(scripts.threads.size() + others.size()),
        signalled_(scripts.signals),
        awaiting_(scripts.signals, kNobody),
        disks_(scripts.threads.size()),
        cpus_(sets, threads_.size(), cpus_of_sets(sets, input.cpus, factor_of_cpus(scenario))) {
    stretch_ = 1 / (input.cpus.shared > 0 ? 1 - input.cpus.stolen : input.cpus.part);
    most_moves_ = scripts.steps * kMovesPerStep + kMovesBesides +
                  static_cast<std::uint64_t>(scripts.length_ns / 1e9 * kMovesOfOther *
                                             static_cast<double>(others.size()));
    for (const Change& change : scenario) {
      changes_code_ = changes_code_ || change.code != kNoCode;
    }
    for (std::uint32_t id = 0; id < scripts.threads.size(); ++id) {
      const GroupId group = input.groups.group_of[id];
      SimulatedThread& thread = threads_[id];
      thread.cpu = factor(Resource::cpu, group, kNoActor);
      thread.sleep = factor(Resource::sleep, group, kNoActor);
      thread.remote = factor(Resource::remote, group, kNoActor);
      thread.lives = scripts.threads[id].born == 0;
    }
    for (std::uint32_t id = 0; id < threads_.size(); ++id) {
      if (!script(id).steps.empty()) make_ready(id, scripts.wake_up_ns);
    }
  }

  /// Simulates up to the time `end`.
  void run_until(double end) {
    while (!happenings_.empty() && happenings_.top().at <= end && !gave_up()) {
      ++moves_;
      const Happening next = happenings_.top();
      happenings_.pop();
      now_ = next.at;
      if (threads_[next.thread].token == next.token) {
        happen(next.thread);
      }
    }
    now_ = end;
  }

  /// Simulates up to this thread's exit, and returns the time of the exit; nothing if it comes far later than
  /// in the recording, or takes too many moves.
  std::optional<double> run_until_exit(std::uint32_t id) {
    constexpr double kMostStretch = 64;
    const double limit = kMostStretch * scripts_.length_ns;
    while (threads_[id].state != SimulatedState::done && !happenings_.empty() && now_ < limit && !gave_up()) {
      run_until(happenings_.top().at);
    }
    return threads_[id].state == SimulatedState::done ? std::optional(threads_[id].since) : std::nullopt;
  }

  /// Whether the simulation took more moves than that of a real recording does.
  bool gave_up() const { return moves_ > most_moves_; }

  double covered(std::uint32_t id) const {
    const SimulatedThread& thread = threads_[id];
    if (thread.work_left <= 0) {
      return thread.covered;
    }
    const Step& step = script(id).steps[thread.step];
    const double ran = thread.state == SimulatedState::running ? now_ - thread.since : 0;
    const double left = std::max(0.0, thread.work_left - ran);
    return thread.covered + step.recorded_ns * (1 - left / (step.length_ns * thread.step_cpu));
  }

  /// For how long the thread has lived so far.
  double lived(std::uint32_t id) const {
    const SimulatedThread& thread = threads_[id];
    if (!thread.lives) return 0;
    return (thread.state == SimulatedState::done ? thread.since : now_) - thread.lives_from;
  }

  /// How many CPUs the others ran on so far, on average.
  double used_by_others() const {
    double ran = 0;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      ran += stretch_ * covered(static_cast<std::uint32_t>(scripts_.threads.size() + i));
    }
    return ran / now_;
  }

 private:
  const Script& script(std::uint32_t id) const {
    const std::size_t recorded = scripts_.threads.size();
    return id < recorded ? scripts_.threads[id] : others_[id - recorded];
  }

  double factor(Resource resource, GroupId group, ActorId device, ServiceId service = kNoService,
                LockId lock = kNoLock) const {
    double out = 1;
    for (const Change& change : scenario_) {
      if (change.resource == resource && change.group == group && change.device == device &&
          change.service == service && change.lock == lock && change.code == kNoCode) {
        out *= change.factor;
      }
    }
    return out;
  }

  /// The factor by which changes of functions scale the work of the step.
  double work_factor(std::uint32_t id, const Step& step) const {
    if (!changes_code_ || id >= scripts_.threads.size()) return 1;
    const Code& code = *input_.code;
    const PlaceId place =
        step.site == Step::kNoSite ? input_.groups.group_of[id] : code.place_after[step.site];
    return factor_of_work(scenario_, code, place);
  }

  /// The factor by which a function's change scales the wait of the step, or the time from the wait's end to
  /// running.
  double code_factor(Resource resource, const Step& step) const {
    if (!changes_code_ || step.site == Step::kNoSite) return 1;
    return factor_of_wait(scenario_, *input_.code, resource, input_.trace.sites[step.site].wait_stack);
  }

  double remote_factor(const SimulatedThread& thread, ServiceId service) const {
    const double own = input_.kinds.services.is_recorded(service) ? 1 : thread.remote;
    return service == kNoService ? own : own * factor(Resource::remote, kNoGroup, kNoActor, service);
  }

  double lock_factor(Resource resource, LockId lock) const {
    return lock == kNoLock ? 1 : factor(resource, kNoGroup, kNoActor, kNoService, lock);
  }

  void at(double when, std::uint32_t thread) {
    happenings_.push({when, ++order_, thread, ++threads_[thread].token});
  }

  void happen(std::uint32_t id) {
    SimulatedThread& thread = threads_[id];
    switch (thread.state) {
      case SimulatedState::starting:
        thread.state = SimulatedState::running;
        thread.since = now_;
        thread.turn = now_;
        go_on(id);
        return;
      case SimulatedState::running:
        ran(id);
        return;
      case SimulatedState::blocked:
        wait_over(id);
        return;
      case SimulatedState::ready:
      case SimulatedState::done:
        return;
    }
  }

  void account(SimulatedThread& thread) const {
    const double ran = now_ - thread.since;
    thread.work_left -= ran;
    thread.used += ran;
    thread.since = now_;
  }

  /// The turn of a thread is over, or its work is.
  void ran(std::uint32_t id) {
    SimulatedThread& thread = threads_[id];
    account(thread);
    if (thread.work_left > 0.5) {
      if (cpus_.has_to_share(id, thread.used)) {
        preempt(id);
      } else {
        thread.turn = now_;
        at(now_ + std::min(thread.work_left, kSlice), id);
      }
      return;
    }
    thread.work_left = 0;
    cpus_.stops(id);
    finish_step(id);
    go_on(id);
  }

  void finish_step(std::uint32_t id) {
    SimulatedThread& thread = threads_[id];
    thread.covered += script(id).steps[thread.step].recorded_ns;
    ++thread.step;
    ++moves_;
  }

  /// Takes steps until one needs time. The thread has a CPU.
  void go_on(std::uint32_t id) {
    SimulatedThread& thread = threads_[id];
    if (thread.work_left > 0) {
      return compute(id);
    }
    const Script& script = this->script(id);
    for (std::size_t taken = 0;; ++taken) {
      if (thread.step == script.steps.size()) {
        // A script that takes no time would begin anew without end.
        if (!script.repeats || taken > script.steps.size()) {
          return end(id);
        }
        thread.step = 0;
        ++thread.round;
      }
      if (!thread.lives && thread.step == script.born) {
        thread.lives = true;
        thread.lives_from = now_;
      }
      const Step& step = script.steps[thread.step];
      if (step.what == Step::What::signal) {
        give_signal(step.id);
      } else if (step.what == Step::What::work) {
        thread.step_cpu =
            stretch_ * thread.cpu * lock_factor(Resource::held, step.lock) * work_factor(id, step);
        thread.work_left = step.length_ns * thread.step_cpu;
        if (thread.work_left > 0) {
          thread.since = now_;
          return compute(id);
        }
      } else if (!passes(step, thread)) {
        return wait(id, step);
      }
      finish_step(id);
    }
  }

  /// Whether what the thread would wait for has come, or is a lock that no one waits for.
  bool passes(const Step& step, const SimulatedThread& thread) const {
    return (step.what == Step::What::await && signalled_[step.id] > thread.round) ||
           lock_factor(Resource::waited, step.lock) == 0;
  }

  void compute(std::uint32_t id) {
    SimulatedThread& thread = threads_[id];
    cpus_.computes(id, thread.since - thread.used);
    // A thread that only signals between two pieces of work keeps its CPU, and its turn goes on.
    at(now_ + std::clamp(thread.turn + kSlice - now_, 0.0, thread.work_left), id);
  }

  void end(std::uint32_t id) {
    threads_[id].state = SimulatedState::done;
    threads_[id].since = now_;
    ++threads_[id].token;
    cpus_.leave(id);
    fill();
  }

  void give_signal(std::uint32_t id) {
    ++signalled_[id];
    const std::uint32_t waiter = awaiting_[id];
    if (waiter != kNobody && signalled_[id] > threads_[waiter].round) {
      wait_over(waiter);
    }
  }

  void wait(std::uint32_t id, const Step& step) {
    SimulatedThread& thread = threads_[id];
    thread.state = SimulatedState::blocked;
    ++thread.token;
    cpus_.leave(id);
    const double held = lock_factor(Resource::held, step.held);
    switch (step.what) {
      case Step::What::await:
        awaiting_[step.id] = id;
        if (step.length_ns < 1e290) {
          at(now_ + step.length_ns, id);
        }
        break;
      case Step::What::disk:
        ask(id, step);
        break;
      case Step::What::sleep:
        at(now_ + step.length_ns * held * thread.sleep * code_factor(Resource::sleep, step), id);
        break;
      case Step::What::until: {
        const double period = step.length_ns * thread.sleep * code_factor(Resource::sleep, step);
        if (step.id == 0) thread.moment = now_;
        thread.moment += period * (step.slept + periods_needed(now_ - thread.moment, period, step.id));
        at(std::max(now_, thread.moment), id);
        break;
      }
      case Step::What::remote:
        at(now_ +
               step.length_ns * held * remote_factor(thread, step.id) * code_factor(Resource::remote, step),
           id);
        break;
      case Step::What::others:
        at(now_ + step.length_ns * factor(Resource::cpu, step.id, kNoActor) *
                      lock_factor(Resource::held, step.lock),
           id);
        break;
      case Step::What::pause:
        at(now_ + step.length_ns * held * pause_factor(step), id);
        break;
      case Step::What::below:
        at(now_ + step.length_ns * held * disk_factor(id, step) * pause_factor(step), id);
        break;
      default:
        at(now_ + step.length_ns * held, id);
        break;
    }
    fill();
  }

  /// 1 for a wait in which the kernel does not hold threads back.
  double pause_factor(const Step& step) const {
    if (step.site == Step::kNoSite || input_.kinds.of_site[step.site] != WaitKind::paused) return 1;
    return factor(Resource::pause, kNoGroup, paused_above(input_.trace, input_.trace.sites[step.site]));
  }

  double disk_factor(std::uint32_t thread, const Step& step) const {
    return factor(Resource::io, input_.groups.group_of[thread], step.id) *
           factor(Resource::disk, kNoGroup, step.id) * code_factor(Resource::io, step);
  }

  void ask(std::uint32_t id, const Step& step) {
    const double takes = step.length_ns * lock_factor(Resource::held, step.held) * disk_factor(id, step);
    SimulatedDisk& disk = disks_[step.id];
    const std::uint32_t channels = input_.channels[step.id].known;
    if (channels == 0 || disk.busy < channels) {
      ++disk.busy;
      at(now_ + takes, id);
    } else {
      disk.queue.emplace_back(id, takes);
    }
  }

  void wait_over(std::uint32_t id) {
    SimulatedThread& thread = threads_[id];
    const Step& step = script(id).steps[thread.step];
    if (step.what == Step::What::await) {
      awaiting_[step.id] = kNobody;
    } else if (step.what == Step::What::disk) {
      SimulatedDisk& disk = disks_[step.id];
      if (disk.queue.empty()) {
        --disk.busy;
      } else {
        at(now_ + disk.queue.front().second, disk.queue.front().first);
        disk.queue.pop_front();
      }
    }
    const double wake_up_ns = scripts_.wake_up_ns * code_factor(Resource::runnable, step);
    finish_step(id);
    make_ready(id, wake_up_ns);
  }

  // ---- CPUs

  void make_ready(std::uint32_t id, double wake_up_ns) {
    SimulatedThread& thread = threads_[id];
    thread.used = std::max(thread.used, least_used_ - kMostCredit);
    const std::optional<CpuSetId> full = cpus_.full_for(id);
    if (!full) {
      start(id, wake_up_ns);
      return;
    }
    thread.state = SimulatedState::ready;
    ++thread.token;
    cpus_.queue(id, thread.used);
    const auto most = cpus_.ran_most(*full);
    if (most && now_ - most->first > thread.used + kGranularity) {
      account(threads_[most->second]);
      preempt(most->second);
    }
  }

  void start(std::uint32_t id, double after) {
    cpus_.take(id);
    threads_[id].state = SimulatedState::starting;
    threads_[id].since = now_;
    at(now_ + after, id);
  }

  void preempt(std::uint32_t id) {
    SimulatedThread& thread = threads_[id];
    thread.state = SimulatedState::ready;
    ++thread.token;
    cpus_.stops(id);
    cpus_.leave(id);
    cpus_.queue(id, thread.used);
    fill();
  }

  void fill() {
    while (const auto next = cpus_.next()) {
      least_used_ = std::max(least_used_, next->first);
      start(next->second, 1000);
    }
  }

  const ReplayInput& input_;
  const Scripts& scripts_;
  const std::vector<Script>& others_;
  const Scenario& scenario_;
  std::vector<SimulatedThread> threads_;
  std::vector<std::uint32_t> signalled_;  ///< by signal: how often it was given
  std::vector<std::uint32_t> awaiting_;   ///< by signal: who waits for it
  std::vector<SimulatedDisk> disks_;      ///< by ActorId
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings_;
  SimulatedCpus cpus_;
  std::uint64_t moves_ = 0;
  std::uint64_t most_moves_ = 0;
  std::uint64_t order_ = 0;
  double now_ = 0;
  double stretch_ =
      1;  ///< how much longer work takes, because the threads have each CPU for part of the time
  bool changes_code_ = false;
  double least_used_ = 0;
};

CpuSets sets_of_threads(const ReplayInput& input) {
  std::vector<CpuList> allowed(input.trace.actors.size());
  if (input.cpus.shared > 0) {
    std::transform(input.trace.actors.begin(), input.trace.actors.end(), allowed.begin(),
                   [](const Actor& actor) { return actor.allowed_cpus; });
  }
  return cpu_sets(allowed, input.trace.cpu_times, input.cpus.at_most());
}

/// Scripts of other programs. Beside the unchanged recording they get the CPU time that they got in it.
std::vector<Script> others_as_recorded(const ReplayInput& input, const CpuSets& sets,
                                       const Scripts& scripts) {
  const double recorded = input.cpus.others;
  if (input.cpus.shared == 0 || recorded < kAsRecorded || scripts.length_ns <= 0) return {};
  const Scenario unchanged;
  double used = 0;
  const auto wanting = [&](double demand) {
    std::vector<Script> others = scripts_of_others(demand);
    Simulation simulation(input, sets, scripts, others, unchanged);
    simulation.run_until(scripts.length_ns);
    used = simulation.used_by_others();
    return others;
  };
  double least = 0;
  double most = recorded;
  std::vector<Script> out = wanting(most);
  while (used < recorded - kAsRecorded && most < kMostDemand * input.cpus.shared) {
    least = most;
    most *= 2;
    out = wanting(most);
  }
  for (int i = 0; i < kMostBisections && std::abs(used - recorded) > kAsRecorded; ++i) {
    const double middle = (least + most) / 2;
    out = wanting(middle);
    (used < recorded ? least : most) = middle;
  }
  return out;
}

/// Simulates one of the scenarios and puts its times into their places in `out`. False if it is given up.
bool simulate_one(const ReplayInput& input, const CpuSets& sets, const Scripts& scripts,
                  const std::vector<Script>& others, const std::vector<Scenario>& scenarios,
                  std::size_t scenario, Replayed& out) {
  const double length = scripts.length_ns / static_cast<double>(out.pieces.size());
  Simulation simulation(input, sets, scripts, others, scenarios[scenario]);
  std::vector<double> before(scripts.threads.size());
  std::vector<double> lived(scripts.threads.size());
  for (std::size_t piece = 0; piece < out.pieces.size(); ++piece) {
    simulation.run_until(length * static_cast<double>(piece + 1));
    if (simulation.gave_up()) {
      return false;
    }
    for (ActorId id = 0; id < scripts.threads.size(); ++id) {
      if (scripts.threads[id].steps.empty()) {
        continue;
      }
      GroupTime& time = out.pieces[piece][input.groups.group_of[id]];
      const double covered = simulation.covered(id);
      time.done_ns[scenario] += input.uses.thread_weights[id] * (covered - before[id]);
      const double lived_now = simulation.lived(id);
      time.took_ns[scenario] += input.uses.thread_weights[id] * (lived_now - lived[id]);
      before[id] = covered;
      lived[id] = lived_now;
    }
  }
  if (input.thread != kNoActor) {
    const std::optional<double> exit = simulation.run_until_exit(input.thread);
    if (!exit) {
      return false;
    }
    out.thread.done_ns[scenario] = simulation.covered(input.thread);
    out.thread.took_ns[scenario] = *exit;
  }
  return true;
}

}  // namespace

std::optional<Replayed> simulate(const ReplayInput& input, const Scripts& scripts,
                                 const std::vector<Scenario>& scenarios, const std::vector<bool>& wanted,
                                 std::size_t pieces,
                                 const std::function<bool(const Replayed&)>& is_believed) {
  Replayed out = nothing_replayed(scenarios.size(), pieces, input.groups.groups.size());
  const CpuSets sets = sets_of_threads(input);
  const std::vector<Script> others = others_as_recorded(input, sets, scripts);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> gave_up = false;
  const auto work = [&] {
    for (std::size_t done = next++; done < scenarios.size() && !gave_up; done = next++) {
      const std::size_t scenario = scenarios.size() - 1 - done;
      if (!wanted[scenario]) continue;
      if (!simulate_one(input, sets, scripts, others, scenarios, scenario, out)) gave_up = true;
      if (done == 0 && is_believed && !gave_up && !is_believed(out)) gave_up = true;
    }
  };
  const std::size_t most = std::min<std::size_t>(std::thread::hardware_concurrency(), kMostWorkers);
  std::vector<std::thread> helpers;
  try {
    while (helpers.size() + 1 < std::min(most, scenarios.size())) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // This process may have no more threads; those that it has do all.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (gave_up) {
    return std::nullopt;
  }
  return out;
}

}  // namespace offwait
