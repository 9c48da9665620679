// SPDX-License-Identifier: GPL-2.0-or-later
// Random traces with hostile names are the same after being written as text and read back.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "model/validate.h"
#include "trace/frame_text.h"
#include "unit/trace/same_trace.h"
#include "unit/trace/written.h"

namespace offwait {
namespace {

/// Makes a valid random trace with everything that text can express, and with hostile names.
class RandomTrace {
 public:
  explicit RandomTrace(std::uint32_t seed) : random_(seed) {}

  Trace make() {
    trace_.window.begin = below(1000);
    trace_.window.end = trace_.window.begin + 1 + below(1'000'000);
    Recording& recording = trace_.recording;
    for (std::string* text :
         {&recording.target, &recording.start_time, &recording.kernel, &recording.offwait, &recording.host})
      *text = name(0);
    recording.cpus = static_cast<std::uint32_t>(below(3));
    for (std::size_t i = below(3); i > 0; --i) recording.labels.push_back({unique(i), name(0)});
    recording.interrupted = either();
    trace_.recording.command = static_cast<std::int32_t>(below(3));
    for (std::size_t i = below(3); i > 0; --i) {
      trace_.loss[unique(i)] = std::uint64_t{random_()} * random_();
    }
    for (std::size_t i = 0; i < 10; ++i) {
      add_actor(i);
    }
    trace_.actors.push_back(device(ActorKind::timer, ""));
    for (std::size_t i = below(4); i > 0; --i) {
      trace_.peers.push_back(peer_of_text(either() ? Peer::Role::client : Peer::Role::service, unique(i)));
    }
    add_stacks();
    add_objects();
    add_cpu_use();
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      if (trace_.actors[id].kind == ActorKind::disk) {
        add_disk_use(id);
      }
      if (trace_.actors[id].kind == ActorKind::thread) {
        add_intervals(id);
      }
    }
    return trace_;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::uint32_t below_size(std::size_t n) { return below(static_cast<std::uint32_t>(n)); }
  bool either() { return below(2) == 0; }

  std::string name(std::uint32_t min) {
    static const std::vector<std::string> hostile{"\x1b]0;owned\x07",
                                                  "\xc3\x28\xff",
                                                  "\"quoted\"'",
                                                  "a b=c;d%e#f",
                                                  std::string("\0\n\r\t", 4),
                                                  "<script>",
                                                  "-",
                                                  "--",
                                                  "thread:1",
                                                  std::string("\xe2\x80") + "\xae"};
    std::string text(min, 'n');
    for (std::uint32_t i = below(4); i > 0; --i) {
      if (either()) {
        text += hostile[below_size(hostile.size())];
      } else {
        text += static_cast<char>(below(256));
      }
    }
    return text;
  }
  std::string unique(std::size_t i) { return name(1) + std::to_string(i); }

  void add_actor(std::size_t i) {
    switch (below(7)) {
      case 0:
        trace_.actors.push_back(device(ActorKind::disk, unique(i)));
        break;
      case 1:
        trace_.actors.push_back(device(ActorKind::nic, unique(i)));
        break;
      case 2:
        trace_.actors.push_back(device(ActorKind::irq, unique(i)));
        break;
      case 3:
        trace_.actors.push_back(device(ActorKind::softirq, unique(i)));
        break;
      default:
        add_lives(static_cast<std::int32_t>(1 + i));
    }
  }

