// SPDX-License-Identifier: GPL-2.0-or-later
// bench_analysis [WAITS [NAME]]: prints how long the answers of WAITS waits (default 10 million) of up to
// 10,000 threads take on one CPU and on all that the process may use, and how much memory. Beside it stands
// how many times as long as a sort of the waits by their ends that is, on one CPU, as a busy machine slows
// down both. Then the same for the rest of the analysis on one CPU, and how long the sweep takes on all.
// NAME: only the traces whose name has it. Asserts nothing. Build with -O2.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sched.h>

#include "base/available_cpus.h"
#include "base/freed_memory.h"
#include "graph/cpu_samples.h"
#include "graph/graph.h"
#include "graph/merge.h"
#include "graph/short_lived.h"
#include "graph/sweep.h"
#include "model/trace.h"
#include "model/validate.h"
#include "progress/thread_groups.h"
#include "replay/answers.h"

namespace {

using namespace offwait;

constexpr Nanos kUs = 1000;

class Workload {
 public:
  explicit Workload(std::size_t waits) : wanted_(waits) {
    trace_.waits.reserve(waits);
    trace_.preemptions.reserve(waits / 16);
    for (FrameId i = 0; i < kStacks; ++i) {
      trace_.frames.push_back({.function = "f" + std::to_string(i)});
      trace_.stacks.push_back({{i}});
    }
    disk_ = device(ActorKind::disk, "vda");
    nic_ = device(ActorKind::nic, "eth0");
    timer_ = device(ActorKind::timer, "");
  }

  /// Adds `threads` threads that queue for one lock: each waits for the one before it.
  void add_convoy(std::size_t threads) {
    Convoy convoy;
    for (std::size_t i = 0; i < threads; ++i) {
      convoy.queue.emplace_back(thread("convoy"), static_cast<Nanos>(i));
    }
    add(std::move(convoy));
  }

  /// The same of a lock that is known as an object. Two kinds of threads take it.
  void add_known_lock(std::size_t threads, const std::string& name) {
    Convoy convoy;
    convoy.lock = static_cast<ObjectId>(trace_.objects.size());
    trace_.objects.push_back({.tgid = 1000, .address = 0x1000 + 64 * trace_.objects.size()});
    for (std::size_t i = 0; i < threads; ++i) {
      convoy.queue.emplace_back(thread(name + (i % 2 == 0 ? "-worker" : "-cleaner")), static_cast<Nanos>(i));
    }
    add(std::move(convoy));
  }

  /// Adds threads of one kind, with stacks of their own, that wait for the disk, the network interface and
  /// the timer. Some of these are time-outs of waits for the interface.
  void add_kind(std::size_t threads, const std::string& name) {
    const auto stacks = static_cast<StackId>(trace_.stacks.size());
    for (const char* const call : {"read", "send", "nap", "poll"}) {
      trace_.frames.push_back({.function = name + "_" + call});
      trace_.stacks.push_back({{static_cast<FrameId>(trace_.frames.size() - 1)}});
    }
    for (std::size_t i = 0; i < threads; ++i) device_users_.push_back({thread(name), stacks});
  }
  /// Adds `stages` threads that pass a request on to the disk, each waiting for the next one's answer.
  void add_chain(std::size_t stages) {
    std::vector<ActorId> chain;
    for (std::size_t i = 0; i < stages; ++i) {
      chain.push_back(thread("stage"));
    }
    chains_.push_back(chain);
  }

  /// Adds threads that the same creator starts one after the other; each waits and ends.
  void add_short_lived(std::size_t threads) { short_lived_ = threads; }

  /// Adds threads that wait for the disk, each as long in a stack of its own as in one that all share.
  void add_different(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) {
      const auto frame = static_cast<FrameId>(trace_.frames.size());
      trace_.frames.push_back({.function = "own" + std::to_string(i)});
      trace_.stacks.push_back({{frame}});
      different_.emplace_back(thread("worker"), static_cast<StackId>(trace_.stacks.size() - 1));
    }
  }

  /// Adds a thread that waits for the disk, the network interface and the timer.
  void add_device_user() { device_users_.push_back({thread("io")}); }

