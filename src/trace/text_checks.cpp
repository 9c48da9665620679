// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/text_checks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/tid_lives.h"
#include "trace/percent.h"
#include "trace/text.h"

namespace offwait {
namespace {

using Complaint = std::optional<Error>;

template <class... Parts>
Error unwritable(fmt::format_string<Parts...> what, Parts&&... parts) {
  return Error{fmt::format(what, std::forward<Parts>(parts)...) + " cannot be written as text"};
}

/// The time as it is written: 0 for times before 0.
Nanos as_written(Nanos at) { return std::max<Nanos>(at, 0); }

bool too_long(std::string_view text) { return text.size() > kMaxTextValue; }
bool empty_or_too_long(std::string_view text) { return text.empty() || too_long(text); }

Complaint check_device(const Actor& actor) {
  if (actor.on.size() > kMaxTextDisksBelow ||
      std::any_of(actor.on.begin(), actor.on.end(), empty_or_too_long)) {
    return unwritable("what disk {} is made of", quoted(actor.name));
  }
  if ((actor.kind != ActorKind::timer) == actor.name.empty()) {
    return unwritable("a {} {} a name", to_string(actor.kind), actor.name.empty() ? "without" : "with");
  }
  return std::nullopt;
}

Complaint check_actors(const Trace& trace) {
  std::set<std::pair<ActorKind, std::string_view>> names;
  for (const Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::group) {
      return unwritable("an actor of kind {}", to_string(actor.kind));
    }
    if (too_long(actor.name)) {
      return unwritable("a {} whose name is longer than {} bytes", to_string(actor.kind), kMaxTextValue);
    }
    if (actor.kind == ActorKind::thread) {
      continue;
    }
    if (Complaint complaint = check_device(actor)) {
      return complaint;
    }
    if (!names.emplace(actor.kind, actor.name).second) {
      return unwritable("two actors {} {}", to_string(actor.kind), quoted(actor.name));
    }
  }
  return std::nullopt;
}

/// Finds records whose tid means another thread at the record's time.
class TidCheck {
 public:
  TidCheck(const Trace& trace, const std::vector<TidSpan>& spans) : trace_(trace), spans_(spans) {}

  Complaint check() const {
    for (const Wait& wait : trace_.waits) {
      if (Complaint complaint = check_wait(wait)) {
        return complaint;
      }
    }
    for (const Preemption& preemption : trace_.preemptions) {
      if (Complaint complaint = named("a preemption", preemption.thread, preemption.out)) {
        return complaint;
      }
    }
    for (const Gap& gap : trace_.gaps) {
      if (Complaint complaint = named("a gap", gap.thread, gap.from)) {
        return complaint;
      }
    }
    for (const FalseMark& mark : trace_.false_marks) {
      if (Complaint complaint = named("a false wakeup", mark.thread, mark.at)) {
        return complaint;
      }
    }
    for (const CpuSample& sample : trace_.cpu_samples) {
      if (Complaint complaint = named("a CPU sample", sample.thread, sample.at)) {
        return complaint;
      }
    }
    for (const Responses& responses : trace_.responses) {
      if (Complaint complaint = named("responses", responses.thread, responses.last)) {
        return complaint;
      }
    }
    for (const Calls& calls : trace_.calls) {
      if (Complaint complaint = named("calls", calls.thread, calls.last)) {
        return complaint;
      }
    }
    for (const DiskIo& io : trace_.disk_ios) {
      if (Complaint complaint = named("a request", io.thread, io.issue)) {
        return complaint;
      }
    }
    return std::nullopt;
  }

 private:
  Complaint check_wait(const Wait& wait) const {
    const WaitSite& site = trace_.sites[wait.site];
    if (Complaint complaint = named("a wait", site.thread, wait.block)) {
      return complaint;
    }
    if (Complaint complaint = named("a wake", site.waker, wait.wake)) {
      return complaint;
    }
    return named("a held lock", wait.holder, std::max(wait.block, trace_.window.begin));
  }

  /// Checks the tid of an actor at a time. kNoActor and devices have no tid and always pass.
  Complaint named(std::string_view what, ActorId actor, Nanos at) const {
    at = as_written(at);
    if (actor == kNoActor || trace_.actors[actor].kind != ActorKind::thread || spans_[actor].covers(at)) {
      return std::nullopt;
    }
    return unwritable("{} at {} outside the life of thread {}", what, at, trace_.actors[actor].tid);
  }