  /// Up to three lives of one tid.
  void add_lives(std::int32_t tid) {
    Nanos born = below(2000);
    for (std::uint32_t life = below(3); life > 0; --life) {
      Actor actor = thread(tid, name(0), born, born + 1 + below(300'000));
      born = actor.exit + below(2);
      actor.seen = std::max(actor.start, trace_.window.begin) + (either() ? 0 : below(1000));
      actor.outside = either();
      actor.kernel = actor.outside && either();
      add_cpus(actor);
      actor.program = name(0);
      actor.title = name(0);
      trace_.actors.push_back(actor);
    }
    Actor actor = thread(tid, name(0), born);
    actor.seen = std::max(actor.start, trace_.window.begin);
    trace_.actors.push_back(actor);
  }

  void add_cpus(Actor& actor) {
    std::uint32_t cpu = below(3);
    for (std::uint32_t n = below(4); n > 0; --n) {
      const std::uint32_t last = cpu + below(3);
      actor.allowed_cpus.push_back({cpu, last});
      cpu = last + 2 + below(5);
    }
  }

  /// What each CPU did, quotas, memory, and the CPU time of other processes.
  void add_cpu_use() {
    trace_.recording.cpu_busy_ns = below(1000);
    trace_.recording.cpu_steal_ns = below(3);
    for (std::uint32_t cpu = below(4), n = below(4); n > 0; --n, cpu += 1 + below(4)) {
      trace_.cpu_times.push_back({cpu, below(1000), below(1000)});
    }
    for (std::uint32_t n = below(3); n > 0; --n) {
      const std::uint32_t periods = below(100);
      trace_.cpu_quotas.push_back(
          {unique(n), 1 + below(9), 1 + below(9), periods, below(periods + 1), below(1000)});
    }
    for (std::uint32_t n = below(3); n > 0; --n) {
      trace_.memory.push_back(
          {n == 1 ? "" : unique(n), below(2) == 1, below(99), below(99), below(99), below(99), below(99)});
    }
    for (std::uint32_t n = below(3); n > 0; --n) {
      trace_.other_processes.push_back(
          {static_cast<std::int32_t>(1 + below(99)), name(0), below(1000), below(1000)});
    }
  }

  void add_stacks() {
    for (std::size_t i = 0; i < 8; ++i) {
      trace_.frames.push_back(i < 3 ? kernel_frame(unique(i)) : frame_of_text(unique(i)));
    }
    for (std::size_t i = 0; i < 6; ++i) {
      Stack stack;
      stack.frames.push_back(static_cast<FrameId>(i));
      for (std::uint32_t n = below(5); n > 0; --n) {
        stack.frames.push_back(below(8));
      }
      std::stable_partition(stack.frames.begin(), stack.frames.end(),
                            [](FrameId frame) { return frame < 3; });
      if (below(3) == 0) {
        stack.cut = static_cast<StackCut>(below(kStackCuts));
      }
      trace_.stacks.push_back(stack);
    }
  }

  void add_disk_use(ActorId id) {
    if (either()) {
      trace_.capacities.push_back(
          {id, 1 + below(1000) * 0.1, 1e-3 * (1 + below(9)), static_cast<CapacitySource>(below(3))});
    }
    for (std::uint32_t n = below(3); n > 0; --n) {
      trace_.actors[id].on.push_back(unique(n));
    }
    trace_.disk_counters.push_back({id, below(100), random_(), random_(), below(3)});
    trace_.disk_ios.push_back({kNoActor, id, 5, either() ? kNever : 5 + below(9), random_(), file(),
                               static_cast<DiskOperation>(below(kDiskOperations))});
  }

  void add_intervals(ActorId id) {
    Nanos at = trace_.actors[id].start;
    const auto step = [&] {
      at += below(3) == 0 ? 0 : below(10000);
      return at;
    };
    for (std::uint32_t n = below(20); n > 0; --n) {
      const Nanos first = step();
      const Nanos second = step();
      const Nanos third = step();
      if (third >= trace_.actors[id].exit) {
        break;
      }
      const bool open = n == 1 && either();
      switch (below(4)) {
        case 0:
          trace_.preemptions.push_back({id, first, open ? kNever : third});
          break;
        case 1:
          trace_.gaps.push_back({id, first, third});
          trace_.cpu_samples.push_back({id, stack(), second});
          add_responses(id, second, third);
          add_calls(id, second, third);
          break;
        default: {
          const bool woken = !open || either();
          trace_.waits.push_back({site(id, second, woken), object(), first, woken ? second : kNever,
                                  open ? kNever : third, holder(id, first)});
        }
      }
    }
  }

  void add_responses(ActorId id, Nanos first, Nanos last) {
    if (first < trace_.window.begin || last > trace_.window.end) return;
    Responses responses{id, 0, "", 1 + below(1000), 0, first, last};
    responses.connections = below(static_cast<std::uint32_t>(responses.count) + 1);
    if (either())
      responses.port = static_cast<std::uint16_t>(1 + below(UINT16_MAX));
    else
      responses.path = std::string(1 + below(5), static_cast<char>(below(256)));
    trace_.responses.push_back(std::move(responses));
  }

  void add_calls(ActorId id, Nanos first, Nanos last) {
    if (first < trace_.window.begin || last > trace_.window.end) return;
    std::string function(1 + below(5), static_cast<char>(below(256)));
    trace_.calls.push_back({id, std::move(function), 1 + below(1000), first, last});
  }

  /// No two are equal: each has a number of its own in some member.
  void add_objects() {
    for (std::uint32_t i = 1 + below(6); i > 0; --i) {
      Object object;
      object.kind = static_cast<Object::Kind>(below(kObjectKinds));
      object.path = name(0);
      object.symbol = name(0);
      object.module = name(0);
      object.symbol_offset = i;
      object.device = {below(300), below(UINT32_MAX)};
      object.generation = below(UINT32_MAX);
      object.deleted = either();
      if (object.kind == Object::Kind::kernel_lock) {
        object.lock = static_cast<KernelLock>(below(kKernelLocks));
        object.address = std::uint64_t{random_()} << 32U | 1;
        object.tgid = static_cast<std::int32_t>(below(3));
      } else if (object.kind == Object::Kind::file || either()) {
        object.inode = std::uint64_t{random_()} << 32U | 1;
        if (object.kind == Object::Kind::futex) object.file_offset = random_();
      } else if (object.kind == Object::Kind::futex && either()) {
        object.hash = 1 + below(UINT32_MAX);
      } else if (object.kind == Object::Kind::futex) {
        object.address = 1 + below(UINT32_MAX);
        object.tgid = static_cast<std::int32_t>(1 + below(INT32_MAX));
      }
      trace_.objects.push_back(object);
    }
  }
  ObjectId object() { return either() ? kNoObject : below_size(trace_.objects.size()); }
  ObjectId file() {
    const ObjectId id = object();
    return id != kNoObject && is_stored(trace_.objects[id]) ? id : kNoObject;
  }
  /// A thread that the text can name at this time.
  ActorId holder(ActorId waiter, Nanos block) {
    const Actor& thread = trace_.actors[waiter];
    const bool lives = std::max(block, trace_.window.begin) < thread.exit;
    return lives && below(3) == 0 ? waiter : kNoActor;
  }

  StackId stack() { return either() ? kNoStack : below(6); }

  SiteId site(ActorId thread, Nanos wake, bool woken) {
    WaitSite site{thread, kNoActor, static_cast<WaitClass>(below(kWaitClasses)), stack(), stack()};
    const ActorId id = below_size(trace_.actors.size());
    const Actor& waker = trace_.actors[id];
    if (woken && (waker.kind != ActorKind::thread || (waker.start <= wake && wake < waker.exit))) {
      site.waker = id;
    }
    site.peer = below(3) == 0 && !trace_.peers.empty() ? below_size(trace_.peers.size()) : kNoPeer;
    const auto known = std::find(trace_.sites.begin(), trace_.sites.end(), site);
    if (known != trace_.sites.end()) {
      return static_cast<SiteId>(known - trace_.sites.begin());
    }
    trace_.sites.push_back(site);
    return static_cast<SiteId>(trace_.sites.size() - 1);
  }

  std::mt19937 random_;
  Trace trace_;
};

/// Without the frames and stacks that no site uses.
Trace without_unused(Trace trace) {
  const std::vector<Stack> stacks = std::move(trace.stacks);
  const std::vector<Frame> frames = std::move(trace.frames);
  trace.stacks.clear();
  trace.frames.clear();
  const auto keep = [&](StackId& id) {
    if (id == kNoStack) {
      return;
    }
    Stack stack{{}, stacks[id].cut};
    for (const FrameId frame : stacks[id].frames) {
      const auto found = std::find(trace.frames.begin(), trace.frames.end(), frames[frame]);
      stack.frames.push_back(static_cast<FrameId>(found - trace.frames.begin()));
      if (found == trace.frames.end()) {
        trace.frames.push_back(frames[frame]);
      }
    }
    const auto found = std::find_if(trace.stacks.begin(), trace.stacks.end(),
                                    [&](const Stack& known) { return known == stack; });
    id = static_cast<StackId>(found - trace.stacks.begin());
    if (found == trace.stacks.end()) {
      trace.stacks.push_back(stack);
    }
  };
  for (WaitSite& site : trace.sites) {
    keep(site.wait_stack);
    keep(site.waker_stack);
  }
  for (CpuSample& sample : trace.cpu_samples) {
    keep(sample.stack);
  }
  return trace;
}

TEST_CASE("random traces survive writing and reading") {
  std::size_t waits = 0;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    INFO(seed);
    const Trace trace = without_unused(RandomTrace(seed).make());
    REQUIRE(validate(trace).ok());
    const std::string text = written(trace);
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    const Trace back = read_back(text);
    REQUIRE(validate(back).ok());
    const std::string difference = first_difference(trace, back);
    INFO(difference);
    REQUIRE(difference.empty());
    REQUIRE(written(back) == text);
    waits += trace.waits.size();
  }
  CHECK(waits > 20'000);
}

}  // namespace
}  // namespace offwait