  Trace run() {
    // (time, kind, index) of the actor whose turn is next.
    using Turn = std::tuple<Nanos, int, std::size_t>;
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < convoys_.size(); ++i) {
      turns.emplace_back(kUs, 0, i);
    }
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      turns.emplace_back(kUs, 1, i);
    }
    for (std::size_t i = 0; i < device_users_.size(); ++i) {
      turns.emplace_back(kUs, 2, i);
    }
    for (std::size_t i = 0; i < different_.size(); ++i) {
      turns.emplace_back(kUs, 3, i);
    }
    const auto later = std::greater<>();
    std::make_heap(turns.begin(), turns.end(), later);
    while (trace_.waits.size() < wanted_) {
      std::pop_heap(turns.begin(), turns.end(), later);
      auto& [now, kind, index] = turns.back();
      now = kind == 0   ? convoy_turn(convoys_[index], now)
            : kind == 1 ? chain_turn(chains_[index], now)
            : kind == 2 ? device_turn(device_users_[index], now)
                        : different_turn(different_[index], now);
      std::push_heap(turns.begin(), turns.end(), later);
    }
    add_short_lived_until(trace_.waits.back().run);
    // A recording has waits in the order of their ends.
    std::sort(trace_.waits.begin(), trace_.waits.end(),
              [](const Wait& a, const Wait& b) { return a.run < b.run; });
    trace_.window = {0, trace_.waits.back().run + 1};
    trace_.recording.cpus = kCpus;
    return std::move(trace_);
  }

 private:
  static constexpr FrameId kStacks = 64;
  static constexpr std::uint32_t kCpus = 256;  // enough for all threads at once

  struct Convoy {
    std::deque<std::pair<ActorId, Nanos>> queue;
    ActorId holder = kNoActor;
    ObjectId lock = kNoObject;
  };

  struct DeviceUser {
    ActorId thread = kNoActor;
    StackId stacks = kNoStack;  ///< the first of four; kNoStack: those that all have in common
  };

  void add(Convoy convoy) {
    convoy.holder = convoy.queue.back().first;
    convoy.queue.pop_back();
    convoys_.push_back(std::move(convoy));
  }

  void add_short_lived_until(Nanos end) {
    if (short_lived_ == 0) {
      return;
    }
    wanted_ = SIZE_MAX;
    const ActorId creator = thread("accept");
    const Nanos each = (end - kUs) / static_cast<Nanos>(short_lived_);
    for (std::size_t i = 0; i < short_lived_; ++i) {
      const ActorId id = thread("conn");
      const Nanos birth = kUs + static_cast<Nanos>(i) * each;
      trace_.actors[id].start = trace_.actors[id].seen = birth;
      trace_.actors[id].exit = birth + each * 3 / 4;
      trace_.actors[id].parent = creator;
      wait(id, disk_, WaitClass::disk, birth + each / 4, birth + each / 2, birth + each / 2);
    }
  }

  Nanos some(Nanos most) { return 1 + static_cast<Nanos>(random_() % static_cast<std::uint64_t>(most)); }

  ActorId device(ActorKind kind, const char* name) {
    Actor actor;
    actor.kind = kind;
    actor.name = name;
    trace_.actors.push_back(actor);
    return static_cast<ActorId>(trace_.actors.size() - 1);
  }

  ActorId thread(const std::string& role) {
    Actor actor;
    actor.tid = static_cast<std::int32_t>(1000 + trace_.actors.size());
    actor.tgid = 1000;
    actor.name = role + "-" + std::to_string(actor.tid);
    trace_.actors.push_back(actor);
    return static_cast<ActorId>(trace_.actors.size() - 1);
  }

  void wait(ActorId thread, ActorId waker, WaitClass wait_class, Nanos block, Nanos wake, Nanos run,
            ObjectId object = kNoObject) {
    const auto stack = static_cast<StackId>(random_() % 4 + 4 * static_cast<std::uint64_t>(wait_class));
    wait_in(stack, thread, waker, wait_class, block, wake, run, object);
  }

  void wait_in(StackId stack, ActorId thread, ActorId waker, WaitClass wait_class, Nanos block, Nanos wake,
               Nanos run, ObjectId object = kNoObject) {
    if (trace_.waits.size() == wanted_) {
      return;
    }
    const auto [at, added] = sites_.try_emplace({thread, waker, stack}, trace_.sites.size());
    if (added) {
      trace_.sites.push_back({thread, waker, wait_class, stack, kNoStack});
    }
    trace_.waits.push_back({at->second, object, block, wake, run});
  }

  Nanos convoy_turn(Convoy& convoy, Nanos now) {
    const auto [next, block] = convoy.queue.front();
    convoy.queue.pop_front();
    wait(next, convoy.holder, WaitClass::futex, block, now, now + kUs, convoy.lock);
    convoy.queue.emplace_back(convoy.holder, now + some(kUs));
    convoy.holder = next;
    return now + 2 * kUs + some(10 * kUs);
  }

  Nanos chain_turn(const std::vector<ActorId>& chain, Nanos now) {
    std::vector<Nanos> blocks;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      blocks.push_back(now += some(5 * kUs));
    }
    now += some(100 * kUs);
    for (std::size_t i = chain.size(); i-- > 0;) {
      const bool last = i + 1 == chain.size();
      wait(chain[i], last ? disk_ : chain[i + 1], last ? WaitClass::disk : WaitClass::pipe, blocks[i], now,
           now + kUs);
      now += kUs + some(5 * kUs);
    }
    return now + some(20 * kUs);
  }

  Nanos device_turn(const DeviceUser& user, Nanos now) {
    static constexpr std::array kClasses = {WaitClass::disk, WaitClass::net, WaitClass::sleep};
    const ActorId thread = user.thread;
    const std::size_t which = random_() % 3;
    const ActorId waker = std::array{disk_, nic_, timer_}.at(which);
    const Nanos wake = now + some(100 * kUs);
    const Nanos run = wake + some(5 * kUs);
    if (user.stacks == kNoStack) {
      wait(thread, waker, kClasses.at(which), now, wake, run);
    } else if (which != 0 && random_() % 2 == 0) {
      wait_in(user.stacks + 3, thread, waker, WaitClass::poll, now, wake, run);
    } else {
      wait_in(user.stacks + static_cast<StackId>(which), thread, waker, kClasses.at(which), now, wake, run);
    }
    now = wake + 10 * kUs;
    if (random_() % 8 == 0) {
      if (trace_.preemptions.size() < trace_.preemptions.capacity()) {
        trace_.preemptions.push_back({thread, now, now + kUs});
      }
      now += 2 * kUs;
    }
    return now + some(10 * kUs);
  }

  Nanos different_turn(const std::pair<ActorId, StackId>& thread, Nanos now) {
    for (const StackId stack : {StackId{0}, thread.second}) {
      const Nanos wake = now + 100 * kUs;
      wait_in(stack, thread.first, disk_, WaitClass::disk, now, wake, wake + kUs);
      now = wake + kUs + some(10 * kUs);
    }
    return now;
  }

  std::size_t wanted_;
  std::size_t short_lived_ = 0;
  Trace trace_;
  std::mt19937_64 random_{1};  // NOLINT(cert-msc*): the same workload each time
  std::map<std::tuple<ActorId, ActorId, StackId>, SiteId> sites_;
  std::vector<Convoy> convoys_;
  std::vector<std::vector<ActorId>> chains_;
  std::vector<DeviceUser> device_users_;
  std::vector<std::pair<ActorId, StackId>> different_;
  ActorId disk_ = kNoActor, nic_ = kNoActor, timer_ = kNoActor;
};

