// SPDX-License-Identifier: GPL-2.0-or-later
// Random recordings. A small simulated scheduler writes records as bpf/sched.h does, and notes the truth. The
// trace must give every thread its true times. Then records are damaged, and the result must still be a valid
// trace.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "event/assemble.h"
#include "graph/sweep.h"
#include "model/validate.h"
#include "recordings.h"

namespace offwait {
namespace {

using test::Waker;
using Random = std::mt19937_64;
using Record = std::variant<offwait_wait, offwait_preemption, offwait_gap, offwait_thread_record, offwait_io>;

constexpr Nanos kBegin = 1000;
constexpr Nanos kEnd = 4000;

std::uint64_t below(Random& random, std::uint64_t bound) { return random() % bound; }
bool one_in(Random& random, std::uint64_t n) { return below(random, n) == 0; }

enum class State { running, runnable, blocked, woken };

/// The true times of a thread, clipped to the window.
struct Truth {
  Nanos running = 0, runnable = 0, blocked = 0, unknown = 0;
  bool exit_lost = false;  ///< the exit was lost with the records before it, so the thread seems to live on
  Nanos lifetime() const { return running + runnable + blocked + unknown; }
};

struct SimulatedThread {
  std::uint32_t tid = 0;
  Nanos start = 0;
  State state = State::running;
  Nanos since = 0;  ///< of the present state
  Truth truth;
  bool recorded = false;
  bool alive = true;
  offwait_thread entry{};  ///< in the kernel's table
};

struct Simulation {
  KernelRecording recording;  ///< without its records
  std::vector<Record> records;
  std::map<std::pair<std::uint32_t, Nanos>, Truth> truth;
};

/// Events one at a time, from 600 (recording begins) through the window to 4200.
class Simulator {
 public:
  explicit Simulator(std::uint64_t seed) : random_(seed) {
    lossy_ = one_in(random_, 3);
    simulation_.recording.window = {kBegin, kEnd};
    simulation_.recording.disks = {{kDisk, "vda"}};
    now_ = 500;
    for (std::uint64_t i = 0, n = 2 + below(random_, 5); i < n; ++i) create(static_cast<Nanos>(100 + i));
    for (SimulatedThread& thread : threads_) {
      const auto state = below(random_, 3);
      thread.state = state == 0 ? State::running : state == 1 ? State::runnable : State::blocked;
    }
    now_ = 600;
    for (SimulatedThread& thread : threads_) {
      if (&thread != &threads_.front() && one_in(random_, 4)) continue;  // outside the target
      record_seeded(thread);
    }
  }

  Simulation run() {
    while (now_ < kEnd + 200) {
      now_ += static_cast<Nanos>(1 + below(random_, 40));
      step();
    }
    for (SimulatedThread& thread : threads_) finish(thread);
    return std::move(simulation_);
  }

 private:
  static constexpr std::uint32_t kDisk = 254 << 20;

  void create(Nanos start) {
    SimulatedThread thread;
    // Tids of threads that have exited are used again.
    for (const SimulatedThread& other : threads_) {
      if (!other.alive && tid_is_free(other.tid) && one_in(random_, 2)) thread.tid = other.tid;
    }
    if (thread.tid == 0) thread.tid = static_cast<std::uint32_t>(50 + threads_.size());
    thread.start = start;
    thread.since = start;
    thread.entry.start_ns = static_cast<std::uint64_t>(start);
    thread.entry.tgid = 10;
    threads_.push_back(thread);
  }

  bool tid_is_free(std::uint32_t tid) const {
    return std::none_of(threads_.begin(), threads_.end(),
                        [tid](const SimulatedThread& other) { return other.alive && other.tid == tid; });
  }

  void thread_event(const SimulatedThread& thread, offwait_thread_event event) {
    offwait_thread_record record{};
    record.type = OFFWAIT_RECORD_THREAD;
    record.event = static_cast<std::uint8_t>(event);
    record.outside = thread.entry.target == 0 ? 1 : 0;
    record.tid = thread.tid;
    record.tgid = thread.entry.tgid;
    record.at_ns = static_cast<std::uint64_t>(now_);
    record.start_ns = thread.entry.start_ns;
    std::strcpy(record.comm, "t");
    simulation_.records.emplace_back(record);
  }

  /// Does what bpf/seed.h does.
  void record_seeded(SimulatedThread& thread) {
    thread.recorded = true;
    thread.entry.target = 1;
    thread.entry.seeded = thread.state == State::running    ? OFFWAIT_STATE_RUNNING
                          : thread.state == State::runnable ? OFFWAIT_STATE_RUNNABLE
                                                            : OFFWAIT_STATE_BLOCKED;
    thread_event(thread, OFFWAIT_THREAD_SEEN);
  }

