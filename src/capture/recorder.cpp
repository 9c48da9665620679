// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/recorder.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <span>
#include <thread>
#include <unordered_set>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <offwait.skel.h>

#include "base/monotonic.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "capture/cgroup_readings.h"
#include "capture/costs.h"
#include "capture/cpu_readings.h"
#include "capture/device_counters.h"
#include "capture/drawn_waits.h"
#include "capture/event_rings.h"
#include "capture/executables.h"
#include "capture/final_maps.h"
#include "capture/kernel_names.h"
#include "capture/kernel_types.h"
#include "capture/libbpf_calls.h"
#include "capture/look_budget.h"
#include "capture/privileges.h"
#include "capture/programs.h"
#include "capture/sampler.h"
#include "capture/stack_budget.h"
#include "capture/stack_store.h"
#include "capture/user_stacks.h"
#include "event/files.h"
#include "process/mount_points.h"

namespace offwait {

struct Recorder::State {
  Priority& priority;
  Skeleton skeleton;
  EventRings rings;
  BpfLinks links;
  std::optional<UserStacks> stacks;   ///< none: no stacks are recorded
  std::optional<StackStore> stored;   ///< with `stacks`, once the programs are loaded
  std::optional<Costs> costs;         ///< once the programs are loaded
  std::optional<StackBudget> budget;  ///< none: all stacks are taken
  std::optional<LookBudget> looks;    ///< none: processes are looked at whenever that is of use
  DeviceCounters devices;
  CpuReadings cpus;
  CgroupReadings cgroups;
  Executables executables;
  KernelRecording recording;
  DrawnWaits drawn;
  std::unordered_set<std::int32_t> target_processes;  ///< that live
  std::vector<std::string> notes;
  UniqueFd symbols;             ///< a descriptor that lists the kernel's symbols
  UniqueFd after_switch_event;  ///< of attach_after_switch()
  Nanos begun = 0;
  bool window_moves = false;
  double most_overhead = 0;
  std::uint64_t bad_records = 0;
  std::uint64_t waits_taken = 0;  ///< by take()

  explicit State(Priority& own_priority) : priority(own_priority) {}

  static void on_record(void* self, std::span<const std::byte> record) {
    static_cast<State*>(self)->take(record);
  }

  void take(std::span<const std::byte> record) {
    if (!record.empty() && static_cast<std::uint8_t>(record[0]) == OFFWAIT_RECORD_FILE)
      return take_file(record);
    if (!drawn.append(record, recording.records)) {
      ++bad_records;
      return;
    }
    if (static_cast<std::uint8_t>(record[0]) != OFFWAIT_RECORD_THREAD) return;
    offwait_thread_record thread{};
    std::memcpy(&thread, record.data(), sizeof(thread));
    if (stacks) stacks->note(thread);
    cpus.note(thread);
    cgroups.note(thread);
    executables.note(thread);
    const auto tgid = static_cast<std::int32_t>(thread.tgid);
    if (thread.event == OFFWAIT_THREAD_EXITED) {
      if (thread.tid == thread.tgid) target_processes.erase(tgid);
      return;
    }
    if (thread.outside == OFFWAIT_TARGET && target_processes.insert(tgid).second)
      devices.add_network_of(tgid, recording);
  }

  /// A file is known as it was seen last.
  void take_file(std::span<const std::byte> record) {
    offwait_file file{};
    if (record.size() != sizeof(file)) {
      ++bad_records;
      return;
    }
    std::memcpy(&file, record.data(), sizeof(file));
    recording.files.insert_or_assign(file.id, kernel_file(file));
  }

  /// The mounts of a process of the target that still lives, or our own.
  void read_mounts() {
    for (const std::int32_t tgid : target_processes) {
      recording.mounts = mounts_in(fmt::format("/proc/{}/mountinfo", tgid));
      if (!recording.mounts.empty()) return;
    }
    recording.mounts = mounts_in("/proc/self/mountinfo");
  }

  static std::vector<KernelMount> mounts_in(const std::string& path) {
    std::vector<KernelMount> out;
    for (MountPoint& mount : parse_mounts(read_file(path))) {
      out.push_back({mount.dev, std::move(mount.root), std::move(mount.path)});
    }
    return out;
  }

