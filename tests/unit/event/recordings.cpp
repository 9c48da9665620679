// SPDX-License-Identifier: GPL-2.0-or-later
#include "recordings.h"

#include <catch2/catch.hpp>

#include <sys/syscall.h>

#include "event/assemble.h"
#include "model/backtrace.h"

namespace offwait::test {

offwait_wait wait_of(std::uint32_t tid, std::uint64_t block, std::uint64_t wake, std::uint64_t run,
                     Waker waker) {
  offwait_wait record{};
  record.type = OFFWAIT_RECORD_WAIT;
  record.waker_kind = static_cast<std::uint8_t>(waker.kind);
  record.waker_id = waker.id;
  record.tid = tid;
  record.block_ns = block;
  record.wake_ns = wake;
  record.run_ns = run;
  record.syscall = SYS_futex;
  record.task_state = 1;
  return record;
}

offwait_preemption preemption_of(std::uint32_t tid, std::uint64_t out, std::uint64_t run) {
  offwait_preemption record{};
  record.type = OFFWAIT_RECORD_PREEMPTION;
  record.tid = tid;
  record.out_ns = out;
  record.run_ns = run;
  return record;
}

offwait_gap gap_of(std::uint32_t tid, std::uint64_t from, std::uint64_t to) {
  offwait_gap record{};
  record.type = OFFWAIT_RECORD_GAP;
  record.tid = tid;
  record.from_ns = from;
  record.to_ns = to;
  return record;
}

offwait_io io_of(std::uint32_t tid, std::uint32_t dev, std::uint64_t issue, std::uint64_t complete,
                 std::uint32_t bytes) {
  offwait_io record{};
  record.type = OFFWAIT_RECORD_IO;
  record.tid = tid;
  record.dev = dev;
  record.issue_ns = issue;
  record.complete_ns = complete;
  record.bytes = bytes;
  return record;
}

void RecordingByHand::thread_event(offwait_thread_event event, std::uint32_t tid, std::uint64_t start,
                                   std::uint64_t at, const std::string& comm, offwait_outside outside,
                                   std::uint32_t parent) {
  offwait_thread_record record{};
  record.type = OFFWAIT_RECORD_THREAD;
  record.event = static_cast<std::uint8_t>(event);
  record.outside = static_cast<std::uint8_t>(outside);
  record.tid = tid;
  record.tgid = 10;
  record.parent = parent;
  record.at_ns = at;
  record.start_ns = start;
  comm.copy(record.comm, sizeof(record.comm));
  append(record);
}

void RecordingByHand::seen(std::uint32_t tid, std::uint64_t start, std::uint64_t at,
                           const std::string& comm) {
  thread_event(OFFWAIT_THREAD_SEEN, tid, start, at, comm, OFFWAIT_TARGET);
}
void RecordingByHand::seen_outside(std::uint32_t tid, std::uint64_t start, std::uint64_t at,
                                   const std::string& comm) {
  thread_event(OFFWAIT_THREAD_SEEN, tid, start, at, comm, OFFWAIT_OUTSIDE);
}
void RecordingByHand::seen_recorder(std::uint32_t tid, std::uint64_t start, std::uint64_t at,
                                    const std::string& comm) {
  thread_event(OFFWAIT_THREAD_SEEN, tid, start, at, comm, OFFWAIT_OUTSIDE_RECORDER);
}
void RecordingByHand::born(std::uint32_t tid, std::uint64_t start, const std::string& comm,
                           std::uint32_t parent) {
  thread_event(OFFWAIT_THREAD_BORN, tid, start, start, comm, OFFWAIT_TARGET, parent);
}
void RecordingByHand::entered(std::uint32_t tid, std::uint64_t start, std::uint64_t at,
                              const std::string& comm) {
  thread_event(OFFWAIT_THREAD_ENTERED, tid, start, at, comm, OFFWAIT_TARGET);
}
void RecordingByHand::named(std::uint32_t tid, std::uint64_t at, const std::string& comm) {
  thread_event(OFFWAIT_THREAD_NAMED, tid, 0, at, comm, OFFWAIT_TARGET);
}
void RecordingByHand::exited(std::uint32_t tid, std::uint64_t at) {
  thread_event(OFFWAIT_THREAD_EXITED, tid, 0, at, "", OFFWAIT_TARGET);
}

offwait_thread& RecordingByHand::left(std::uint32_t tid, std::uint64_t start, offwait_state state,
                                      std::uint64_t since) {
  offwait_thread thread{};
  thread.start_ns = start;
  thread.since_ns = since;
  thread.state = static_cast<std::uint8_t>(state);
  thread.target = 1;
  thread.tgid = 10;
  thread.syscall = SYS_futex;
  thread.task_state = 1;
  return recording.threads.emplace_back(tid, thread).second;
}

void RecordingByHand::stack(std::uint32_t id, std::uint32_t tgid, const std::vector<std::uint64_t>& pcs) {
  offwait_stack& stack = recording.stacks[id];
  stack.tgid = tgid;
  stack.frames = static_cast<std::uint16_t>(pcs.size());
  std::copy(pcs.begin(), pcs.end(), stack.pc);
}

namespace {

/// Adds a frame for each address but 0 to `frames`, and returns where they are.
template <class Addresses>
NamedStacks::Indices named(std::uint32_t tgid, const Addresses& pcs, std::vector<Frame>& frames) {
  NamedStacks::Indices indices;
  for (const std::uint64_t pc : pcs) {
    if (pc == 0) continue;
    const bool kernel = tgid == 0;
    const std::string space = kernel ? "k" : "u" + std::to_string(tgid) + ":";
    indices.push_back(static_cast<std::uint32_t>(frames.size()));
    frames.push_back(
        {.function = space + std::to_string(pc), .kind = kernel ? Frame::Kind::kernel : Frame::Kind::user});
  }
  return indices;
}

}  // namespace

NamedStacks named_stacks(const KernelRecording& recording) {
  NamedStacks stacks;
  for (const auto& [id, stack] : recording.stacks)
    stacks.recorded[id] = {named(stack.tgid, pcs_of(stack), stacks.frames), cut_of(stack)};
  for (const RecordStack& stack : stacks_in_records(recording))
    stacks.in_records[stack] = named(stack.tgid, stack.pcs, stacks.frames);
  return stacks;
}

Trace RecordingByHand::trace() const {
  REQUIRE(appended);
  return assemble(recording, named_stacks(recording));
}

namespace {

std::string time_text(Nanos at) { return at == kNever ? "-" : std::to_string(at); }

std::string actor_text(const Trace& trace, ActorId id) {
  if (id == kNoActor) return "-";
  const Actor& actor = trace.actors.at(id);
  std::string text(to_string(actor.kind));
  if (actor.kind == ActorKind::thread)
    return text + " " + std::to_string(actor.tid) + "@" + std::to_string(actor.start);
  if (!actor.name.empty()) text += " " + actor.name;
  return text;
}

std::string thread_text(const Trace& trace, ActorId id) {
  if (id == kNoActor) return "-";
  const Actor& actor = trace.actors.at(id);
  return std::to_string(actor.tid) + "@" + std::to_string(actor.start);
}

std::string stack_text(const Trace& trace, const char* what, StackId id) {
  if (id == kNoStack) return "";
  std::string text;
  for (const std::string& line : to_lines(backtrace_of(trace, id))) text += ";" + line;
  return std::string(" ") + what + " " + text.substr(text.empty() ? 0 : 1);
}

}  // namespace

std::vector<std::string> lines(const Trace& trace) {
  std::vector<std::string> all;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread) {
      all.push_back(actor_text(trace, id));
      continue;
    }
    all.push_back(
        "thread " + std::to_string(actor.tgid) + "/" + std::to_string(actor.tid) + " " + actor.name +
        (actor.lives > 1 ? "×" + std::to_string(actor.lives) : "") + " [" + time_text(actor.start) + "," +
        time_text(actor.exit) + ") seen " + time_text(actor.seen) + (actor.outside ? " outside" : "") +
        (actor.recorder ? " recorder" : "") +
        (actor.parent == kNoActor ? "" : " child of " + std::to_string(trace.actors[actor.parent].tid)));
  }
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites.at(wait.site);
    all.push_back("wait " + thread_text(trace, site.thread) + " [" + time_text(wait.block) + "," +
                  time_text(wait.wake) + "," + time_text(wait.run) + ") " +
                  std::string(to_string(site.wait_class)) + " <- " + actor_text(trace, site.waker) +
                  stack_text(trace, "stack", site.wait_stack) +
                  stack_text(trace, "waker_stack", site.waker_stack) + (site.in_flight ? " in flight" : "") +
                  (wait.holder == kNoActor ? "" : " held by " + thread_text(trace, wait.holder)));
  }
  for (const Preemption& preemption : trace.preemptions) {
    all.push_back("preempt " + thread_text(trace, preemption.thread) + " [" + time_text(preemption.out) +
                  "," + time_text(preemption.run) + ")");
  }
  for (const Gap& gap : trace.gaps) {
    all.push_back("gap " + thread_text(trace, gap.thread) + " [" + time_text(gap.from) + "," +
                  time_text(gap.to) + ")");
  }
  for (const CpuSample& sample : trace.cpu_samples) {
    all.push_back("on_cpu " + thread_text(trace, sample.thread) + " " + time_text(sample.at) +
                  stack_text(trace, "stack", sample.stack));
  }
  for (const Responses& responses : trace.responses) {
    all.push_back("responses " + thread_text(trace, responses.thread) + " " +
                  (responses.port != 0 ? std::to_string(responses.port) : responses.path) + " " +
                  std::to_string(responses.count) + " to " + std::to_string(responses.connections) + " [" +
                  time_text(responses.first) + "," + time_text(responses.last) + "]");
  }
  for (const Calls& calls : trace.calls) {
    all.push_back("calls " + thread_text(trace, calls.thread) + " " + calls.function + " " +
                  std::to_string(calls.count) + " [" + time_text(calls.first) + "," + time_text(calls.last) +
                  "]");
  }
  for (const DiskCounters& counters : trace.disk_counters) {
    all.push_back("sample " + trace.actors.at(counters.disk).name + " " + time_text(counters.at) + " " +
                  std::to_string(counters.bytes) + " " + std::to_string(counters.ios));
  }
  for (const DiskIo& io : trace.disk_ios) {
    all.push_back("io " + thread_text(trace, io.thread) + " " + trace.actors.at(io.disk).name + " [" +
                  time_text(io.issue) + "," + time_text(io.complete) + ") " + std::to_string(io.bytes) +
                  (io.operation == DiskOperation::unknown ? "" : " " + std::string(to_string(io.operation))));
  }
  for (const auto& [name, count] : trace.loss) {
    if (count != 0) all.push_back("loss " + name + " " + std::to_string(count));
  }
  return all;
}

}  // namespace offwait::test