  /// Does what record_current() of bpf/recorded_threads.h does, for a running thread.
  void record_waker(SimulatedThread& thread) {
    if (thread.recorded) return;
    thread.recorded = true;
    // Its states before are not known.
    account(thread, now_);
    thread.truth.unknown = thread.truth.lifetime();
    thread.truth.running = thread.truth.runnable = thread.truth.blocked = 0;
    thread.entry.since_ns = static_cast<std::uint64_t>(now_);
    thread.entry.state = OFFWAIT_STATE_RUNNING;
    thread_event(thread, OFFWAIT_THREAD_SEEN);
  }

  /// Does what emit_gap() of bpf/records.h does.
  bool emit_gap(SimulatedThread& thread) {
    if (thread.entry.lost_since_ns == 0) return true;
    if (full()) return false;
    const std::uint64_t lost_since = thread.entry.lost_since_ns;
    simulation_.records.emplace_back(test::gap_of(
        thread.tid, lost_since == OFFWAIT_LOST_SINCE_BEGIN ? 0 : lost_since, thread.entry.since_ns));
    thread.entry.lost_since_ns = 0;
    return true;
  }

  /// Does what new_interval() of bpf/records.h does. Returns whether there is room.
  bool reserve(SimulatedThread& thread) {
    if (!emit_gap(thread)) return false;
    if (!full()) return true;
    thread.entry.lost_since_ns =
        thread.entry.since_ns != 0 ? thread.entry.since_ns : OFFWAIT_LOST_SINCE_BEGIN;
    return false;
  }
  bool full() { return lossy_ && one_in(random_, 6); }

  /// Adds the time since `since` to the truth.
  static void account(SimulatedThread& thread, Nanos until) {
    Nanos& sum = thread.state == State::running   ? thread.truth.running
                 : thread.state == State::blocked ? thread.truth.blocked
                                                  : thread.truth.runnable;
    sum += std::max<Nanos>(0, std::min(until, kEnd) - std::max(thread.since, kBegin));
    thread.since = until;
  }

  void enter(SimulatedThread& thread, State state) const {
    account(thread, now_);
    thread.state = state;
  }

  void switch_out(SimulatedThread& thread, State state) const {
    enter(thread, state);
    if (!thread.recorded) return;
    thread.entry.since_ns = static_cast<std::uint64_t>(now_);
    thread.entry.state = state == State::blocked ? OFFWAIT_STATE_BLOCKED : OFFWAIT_STATE_RUNNABLE;
  }

  void switch_in(SimulatedThread& thread) {
    const bool waited = thread.state == State::woken;
    enter(thread, State::running);
    if (!thread.recorded) return;
    offwait_thread& entry = thread.entry;
    const auto now = static_cast<std::uint64_t>(now_);
    if (reserve(thread)) {
      if (waited) {
        const bool raced = entry.wake_ns != 0 && entry.wake_ns < entry.since_ns;
        offwait_wait wait =
            test::wait_of(thread.tid, entry.since_ns,
                          raced                ? entry.since_ns
                          : entry.wake_ns != 0 ? entry.wake_ns
                                               : now,
                          now, {static_cast<offwait_waker_kind>(entry.waker_kind), entry.waker_id});
        wait.flags = raced ? OFFWAIT_WAIT_RACED : 0;
        simulation_.records.emplace_back(wait);
      } else {
        simulation_.records.emplace_back(test::preemption_of(thread.tid, entry.since_ns, now));
      }
    }
    entry.state = OFFWAIT_STATE_RUNNING;
    entry.since_ns = now;
    entry.wake_ns = 0;
    entry.waker_kind = OFFWAIT_WAKER_UNKNOWN;
  }

  /// Notes a waking of `thread` by a device, the timer or a running thread.
  void note_waking(SimulatedThread& thread, SimulatedThread* waker) {
    if (!thread.recorded) return;
    if (waker != nullptr) record_waker(*waker);
    constexpr std::array<Waker, 4> kDevices = {{{OFFWAIT_WAKER_DISK, kDisk},
                                                {OFFWAIT_WAKER_NIC, 2},
                                                {OFFWAIT_WAKER_TIMER, 0},
                                                {OFFWAIT_WAKER_SOFTIRQ, 3}}};
    const Waker by = waker != nullptr ? test::by_thread(waker->tid) : kDevices.at(below(random_, 4));
    thread.entry.wake_ns = static_cast<std::uint64_t>(now_);
    thread.entry.waker_kind = static_cast<std::uint8_t>(by.kind);
    thread.entry.waker_id = by.id;
  }

