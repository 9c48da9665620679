// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/perfetto.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/utc_time.h"
#include "export/actor_names.h"
#include "export/perfetto_packets.h"
#include "export/perfetto_sched.h"
#include "export/perfetto_slices.h"
#include "graph/sweep.h"

namespace offwait {

namespace {

namespace pf = perfetto;
using protozero::pbf_writer;

std::uint64_t unsigned_ns(Nanos time) { return static_cast<std::uint64_t>(std::max<Nanos>(time, 0)); }

void write_clocks(const Trace& trace, pf::Sequence& sequence) {
  const Nanos wall = utc_ns(trace.recording.start_time);
  sequence.add([&](pbf_writer& packet) {
    packet.add_uint64(pf::packet::kTimestamp, unsigned_ns(trace.window.begin));
    pbf_writer snapshot(packet, pf::packet::kClockSnapshot);
    const auto add = [&snapshot](unsigned id, Nanos time) {
      pbf_writer clock(snapshot, pf::clock_snapshot::kClocks);
      clock.add_uint32(pf::clock_snapshot::kClockId, id);
      clock.add_uint64(pf::clock_snapshot::kTimestamp, unsigned_ns(time));
    };
    add(pf::clock_snapshot::kBoottime, trace.window.begin);
    add(pf::clock_snapshot::kMonotonic, trace.window.begin);
    if (wall > 0) add(pf::clock_snapshot::kRealtime, wall);
  });
}

void write_system(const Trace& trace, pf::Sequence& sequence) {
  sequence.add([&](pbf_writer& packet) {
    pbf_writer info(packet, pf::packet::kSystemInfo);
    {
      pbf_writer utsname(info, pf::system_info::kUtsname);
      utsname.add_string(pf::system_info::kSysname, "Linux");
      utsname.add_string(pf::system_info::kRelease, escape(trace.recording.kernel));
    }
    if (trace.recording.cpus > 0) info.add_uint32(pf::system_info::kNumCpus, trace.recording.cpus);
  });
}

/// The first life of each tid and the main thread of each process, by number.
struct Tree {
  std::map<std::int32_t, ActorId> threads;
  std::map<std::int32_t, ActorId> processes;  ///< any thread, where the main thread was not recorded
};

Tree tree_of(const Trace& trace) {
  Tree tree;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread) continue;
    tree.threads.try_emplace(actor.tid, id);
    if (actor.tgid <= 0) continue;
    if (actor.tid == actor.tgid) tree.processes[actor.tgid] = id;
    tree.processes.try_emplace(actor.tgid, id);
  }
  return tree;
}

std::int32_t parent_of(const Trace& trace, const Actor& actor) {
  if (actor.tid != actor.tgid || actor.parent == kNoActor) return 0;
  return trace.actors[actor.parent].tgid;
}

std::string process_name(const Actor& actor) {
  return escape(actor.program.empty() ? actor_name(actor) : actor.program);
}

void write_process_tree(const Trace& trace, const Tree& tree, pf::Sequence& sequence) {
  sequence.add([&](pbf_writer& packet) {
    packet.add_uint64(pf::packet::kTimestamp, unsigned_ns(trace.window.begin));
    pbf_writer out(packet, pf::packet::kProcessTree);
    for (const auto& [tgid, id] : tree.processes) {
      const Actor& actor = trace.actors[id];
      pbf_writer process(out, pf::process_tree::kProcesses);
      process.add_int32(pf::process_tree::kProcessPid, tgid);
      if (const std::int32_t parent = parent_of(trace, actor); parent > 0)
        process.add_int32(pf::process_tree::kProcessPpid, parent);
      process.add_string(pf::process_tree::kProcessCmdline, process_name(actor));
    }
    for (const auto& [tid, id] : tree.threads) {
      const Actor& actor = trace.actors[id];
      pbf_writer thread(out, pf::process_tree::kThreads);
      thread.add_int32(pf::process_tree::kThreadTid, tid);
      thread.add_string(pf::process_tree::kThreadName, escape(actor_name(actor)));
      if (actor.tgid > 0) thread.add_int32(pf::process_tree::kThreadTgid, actor.tgid);
    }
  });
}

/// What a wait adds to the two counters.
struct Amounts {
  double wait_ns = 0;
  double weight_ns = 0;
};

Amounts amounts_of(const Trace& trace, const Sweep& swept, const Wait& wait) {
  const SiteSum& sum = swept.sites[wait.site];
  const Actor& thread = trace.actors[trace.sites[wait.site].thread];
  const Nanos inside = clipped(wait.block, std::min(wait.wake, thread.exit), trace.window);
  if (sum.wait_ns == 0) return {};
  const double part = static_cast<double>(inside) / static_cast<double>(sum.wait_ns);
  return {static_cast<double>(inside), part * static_cast<double>(sum.weight_ns)};
}

/// When the sample of a wait is taken: at its end, or where it is cut off.
Nanos sampled_at(const Trace& trace, const Wait& wait) {
  const Nanos exit = trace.actors[trace.sites[wait.site].thread].exit;
  return std::min({wait.wake, exit, trace.window.end});
}