  void drain() { rings.consume(on_record, this); }

  void keep_within_budget() {
    const Nanos now = monotonic_now();
    const bool due = budget && budget->is_due(now);
    if (!due && !(looks && looks->is_due(now))) return;
    const CostReading reading = costs->read(now);
    if (due) std::atomic_ref(skeleton->bss->draw_bits).store(budget->next(reading));
    if (looks) looks->take(reading);
  }

  /// Looks at the mappings of processes that are due, as far as the budget allows.
  Status refresh_stacks() {
    constexpr Nanos kLongest = kSecond / 50;  // records must not wait for longer
    const Nanos now = monotonic_now();
    if (!stacks) return success();
    if (!looks) return stacks->refresh();
    const Nanos left = looks->time_left(now);
    if (left <= 0) return success();
    const Nanos before = thread_cpu_time();
    OFFWAIT_TRY_STATUS(stacks->refresh(std::min(left, kLongest)));
    looks->spend(now, thread_cpu_time() - before);
    return success();
  }

  RecordingCost cost() const {
    RecordingCost cost = costs->since_begin();
    cost.most = budget ? most_overhead : 0;
    return cost;
  }

  /// Threads that are blocked have no stacks yet if these are drawn.
  Status take_open_stacks() {
    if (!budget || !stacks) return success();
    OFFWAIT_TRY_STATUS(run_iterator(skeleton->progs.take_open_stacks));
    OFFWAIT_TRY_STATUS(stacks->refresh());
    return stacks->refresh();  // a walk that met a new mapping is tried once more
  }

  LossCounts losses() const {
    LossCounts losses = read_losses(*skeleton);
    losses["record_invalid"] += bad_records;
    return losses;
  }

  void note_low_priority() {
    const auto lost = recording.loss.find("ringbuf_full");
    if (priority.highest() == PriorityLevel::own && lost != recording.loss.end() && lost->second > 0)
      notes.push_back(
          "records were lost because the recorder was kept from the CPUs: let it run before other threads "
          "(CAP_SYS_NICE)");
  }

  // The steps of attach(), in order:

  Status load(const CaptureOptions& options) {
    if (options.stacks) {
      OFFWAIT_TRY(const UnwindTables::Maps maps, create_table_maps(*skeleton));
      stacks.emplace(maps);
    }
    // The kernel verifies the programs while this thread reads the target's unwind tables; both take about as
    // long.
    std::future<int> load =
        std::async(std::launch::async, [this] { return offwait_bpf__load(skeleton.get()); });
    Status filled = success();
    if (stacks) {
      for (const std::int32_t tgid : options.tgids) stacks->follow(tgid);
      filled = stacks->refresh();
    }
    if (const int error = load.get()) return libbpf_error("cannot load the BPF programs", error);
    if (stacks) OFFWAIT_TRY_STATUS(stored.emplace(*skeleton).open());
    costs.emplace(*skeleton);
    most_overhead = options.most_overhead;
    return filled;  // an error of the load is returned first, because it may be the cause
  }

  Status open_rings(const CaptureOptions& options) {
    const unsigned count = bpf_map__max_entries(skeleton->maps.events_by_cpu);
    return rings.open(*skeleton, count, options.ring_bytes != 0 ? options.ring_bytes : ring_bytes_for(count));
  }

  /// Opens the iterator over the kernel's symbols, if the kernel has to be asked in this way.
  Status open_symbols() {
    if (!bpf_program__autoload(skeleton->progs.list_symbols)) return success();
    OFFWAIT_TRY(symbols, open_iterator(skeleton->progs.list_symbols));
    return success();
  }

  void count_responses() {
    const Status attached = attach_response_counters(*skeleton, links);
    recording.counts_responses = attached.ok();
    if (!attached) notes.push_back("responses to clients are not counted: " + attached.error().message);
  }