  SimulatedThread* some(State state) {
    std::vector<SimulatedThread*> found;
    for (SimulatedThread& thread : threads_) {
      if (thread.alive && thread.state == state) found.push_back(&thread);
    }
    return found.empty() ? nullptr : found[below(random_, found.size())];
  }

  void step() {
    switch (below(random_, 12)) {
      case 0:
      case 1:
      case 2:
        if (SimulatedThread* thread = some(State::running)) {
          if (one_in(random_, 8)) {
            // The wake overtakes the switch-out.
            SimulatedThread* waker = some(State::running);
            note_waking(*thread, waker == thread ? nullptr : waker);
            ++now_;
            switch_out(*thread, State::blocked);
            enter(*thread, State::woken);
          } else {
            switch_out(*thread, State::blocked);
          }
        }
        break;
      case 3:
        if (SimulatedThread* thread = some(State::running)) switch_out(*thread, State::runnable);
        break;
      case 4:
      case 5:
      case 6:
        if (SimulatedThread* thread = some(State::blocked)) {
          note_waking(*thread, some(State::running));
          enter(*thread, State::woken);
        }
        break;
      case 7:
      case 8:
        if (SimulatedThread* thread = some(State::woken)) switch_in(*thread);
        break;
      case 9:
        if (SimulatedThread* thread = some(State::runnable)) switch_in(*thread);
        break;
      case 10:
        if (SimulatedThread* parent = some(State::running); parent != nullptr && threads_.size() < 40) {
          const bool recorded = parent->recorded && parent->entry.target != 0;
          create(now_);
          SimulatedThread& child = threads_.back();
          child.state = State::runnable;
          if (recorded) {
            child.recorded = true;
            child.entry.target = 1;
            child.entry.since_ns = static_cast<std::uint64_t>(now_);
            child.entry.state = OFFWAIT_STATE_RUNNABLE;
            thread_event(child, OFFWAIT_THREAD_BORN);
          }
        }
        break;
      default:
        if (SimulatedThread* thread = some(State::running); thread != nullptr && one_in(random_, 3)) {
          // The last thing that it does is to wake another thread.
          if (SimulatedThread* blocked = some(State::blocked)) {
            note_waking(*blocked, thread);
            enter(*blocked, State::woken);
          }
          if (thread->recorded) {
            thread->truth.exit_lost = !emit_gap(*thread);
            if (!thread->truth.exit_lost) thread_event(*thread, OFFWAIT_THREAD_EXITED);
          }
          account(*thread, now_);
          thread->alive = false;
        }
    }
  }

  void finish(SimulatedThread& thread) {
    if (thread.alive) account(thread, now_);
    if (!thread.recorded) return;
    if (thread.alive) simulation_.recording.threads.emplace_back(thread.tid, thread.entry);
    if (thread.start < kEnd) simulation_.truth.emplace(std::pair(thread.tid, thread.start), thread.truth);
  }