void write_sample(const Trace& trace, ActorId id, std::uint64_t stack, Nanos at, pf::Sequence& sequence,
                  const std::vector<std::uint64_t>& counters) {
  const Actor& thread = trace.actors[id];
  sequence.add([&](pbf_writer& packet) {
    packet.add_uint64(pf::packet::kTimestamp, unsigned_ns(at));
    pbf_writer sample(packet, pf::packet::kPerfSample);
    sample.add_uint32(pf::perf_sample::kPid, static_cast<std::uint32_t>(thread.tgid));
    sample.add_uint32(pf::perf_sample::kTid, static_cast<std::uint32_t>(thread.tid));
    if (stack != 0) sample.add_uint64(pf::perf_sample::kCallstackIid, stack);
    sample.add_uint64(pf::perf_sample::kTimebaseCount, counters.front());
    for (std::size_t i = 1; i < counters.size(); ++i)
      sample.add_uint64(pf::perf_sample::kFollowerCounts, counters[i]);
  });
}

void write_wait_samples(const Trace& trace, const Sweep& swept, pf::Sequence& sequence) {
  namespace defaults = pf::perf_sample_defaults;
  sequence.add([](pbf_writer& packet) {
    pbf_writer packet_defaults(packet, pf::packet::kTracePacketDefaults);
    pbf_writer samples(packet_defaults, pf::packet_defaults::kPerfSampleDefaults);
    const auto add_tracepoint = [](pbf_writer& event, unsigned field) {
      pbf_writer tracepoint(event, field);
      tracepoint.add_string(defaults::kTracepointName, "sched:sched_switch");
    };
    {
      pbf_writer timebase(samples, defaults::kTimebase);
      timebase.add_uint64(defaults::kPeriod, 1);
      add_tracepoint(timebase, defaults::kTracepoint);
      timebase.add_string(defaults::kName, "off_cpu_ns");
    }
    pbf_writer follower(samples, defaults::kFollowers);
    add_tracepoint(follower, defaults::kFollowerTracepoint);
    follower.add_string(defaults::kFollowerName, "weight_ns");
  });
  std::vector<std::uint32_t> order(trace.waits.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&trace](std::uint32_t index) {
    const Wait& wait = trace.waits[index];
    return trace.actors[trace.sites[wait.site].thread].outside || wait.block >= trace.window.end ||
           sampled_at(trace, wait) < trace.window.begin;
  });
  std::sort(order.begin(), order.end(), [&trace](std::uint32_t a, std::uint32_t b) {
    return std::pair(sampled_at(trace, trace.waits[a]), a) < std::pair(sampled_at(trace, trace.waits[b]), b);
  });
  Amounts sum;
  for (const std::uint32_t index : order) {
    const Wait& wait = trace.waits[index];
    const WaitSite& site = trace.sites[wait.site];
    const Amounts amounts = amounts_of(trace, swept, wait);
    sum.wait_ns += amounts.wait_ns;
    sum.weight_ns += amounts.weight_ns;
    const std::uint64_t stack = sequence.callstack(trace, site.wait_stack);
    write_sample(trace, site.thread, stack, sampled_at(trace, wait), sequence,
                 {static_cast<std::uint64_t>(std::llround(sum.wait_ns)),
                  static_cast<std::uint64_t>(std::llround(sum.weight_ns))});
  }
}

void write_cpu_samples(const Trace& trace, pf::Sequence& sequence) {
  namespace defaults = pf::perf_sample_defaults;
  if (trace.cpu_samples.empty()) return;
  sequence.add([&trace](pbf_writer& packet) {
    pbf_writer packet_defaults(packet, pf::packet::kTracePacketDefaults);
    pbf_writer samples(packet_defaults, pf::packet_defaults::kPerfSampleDefaults);
    pbf_writer timebase(samples, defaults::kTimebase);
    timebase.add_uint64(defaults::kFrequency, trace.recording.sample_hz);
    timebase.add_enum(defaults::kCounter, defaults::kCpuClock);
    timebase.add_string(defaults::kName, "cpu_samples");
  });
  std::vector<CpuSample> samples = trace.cpu_samples;
  std::erase_if(samples, [&trace](const CpuSample& sample) {
    return sample.at < trace.window.begin || sample.at >= trace.window.end;
  });
  std::stable_sort(samples.begin(), samples.end(),
                   [](const CpuSample& a, const CpuSample& b) { return a.at < b.at; });
  std::uint64_t count = 0;
  for (const CpuSample& sample : samples) {
    const std::uint64_t stack = sequence.callstack(trace, sample.stack);
    write_sample(trace, sample.thread, stack, sample.at, sequence, {++count});
  }
}

}  // namespace

Status write_perfetto(const Trace& trace, const ByteSink& sink) {
  OFFWAIT_TRY(const Sweep swept, sweep(trace));
  pf::Packets packets(sink);
  pf::Sequence scheduler(packets, 1);
  pf::Sequence slices(packets, 2);
  pf::Sequence wait_samples(packets, 3);
  pf::Sequence cpu_samples(packets, 4);
  write_clocks(trace, scheduler);
  write_system(trace, scheduler);
  write_process_tree(trace, tree_of(trace), scheduler);
  pf::write_sched_events(trace, scheduler);
  pf::write_slices(trace, slices);
  write_wait_samples(trace, swept, wait_samples);
  write_cpu_samples(trace, cpu_samples);
  return packets.finish();
}

}  // namespace offwait