  /// Lets threads take their stacks after a wait, if this kernel can.
  void draw_stacks() {
    if (!skeleton->rodata->stacks_are_drawn) return;
    Result<UniqueFd> event = attach_after_switch(*skeleton, links);
    if (!event) return;  // all waits have their stacks taken; `offwait doctor` says so
    after_switch_event = std::move(*event);
    budget.emplace(most_overhead);
  }

  /// Finds the living threads of the target.
  Status find_threads(const CaptureOptions& options) {
    // One pass may miss a process forked by a process that the iterator had not reached yet, and children
    // listed before their parents; the next pass finds them.
    for (__u64 before = ~__u64{0}; skeleton->bss->seeded_threads != before;) {
      before = skeleton->bss->seeded_threads;
      OFFWAIT_TRY_STATUS(run_iterator(skeleton->progs.seed_threads));
    }
    if (skeleton->bss->seeded_threads == 0 && !options.cgroup)
      return Error{"the target has no threads: it exited before the recording began"};
    drain();
    if (!stacks) return success();
    OFFWAIT_TRY_STATUS(stacks->open(bpf_map__fd(skeleton->maps.mappings_wanted),
                                    {bpf_map__fd(skeleton->maps.unwalked),
                                     bpf_map__fd(skeleton->maps.threads), &skeleton->bss->left_unwalked}));
    return stacks->refresh();
  }