/// Adds samples evenly over the window and over all threads. More of them fall into waits than real ones do,
/// which find most threads asleep.
void add_cpu_samples(Trace& trace) {
  constexpr Nanos kSamples = 100'000;
  for (Nanos i = 0; i < kSamples; ++i) {
    const auto thread = static_cast<ActorId>(static_cast<std::size_t>(i) * 7919 % trace.actors.size());
    if (trace.actors[thread].kind == ActorKind::thread) {
      trace.cpu_samples.push_back(
          {thread, static_cast<StackId>(i % 8), trace.window.begin + trace.window.length() / kSamples * i});
    }
  }
}

/// A field of /proc/self/status, in bytes.
double status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) {
      return std::strtod(line.c_str() + field.size() + 1, nullptr) * 1024;
    }
  }
  return 0;
}

/// Sets VmHWM, the peak of resident memory, to what is resident now.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Wall time, and CPU time as well because other programs may share the core.
struct Seconds {
  double wall = 0;
  double cpu = 0;
};

Seconds seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC};
}

/// Lets the process run on these CPUs. Returns those on which it might run before.
cpu_set_t allow(const cpu_set_t& cpus) {
  cpu_set_t before;
  CPU_ZERO(&before);
  if (sched_getaffinity(0, sizeof before, &before) != 0 || sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
    std::perror("not allowed");
  }
  return before;
}

