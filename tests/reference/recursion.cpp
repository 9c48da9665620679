// SPDX-License-Identifier: GPL-2.0-or-later
#include "reference/recursion.h"

#include <algorithm>

namespace offwait::reference {

namespace {

struct Segment {
  SiteId site = 0;
  Nanos start = 0;
  Nanos end = 0;
};

Segment clipped(const Trace& trace, const Wait& wait) {
  const Actor& thread = trace.actors[trace.sites[wait.site].thread];
  return {wait.site, std::max(wait.block, trace.window.begin),
          std::min({wait.wake, thread.exit, trace.window.end})};
}

using SegmentsByThread = std::vector<std::vector<Segment>>;

void cascade_one(const Trace& trace, const SegmentsByThread& segments, const Segment& w, std::size_t depth,
                 Cascade& result) {
  result.depth = std::max(result.depth, depth);
  result.weight_ns[w.site] += w.end - w.start;
  const ActorId waker = trace.sites[w.site].waker;
  if (waker == kNoActor) {
    return;
  }
  for (Segment segment : segments[waker]) {
    segment.start = std::max(segment.start, w.start);
    segment.end = std::min(segment.end, w.end);
    if (segment.start < segment.end) {
      cascade_one(trace, segments, segment, depth + 1, result);
    }
  }
}

Nanos overlap(Nanos a_from, Nanos a_to, Nanos b_from, Nanos b_to) {
  return std::max(Nanos{0}, std::min(a_to, b_to) - std::max(a_from, b_from));
}

}  // namespace

Cascade cascade(const Trace& trace) {
  SegmentsByThread segments(trace.actors.size());
  for (const Wait& wait : trace.waits) {
    const Segment segment = clipped(trace, wait);
    if (segment.start < segment.end) {
      segments[trace.sites[wait.site].thread].push_back(segment);
    }
  }
  Cascade result;
  result.weight_ns.resize(trace.sites.size());
  for (const auto& of_thread : segments) {
    for (const Segment& w : of_thread) {
      if (trace.actors[trace.sites[w.site].thread].kernel) {
        continue;
      }
      cascade_one(trace, segments, w, 1, result);
    }
  }
  return result;
}

States states(const Trace& trace, ActorId thread, Nanos from, Nanos to) {
  const Actor& actor = trace.actors[thread];
  const Nanos lived_from = std::max(from, actor.start);
  const Nanos lived_to = std::max(lived_from, std::min(to, actor.exit));
  States result;
  Nanos known_from = actor.seen;
  Nanos lost = 0;
  for (const Wait& wait : trace.waits) {
    if (trace.sites[wait.site].thread != thread) {
      continue;
    }
    result.blocked_ns += overlap(wait.block, wait.wake, lived_from, lived_to);
    result.runnable_ns += overlap(wait.wake, wait.run, lived_from, lived_to);
    known_from = std::min(known_from, wait.block);
  }
  for (const Preemption& preemption : trace.preemptions) {
    if (preemption.thread != thread) {
      continue;
    }
    result.runnable_ns += overlap(preemption.out, preemption.run, lived_from, lived_to);
    known_from = std::min(known_from, preemption.out);
  }
  for (const Gap& gap : trace.gaps) {
    if (gap.thread != thread) {
      continue;
    }
    lost += overlap(gap.from, gap.to, lived_from, lived_to);
    known_from = std::min(known_from, gap.from);
  }
  const Nanos before_seen = overlap(actor.start, known_from, lived_from, lived_to);
  const Nanos not_alive = (to - from) - (lived_to - lived_from);
  result.unknown_ns = lost + before_seen + not_alive;
  result.running_ns = (to - from) - result.blocked_ns - result.runnable_ns - result.unknown_ns;
  return result;
}

std::vector<SiteTotals> site_totals(const Trace& trace) {
  std::vector<SiteTotals> totals(trace.sites.size());
  for (const Wait& wait : trace.waits) {
    const Window& window = trace.window;
    const bool empty = wait.block == wait.wake;
    if (wait.block >= window.end || (empty ? wait.block < window.begin : wait.wake <= window.begin)) {
      continue;
    }
    SiteTotals& total = totals[wait.site];
    total.waits += trace.sites[wait.site].in_flight ? 0U : 1U;
    if (empty) {
      continue;
    }
    const Segment segment = clipped(trace, wait);
    total.wait_ns += segment.end - segment.start;
    const ActorId waker = trace.sites[wait.site].waker;
    if (waker == kNoActor || trace.actors[waker].kind != ActorKind::thread) {
      continue;
    }
    const States meanwhile = states(trace, waker, segment.start, segment.end);
    total.waker.running_ns += meanwhile.running_ns;
    total.waker.runnable_ns += meanwhile.runnable_ns;
    total.waker.blocked_ns += meanwhile.blocked_ns;
    total.waker.unknown_ns += meanwhile.unknown_ns;
  }
  return totals;
}

SampleCounts samples_meanwhile(const Trace& trace, const std::vector<ActorId>& waited,
                               const std::vector<ActorId>& ran, StackId stack) {
  const auto one_of = [](const std::vector<ActorId>& actors, ActorId actor) {
    return std::find(actors.begin(), actors.end(), actor) != actors.end();
  };
  SampleCounts counts;
  for (const CpuSample& sample : trace.cpu_samples) {
    if (sample.stack != stack || !one_of(ran, sample.thread) || sample.at < trace.window.begin ||
        sample.at >= trace.window.end) {
      continue;
    }
    const auto waiting = std::count_if(trace.waits.begin(), trace.waits.end(), [&](const Wait& wait) {
      const WaitSite& site = trace.sites[wait.site];
      return site.waker == sample.thread && one_of(waited, site.thread) && wait.block <= sample.at &&
             sample.at < wait.wake && sample.at < trace.actors[site.thread].exit;
    });
    counts.samples += waiting > 0 ? 1 : 0;
    counts.waiting += static_cast<std::uint64_t>(waiting);
  }
  return counts;
}

Nanos open_wait(const Trace& trace, ActorId thread) {
  for (const Wait& wait : trace.waits) {
    if (trace.sites[wait.site].thread != thread || wait.wake <= trace.window.end) {
      continue;
    }
    const Segment segment = clipped(trace, wait);
    if (segment.start < segment.end) {
      return segment.end - segment.start;
    }
  }
  return 0;
}

}  // namespace offwait::reference