  /// Must follow the task iterators, which use the CPU's stack while interrupts are on.
  void sample(std::uint32_t hz) {
    if (!bpf_program__autoload(skeleton->progs.on_cpu_clock)) return;
    if (Status started = start_sampling(skeleton->progs.on_cpu_clock, hz, links.links())) {
      recording.sample_hz = hz;
    } else {
      notes.push_back(
          fmt::format("threads are not sampled while they run ({}): the report cannot say what code they run",
                      started.error().message));
    }
  }
};

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Result<Recorder> Recorder::attach(const CaptureOptions& options, Priority& priority,
                                  const std::function<void(AttachStep)>& begins) {
  OFFWAIT_TRY_STATUS(check_privileges());
  OFFWAIT_TRY(const KernelTypes types, read_kernel_types());
  if (!types.has_ring_buffer || !types.has_task_iterator)
    return Error{
        "this kernel has no BPF ring buffers, or no task iterators: offwait needs Linux 5.8 or newer"};

  keep_libbpf_complaints();
  auto state = std::make_unique<State>(priority);
  state->recording.records.keep_in_memory(options.memory_bytes, options.overflow_directory);
  state->skeleton.reset(offwait_bpf__open());
  if (!state->skeleton) return libbpf_error("cannot open the BPF programs", errno);
  OFFWAIT_TRY_STATUS(configure(*state->skeleton, options, types));
  begins(AttachStep::load);
  OFFWAIT_TRY_STATUS(state->load(options));
  OFFWAIT_TRY_STATUS(set_target(*state->skeleton, options));
  OFFWAIT_TRY_STATUS(state->open_rings(options));
  OFFWAIT_TRY_STATUS(run_iterator(state->skeleton->progs.note_cpus));
  state->recording.recorder = state->skeleton->bss->recorder_tgid;
  OFFWAIT_TRY_STATUS(state->open_symbols());
  priority.patient();  // CPUs may have become crowded
  OFFWAIT_TRY_STATUS(attach_tracepoints(*state->skeleton, state->links));
  state->count_responses();
  state->draw_stacks();
  priority.patient();
  begins(AttachStep::find_threads);
  OFFWAIT_TRY_STATUS(state->find_threads(options));
  begins(AttachStep::probe);
  OFFWAIT_TRY_STATUS(attach_probes(*state->skeleton, options.probes, state->links, state->notes));
  state->sample(options.sample_hz);
  return Recorder(std::move(state));
}

void Recorder::begin() {
  State& state = *state_;
  state.recording.interrupts = parse_interrupts(read_file("/proc/interrupts"));
  state.cpus.begin();
  state.cgroups.begin();
  state.recording.disk_counters.clear();
  state.recording.nic_counters.clear();
  state.devices.begin(state.recording);
  // In this order: the programs leave out what ends before they see that the window has begun.
  std::atomic_ref(state.skeleton->bss->window_begun).store(true);
  std::atomic_ref(state.skeleton->bss->window_open).store(true);
  state.begun = state.recording.window.begin = monotonic_now();
  state.costs->begin();
  if (state.stacks && state.most_overhead > 0) state.looks.emplace(state.most_overhead, state.begun);
  state.priority.urgent();
}

Status Recorder::drain() {
  state_->drain();
  // What follows reads files of the target, as large as they are.
  state_->priority.patient();
  state_->keep_within_budget();
  state_->devices.read_if_due(state_->recording);
  state_->cpus.read_if_due();
  state_->executables.read_if_due();
  Status refreshed = state_->refresh_stacks();
  if (refreshed && state_->stored) refreshed = state_->stored->make_room(monotonic_now());
  state_->priority.urgent();
  return refreshed;
}

int Recorder::urgent_fd() const {
  if (!state_->stacks || (state_->looks && state_->looks->time_left(monotonic_now()) <= 0)) return -1;
  return state_->stacks->urgent_fd();
}

std::vector<AddressSpace> Recorder::take_mappings(AddressSpaces::Copies copies) {
  return state_->stacks ? state_->stacks->take_changed(copies) : std::vector<AddressSpace>();
}

std::vector<std::int32_t> Recorder::take_gone() {
  return state_->stacks ? state_->stacks->take_gone() : std::vector<std::int32_t>();
}

const std::vector<std::string>& Recorder::notes() const { return state_->notes; }

std::string Recorder::kernel_symbols() { return read_all(state_->symbols.get()); }

Nanos Recorder::elapsed() const { return monotonic_now() - state_->begun; }

CaptureProgress Recorder::progress() const {
  CaptureProgress progress;
  progress.waits = state_->waits_taken + state_->recording.records.count(OFFWAIT_RECORD_WAIT);
  for (const auto& [name, count] : state_->losses()) progress.lost += count;
  return progress;
}

bool Recorder::is_full() const { return !state_->recording.records.bounded().ok(); }

/// The tables are read before the records, so that all records of what they show are there.
Result<KernelRecording> Recorder::take(Taken what) {
  State& state = *state_;
  KernelRecording& recording = state.recording;
  KernelRecording part;
  part.window = {recording.window.begin, monotonic_now()};
  if (what != Taken::records) {
    state.priority.patient();  // as in drain()
    state.devices.read_if_older(kSecond / 10, recording);
    state.cpus.add_to(part);
    state.cgroups.add_to(part);
    if (what == Taken::tables && state.window_moves) OFFWAIT_TRY_STATUS(state.take_open_stacks());
    OFFWAIT_TRY_STATUS(read_counted(*state.skeleton, part));
    if (state.window_moves) {
      forget_counted(*state.skeleton, part);
      if (state.stored) state.stored->note_threads(part.threads, monotonic_now());
    }
    if (what == Taken::tables) OFFWAIT_TRY_STATUS(read_named(*state.skeleton, part));
    if (recording.mounts.empty() || (what == Taken::tables && state.window_moves)) state.read_mounts();
    state.priority.urgent();
  }
  state.drain();
  state.drawn.flush(recording.records);
  part.records = std::exchange(recording.records, {});
  state.waits_taken += part.records.count(OFFWAIT_RECORD_WAIT);
  part.files = std::exchange(recording.files, {});
  part.disk_counters = std::exchange(recording.disk_counters, {});
  part.nic_counters = std::exchange(recording.nic_counters, {});
  if (what == Taken::records) return part;
  part.loss = state.losses();
  part.stack_reuse = read_stack_reuse(*state.skeleton);
  part.cost = state.cost();
  if (what == Taken::counters) return part;
  part.mounts = recording.mounts;
  state.executables.add_to(part);
  part.served_ports.insert(recording.served_ports.begin(), recording.served_ports.end());
  part.interrupts = recording.interrupts;
  part.disks = recording.disks;
  part.disks_below = recording.disks_below;
  part.counts_responses = recording.counts_responses;
  part.sample_hz = recording.sample_hz;
  part.recorder = recording.recorder;
  return part;
}

void Recorder::forget_taken() {
  state_->executables.forget_exited();
  state_->cpus.forget_exited();
}

void Recorder::move_begin(Nanos begin, const Exited& exited) {
  State& state = *state_;
  state.window_moves = true;
  state.recording.window.begin = begin;
  state.priority.patient();  // as in drain()
  // The last reading before the window lies this close to it.
  constexpr Nanos kReadings = 4;
  state.cpus.read_processes_if_older(std::max(10 * kSecond, (monotonic_now() - begin) / kReadings));
  state.executables.forget(exited.threads);
  state.cpus.forget(begin, exited.threads, exited.processes);
  if (!exited.processes.empty()) state.cgroups.forget_gone();
  if (state.stacks) state.stacks->forget_before(begin);
  if (state.stored) state.stored->forget_before(begin);
  state.priority.urgent();
}

Status Recorder::add_requests(KernelRecording& recording) const {
  return read_requests(*state_->skeleton, recording);
}

void Recorder::complete(KernelRecording& recording) const {
  std::vector<std::uint32_t> ids;
  for (const auto& [tid, thread] : recording.threads) {
    for (const std::uint32_t id : stacks_of(thread)) ids.push_back(id);
  }
  for (const auto& [id, stack] : stacks(ids)) recording.stacks.emplace(id, stack);
  if (state_->stacks) state_->stacks->add_late_stacks(recording);
  state_->cpus.add_processes(recording);
}

std::vector<std::pair<std::uint32_t, offwait_stack>> Recorder::stacks(
    std::span<const std::uint32_t> ids) const {
  if (!state_->stored) return {};
  return state_->stored->read(ids);
}

void Recorder::keep_stacks(bool keep) {
  if (state_->stored) state_->stored->hold(keep);
}

Status Recorder::await_last_exits(std::span<const std::int32_t> ended) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  state_->priority.patient();
  std::size_t before = SIZE_MAX;
  for (Nanos until = 0;;) {
    std::size_t left = 0;
    OFFWAIT_TRY_STATUS(for_each_entry<std::uint32_t, offwait_thread>(
        state_->skeleton->maps.threads, [&](std::uint32_t, const offwait_thread& thread) {
          const auto tgid = static_cast<std::int32_t>(thread.tgid);
          left += thread.target != 0 && std::ranges::find(ended, tgid) != ended.end() ? 1U : 0U;
        }));
    const Nanos now = monotonic_now();
    if (left < before) until = now + kSecond;
    if (left == 0 || now >= until) return success();
    before = left;
    std::this_thread::sleep_for(kPause);
    state_->drain();
  }
}