/// Pins the process to the CPU on which it runs. Returns those on which it might run before.
cpu_set_t pin() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(0, sched_getcpu())), &one);
  return allow(one);
}

Sweep sweep_or_exit(const char* name, const Trace& trace) {
  Result<Sweep> result = sweep(trace);
  if (!result.ok()) {
    std::cerr << name << ": " << result.error().message << "\n";
    std::exit(1);
  }
  return *std::move(result);
}

/// Prints how long the sweep takes on the CPUs, whether or not its result is the same.
void measure_sweep(const char* name, const Trace& trace, const cpu_set_t& cpus, const Sweep& expected) {
  const cpu_set_t before = allow(cpus);
  reset_peak();
  const double resident = status_bytes("VmRSS");
  Sweep sums;
  const Seconds seconds = seconds_of([&] { sums = sweep_or_exit(name, trace); });
  std::printf("  the sweep on %zu CPUs: %.2f s, CPU %.2f s, %.1f bytes a wait at its peak%s\n",
              available_cpus(), seconds.wall, seconds.cpu,
              (status_bytes("VmHWM") - resident) / static_cast<double>(trace.waits.size()),
              sums == expected ? "" : ", AND ITS RESULT DIFFERS");
  allow(before);
}

/// Whether answers are the same, as far as a difference of the replay would show.
bool are_same(const Answers& a, const Answers& b) {
  return std::equal(a.answers.begin(), a.answers.end(), b.answers.begin(), b.answers.end(),
                    [](const Answer& one, const Answer& other) {
                      return one.change == other.change && one.gain == other.gain && one.low == other.low &&
                             one.high == other.high && one.certainty == other.certainty;
                    });
}

/// Prints how long the answers take on one CPU and on `cpus`. `before`: what was resident before the trace
/// was made, in bytes.
void measure_answers(const char* name, const Trace& trace, const cpu_set_t& cpus, double before) {
  const auto count = static_cast<double>(trace.waits.size());
  const Seconds sort = seconds_of([&] {
    std::vector<std::pair<Nanos, std::uint32_t>> ends;
    for (std::uint32_t id = 0; id < trace.waits.size(); ++id) ends.emplace_back(trace.waits[id].wake, id);
    std::sort(ends.begin(), ends.end());
  });
  const ThreadGroups groups = group_threads(trace);
  Facts facts;
  Answers expected;
  const auto run = [&](const char* on, Answers& answers) {
    reset_peak();
    const Seconds seconds = seconds_of([&] {
      facts = facts_of(trace, groups, {});
      answers = answers_of(trace, facts, {});
    });
    std::printf("  on %s: %.2f s, CPU %.2f s, %.1f times the sort; %.1f bytes a wait at the peak\n", on,
                seconds.wall, seconds.cpu, seconds.wall / sort.wall,
                (status_bytes("VmHWM") - before) / count);
  };
  std::printf("%s: answers\n", name);
  run("one CPU", expected);
  const cpu_set_t one = allow(cpus);
  Answers again;
  run((std::to_string(available_cpus()) + " CPUs").c_str(), again);
  allow(one);
  std::printf("  %zu answers, %zu locks, %zu groups%s\n", expected.answers.size(),
              facts.kinds.locks.all.size(), groups.groups.size(),
              are_same(expected, again) ? "" : ", AND THE RESULTS DIFFER");
}