  const Trace& trace_;
  const std::vector<TidSpan>& spans_;
};

Complaint check_texts(const Trace& trace) {
  const Recording& recording = trace.recording;
  if (recording.command < 0) {
    return unwritable("the command {}", recording.command);
  }
  if (recording.recorder < 0) {
    return unwritable("the recorder {}", recording.recorder);
  }
  for (const std::string* text :
       {&recording.target, &recording.start_time, &recording.kernel, &recording.offwait, &recording.host}) {
    if (too_long(*text)) {
      return unwritable("a target, start time, kernel, version or host longer than {} bytes", kMaxTextValue);
    }
  }
  if (std::any_of(recording.labels.begin(), recording.labels.end(), [](const Label& label) {
        return empty_or_too_long(label.name) || too_long(label.value);
      })) {
    return unwritable("a label that is empty or longer than {} bytes", kMaxTextValue);
  }
  std::size_t loss_bytes = 0;
  for (const auto& [name, count] : trace.loss) {
    constexpr std::size_t kCountBytes = 32;  // " NAME=COUNT", rounded up
    loss_bytes += 3 * name.size() + kCountBytes;
    if (empty_or_too_long(name) || loss_bytes > kMaxTextLine - kCountBytes) {
      return unwritable("loss counters whose names are empty or too long");
    }
  }
  if (std::any_of(trace.cpu_quotas.begin(), trace.cpu_quotas.end(),
                  [](const CpuQuota& quota) { return empty_or_too_long(quota.cgroup); })) {
    return unwritable("a cgroup with a CPU quota whose name is empty or longer than {} bytes", kMaxTextValue);
  }
  if (std::any_of(trace.memory.begin(), trace.memory.end(),
                  [](const MemoryUse& use) { return too_long(use.cgroup); })) {
    return unwritable("a cgroup with memory whose name is longer than {} bytes", kMaxTextValue);
  }
  if (std::any_of(trace.other_processes.begin(), trace.other_processes.end(),
                  [](const ProcessCpuTime& process) { return too_long(process.name); })) {
    return unwritable("a process whose name is longer than {} bytes", kMaxTextValue);
  }
  if (std::any_of(trace.frames.begin(), trace.frames.end(),
                  [](const Frame& frame) { return to_string(frame).empty(); })) {
    return unwritable("an empty frame");
  }
  if (std::any_of(trace.peers.begin(), trace.peers.end(),
                  [](const Peer& peer) { return empty_or_too_long(to_string(peer)); })) {
    return unwritable("a peer whose name is empty or longer than {} bytes", kMaxTextValue);
  }
  if (std::any_of(trace.objects.begin(), trace.objects.end(), [](const Object& object) {
        return too_long(object.path) || too_long(object.symbol) || too_long(object.module);
      })) {
    return unwritable("an object whose path, symbol or module is longer than {} bytes", kMaxTextValue);
  }
  if (std::any_of(trace.responses.begin(), trace.responses.end(),
                  [](const Responses& responses) { return too_long(responses.path); })) {
    return unwritable("a unix socket whose path is longer than {} bytes", kMaxTextValue);
  }
  if (std::any_of(trace.calls.begin(), trace.calls.end(),
                  [](const Calls& calls) { return empty_or_too_long(calls.function); })) {
    return unwritable("calls of a function whose name is empty or longer than {} bytes", kMaxTextValue);
  }
  return std::nullopt;
}

Complaint check_devices(const Trace& trace) {
  std::set<ActorId> disks;
  for (const DiskCapacity& capacity : trace.capacities) {
    if (!disks.insert(capacity.disk).second) {
      return unwritable("two capacities of disk {}", quoted(trace.actors[capacity.disk].name));
    }
  }
  std::set<ActorId> nics;
  for (const NicCapacity& capacity : trace.nic_capacities) {
    if (!nics.insert(capacity.nic).second || capacity.source == CapacitySource::measured) {
      return unwritable("the capacities of nic {}", quoted(trace.actors[capacity.nic].name));
    }
  }
  const auto no_time = [](const auto& counters) { return counters.at == kNever; };
  if (std::any_of(trace.nic_counters.begin(), trace.nic_counters.end(), no_time)) {
    return unwritable("interface counters without a time");
  }
  if (std::any_of(trace.disk_counters.begin(), trace.disk_counters.end(), no_time)) {
    return unwritable("disk counters without a time");
  }
  if (std::any_of(trace.disk_ios.begin(), trace.disk_ios.end(),
                  [](const DiskIo& io) { return io.issue == kNever; })) {
    return unwritable("a request without a time of issue");
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<TidSpan>> tid_spans(const Trace& trace) {
  std::unordered_map<std::int32_t, TidLives> tids;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread) {
      continue;
    }
    if (actor.tid <= 0 || actor.tgid < 0 || actor.start == kNever) {
      return unwritable("thread {} of process {}, born at {},", actor.tid, actor.tgid, actor.start);
    }
    if (tids[actor.tid].add({as_written(actor.start), as_written(actor.exit), id}) != nullptr) {
      return unwritable("two threads that have tid {} at the same time", actor.tid);
    }
  }
  std::vector<TidSpan> spans(trace.actors.size());
  for (const auto& [tid, lives] : tids) {
    lives.for_each([&](const Life& life, const Life* next) {
      spans[life.actor] = {life.start, next == nullptr ? kNever : next->start};
    });
  }
  return spans;
}

std::optional<Error> find_unwritable(const Trace& trace, const std::vector<TidSpan>& spans) {
  if (Complaint complaint = check_actors(trace)) {
    return complaint;
  }
  if (Complaint complaint = check_texts(trace)) {
    return complaint;
  }
  if (Complaint complaint = check_devices(trace)) {
    return complaint;
  }
  return TidCheck(trace, spans).check();
}

}  // namespace offwait