Result<KernelRecording> Recorder::stop() {
  State& state = *state_;
  std::atomic_ref(state.skeleton->bss->window_open).store(false);
  state.recording.window.end = monotonic_now();
  state.priority.patient();
  state.devices.end(state.recording);
  state.cpus.end(state.recording);
  state.cgroups.add_to(state.recording);
  state.executables.end(state.recording);
  state.read_mounts();
  OFFWAIT_TRY_STATUS(state.take_open_stacks());
  state.recording.cost = state.cost();
  state.links.detach();
  state.drain();
  state.drawn.flush(state.recording.records);
  OFFWAIT_TRY_STATUS(read_counted(*state.skeleton, state.recording));
  OFFWAIT_TRY_STATUS(read_named(*state.skeleton, state.recording));
  if (state.stored) OFFWAIT_TRY_STATUS(state.stored->add_to(state.recording));
  OFFWAIT_TRY_STATUS(read_requests(*state.skeleton, state.recording));
  if (state.stacks) state.stacks->finish(state.recording, state.notes);
  state.recording.loss = state.losses();
  state.recording.stack_reuse = read_stack_reuse(*state.skeleton);
  state.priority.end();
  state.note_low_priority();
  if (const Status& bounded = state.recording.records.bounded(); !bounded)
    state.notes.push_back(fmt::format(
        "the recording ended early: its records take more memory than --max-memory allows, and {}",
        bounded.error().message));
  return std::move(state.recording);
}

}  // namespace offwait