/// `cpus`: those for the sweep that is not on one core.
void measure(const char* name, std::size_t waits, const cpu_set_t& cpus, void (*fill)(Workload&)) {
  const double before = status_bytes("VmRSS");
  Trace trace;
  {
    Workload workload(waits);
    fill(workload);
    trace = workload.run();
    add_cpu_samples(trace);
  }
  const auto count = static_cast<double>(trace.waits.size());
  const auto trace_bytes = static_cast<double>(trace.waits.capacity() * sizeof(Wait) +
                                               trace.preemptions.capacity() * sizeof(Preemption) +
                                               trace.sites.capacity() * sizeof(WaitSite));
  measure_answers(name, trace, cpus, before);
  reset_peak();

  Sweep sums;
  Graph graph;
  Merged merged;
  const Seconds validate_s = seconds_of([&] {
    const Status status = validate(trace);
    if (!status.ok()) {
      std::printf("%s\n", status.error().message.c_str());
    }
  });
  TraceWithStandIns with{Trace{}};
  const Seconds short_s = seconds_of([&] { with = stand_in_for_short_lived(std::move(trace)); });
  const Trace& all = with.all();
  const Seconds sweep_s = seconds_of([&] { sums = sweep_or_exit(name, all); });
  const Seconds graph_s = seconds_of([&] { graph = build_graph(all, sums); });
  const Seconds merge_s = seconds_of([&] { merged = merge_similar(with, sums, graph); });
  CpuSampleSums samples;
  const Seconds samples_s =
      seconds_of([&] { samples = sum_cpu_samples(all, merged.vertex_of, merged.vertices.size()); });
  const Seconds total{short_s.wall + sweep_s.wall + graph_s.wall + merge_s.wall + samples_s.wall,
                      short_s.cpu + sweep_s.cpu + graph_s.cpu + merge_s.cpu + samples_s.cpu};
  const double peak = status_bytes("VmHWM");
  std::printf(
      "%s: %.0f waits, %zu preemptions, %zu actors, %zu sites, %zu edges, %zu vertices after merging\n"
      "  %.2f s, CPU %.2f s (short-lived %.2f, sweep %.2f, graph %.3f, merge %.3f, %zu CPU samples %.3f), "
      "%.1f M waits per CPU s; the sweep %.0f ns a wait; "
      "validate %.2f s "
      "besides\n"
      "  %.1f bytes a wait at the peak, of which the trace %.1f\n",
      name, count, all.preemptions.size(), all.actors.size(), all.sites.size(), graph.edges.size(),
      merged.vertices.size(), total.wall, total.cpu, short_s.cpu, sweep_s.cpu, graph_s.cpu, merge_s.cpu,
      all.cpu_samples.size(), samples_s.cpu, count / total.cpu / 1e6, sweep_s.cpu * 1e9 / count,
      validate_s.cpu, (peak - before) / count, trace_bytes / count);
  measure_sweep(name, all, cpus, sums);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t waits = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  if (waits == 0) {
    std::cerr << "usage: bench_analysis [WAITS [NAME]]\n";
    return 2;
  }
  const std::string wanted = argc > 2 ? argv[2] : "";
  keep_freed_memory();  // as the program does
  const cpu_set_t cpus = pin();
  const auto measure_if_wanted = [&](const char* name, void (*fill)(Workload&)) {
    if (std::string(name).find(wanted) != std::string::npos) measure(name, waits, cpus, fill);
  };

  measure_if_wanted("40 candidates and 5 locks", [](Workload& workload) {
    for (const char* const name : {"cache", "index", "queue", "table", "tree"}) {
      workload.add_known_lock(16, name);
    }
    for (int i = 0; i < 4; ++i) {
      workload.add_chain(8);
    }
    for (char name = 'a'; name < 'm'; ++name) {
      workload.add_kind(8, std::string("kind-") + name);
    }
  });

  measure_if_wanted("mixed (4 convoys of 16, 8 chains of 8, 72 on devices)", [](Workload& workload) {
    for (int i = 0; i < 4; ++i) {
      workload.add_convoy(16);
    }
    for (int i = 0; i < 8; ++i) {
      workload.add_chain(8);
    }
    for (int i = 0; i < 72; ++i) {
      workload.add_device_user();
    }
  });
  measure_if_wanted("chains (3 of 64, 8 on devices)", [](Workload& workload) {
    for (int i = 0; i < 3; ++i) {
      workload.add_chain(64);
    }
    for (int i = 0; i < 8; ++i) {
      workload.add_device_user();
    }
  });
  measure_if_wanted("200 threads behind one lock", [](Workload& workload) { workload.add_convoy(200); });
  measure_if_wanted("1,000 threads behind one lock", [](Workload& workload) { workload.add_convoy(1000); });
  measure_if_wanted("10,000 threads behind one lock",
                    [](Workload& workload) { workload.add_convoy(10'000); });
  measure_if_wanted("10,000 threads that all wait in different stacks",
                    [](Workload& workload) { workload.add_different(10'000); });
  measure_if_wanted("10,000 short-lived threads beside", [](Workload& workload) {
    for (int i = 0; i < 4; ++i) {
      workload.add_convoy(16);
    }
    for (int i = 0; i < 72; ++i) {
      workload.add_device_user();
    }
    workload.add_short_lived(10'000);
  });
  return 0;
}