  Random random_;
  bool lossy_ = false;
  Nanos now_ = 0;
  std::vector<SimulatedThread> threads_;
  Simulation simulation_;
};

void append(RecordBuffer& buffer, const std::vector<Record>& records) {
  for (const Record& record : records) {
    std::visit([&buffer](const auto& r) { REQUIRE(buffer.append(test::bytes_of(r))); }, record);
  }
}

Trace assembled(const KernelRecording& recording) {
  return assemble(recording, test::named_stacks(recording));
}

TEST_CASE("random recordings give every thread the times that it really had") {
  std::uint64_t waits = 0;
  std::uint64_t gaps = 0;
  std::uint64_t reused = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    Simulation simulation = Simulator(seed).run();
    append(simulation.recording.records, simulation.records);
    const Trace trace = assembled(simulation.recording);
    const Status valid = validate(trace);
    if (!valid.ok()) FAIL(valid.error().message);
    const Result<Sweep> swept = sweep(trace);
    if (!swept.ok()) FAIL(swept.error().message);
    REQUIRE(trace.loss.at("record_invalid") == 0);
    REQUIRE(trace.loss.at("waker_impossible") == 0);
    REQUIRE(trace.loss.at("waker_unknown") == 0);

    std::size_t threads = 0;
    std::map<std::int32_t, int> lives;
    std::vector<bool> lossy(trace.actors.size());
    for (const Gap& gap : trace.gaps) lossy[gap.thread] = true;
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      const Actor& actor = trace.actors[id];
      if (actor.kind != ActorKind::thread) continue;
      ++threads;
      if (++lives[actor.tid] > 1) ++reused;
      const auto truth = simulation.truth.find({static_cast<std::uint32_t>(actor.tid), actor.start});
      CAPTURE(actor.tid, actor.start);
      REQUIRE(truth != simulation.truth.end());
      const Truth& real = truth->second;
      const ActorTime& got = swept->actors[id];
      CHECK(got.lifetime_ns >= real.lifetime());
      if (!real.exit_lost) CHECK(got.lifetime_ns == real.lifetime());
      if (lossy[id]) {
        // Lost times are unknown instead of what they were.
        CHECK(got.running_ns <= real.running);
        CHECK(got.runnable_ns <= real.runnable);
        CHECK(got.blocked_ns <= real.blocked);
        CHECK(got.unknown_ns >= real.unknown);
      } else {
        CHECK(got.running_ns == real.running);
        CHECK(got.runnable_ns == real.runnable);
        CHECK(got.blocked_ns == real.blocked);
        CHECK(got.unknown_ns == real.unknown);
      }
    }
    CHECK(threads == simulation.truth.size());
    waits += trace.waits.size();
    gaps += trace.gaps.size();
  }
  // The recordings are large enough to test something.
  CHECK(waits > 20'000);
  CHECK(gaps > 1'000);
  CHECK(reused > 500);
}

/// Overwrites a field of `bytes`, from `first` on, with a number that is likely to hurt.
void damage(Random& random, std::byte* bytes, std::size_t size, std::size_t first) {
  constexpr std::array<std::uint64_t, 10> kNumbers = {
      0, 1, 2, kBegin, kEnd, kEnd + 1, 0x7fffffffffffffff, 0x8000000000000000, ~std::uint64_t{0}, 0xffffffff};
  const std::uint64_t number =
      one_in(random, 2) ? kNumbers.at(below(random, kNumbers.size())) : below(random, 5000);
  constexpr std::array<std::size_t, 3> kWidths = {1, 4, 8};
  const std::size_t width = kWidths.at(below(random, kWidths.size()));
  const std::size_t at = below(random, size / width) * width;
  if (at < first) return;
  std::memcpy(bytes + at, &number, width);
}

TEST_CASE("whatever is wrong with a recording, it gives a trace that can be analysed") {
  std::uint64_t invalid = 0;
  std::uint64_t impossible = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    Simulation simulation = Simulator(seed).run();
    std::vector<Record>& records = simulation.records;
    Random random(~seed);
    for (std::uint64_t i = 0, n = 1 + below(random, 30); i < n && !records.empty(); ++i) {
      const std::size_t which = below(random, records.size());
      const std::size_t other = below(random, records.size());
      switch (below(random, 8)) {
        case 0:
          records.erase(records.begin() + static_cast<std::ptrdiff_t>(which));
          break;
        case 1:
          records.insert(records.begin() + static_cast<std::ptrdiff_t>(other), Record(records[which]));
          break;
        case 2:
          std::swap(records[which], records[other]);
          break;
        case 3:
          if (!simulation.recording.threads.empty()) {
            auto& [tid, entry] = simulation.recording.threads[which % simulation.recording.threads.size()];
            damage(random, reinterpret_cast<std::byte*>(&entry), sizeof(entry), 0);
          }
          break;
        case 4:
          records.emplace_back(test::io_of(50 + static_cast<std::uint32_t>(below(random, 5)), 254 << 20,
                                           below(random, 5000), below(random, 5000), 512));
          break;
        default:
          std::visit(
              [&random](auto& record) {
                // The type stays as it is: the kernel's ring buffer gives whole records.
                damage(random, reinterpret_cast<std::byte*>(&record), sizeof(record), 1);
              },
              records[which]);
      }
    }
    append(simulation.recording.records, records);
    const Trace trace = assembled(simulation.recording);
    const Status valid = validate(trace);
    if (!valid.ok()) FAIL(valid.error().message);
    const Result<Sweep> swept = sweep(trace);
    if (!swept.ok()) FAIL(swept.error().message);
    invalid += trace.loss.at("record_invalid");
    impossible += trace.loss.at("waker_impossible");
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      const ActorTime& time = swept->actors[id];
      REQUIRE(time.running_ns + time.runnable_ns + time.blocked_ns + time.unknown_ns == time.lifetime_ns);
    }
  }
  CHECK(invalid > 1'000);
  CHECK(impossible > 2);
}

}  // namespace
}  // namespace offwait
