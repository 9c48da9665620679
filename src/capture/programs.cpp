// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/programs.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "capture/libbpf_calls.h"
#include "capture/perf_event.h"
#include "capture/privileges.h"

namespace offwait {
namespace {

/// Creates a map as the BPF programs declare it. For a map of maps, `inner` is a map like those it will hold.
UniqueFd create_map(const bpf_map* map, int inner = 0) {
  bpf_map_create_opts options{};
  options.sz = sizeof(options);
  options.inner_map_fd = static_cast<__u32>(inner);
  options.map_flags = bpf_map__map_flags(map);
  return UniqueFd(bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
                                 bpf_map__value_size(map), bpf_map__max_entries(map), &options));
}

/// Attaches the program if it was loaded.
Status attach_program(bpf_program* program, BpfLinks& links) {
  if (!bpf_program__autoload(program)) return success();
  bpf_link* const link = bpf_program__attach(program);
  if (link == nullptr) return libbpf_error(std::string("cannot attach ") + bpf_program__name(program), errno);
  links.links().push_back(link);
  return success();
}

Status attach_probe(offwait_bpf& skeleton, const Probe& probe, BpfLinks& links) {
  bpf_program* program = nullptr;
  switch (probe.kind) {
    case Probe::Kind::spin_begin:
      program = skeleton.progs.spin_begin;
      break;
    case Probe::Kind::spin_end:
    case Probe::Kind::spin_return:
      program = skeleton.progs.spin_end;
      break;
    case Probe::Kind::spin_release:
      program = skeleton.progs.spin_release;
      break;
    case Probe::Kind::false_wakeup:
      program = skeleton.progs.false_wakeup;
      break;
    case Probe::Kind::counted_call:
      program = skeleton.progs.counted_call;
      break;
  }
  // Attached in every process, because the target's children map the same file. The BPF programs check which
  // thread it is.
  constexpr pid_t kAll = -1;
  bpf_link* const link = bpf_program__attach_uprobe(program, probe.kind == Probe::Kind::spin_return, kAll,
                                                    probe.path.c_str(), probe.offset);
  constexpr int kNotSupported = 524;  // ENOTSUPP, an errno that only the kernel uses
  if (link == nullptr && errno == kNotSupported)
    return Error{fmt::format(
        "the kernel cannot probe {} at offset {}: no probe goes on an instruction with a lock prefix; name "
        "another function for {}",
        probe.path, probe.offset, probe.kind == Probe::Kind::counted_call ? "--progress-at" : "--spin")};
  if (link == nullptr && (errno == EACCES || errno == EPERM) && !has_capability(CAP_SYS_ADMIN))
    return Error{fmt::format("this kernel lets only CAP_SYS_ADMIN probe {}: run offwait as root for that",
                             probe.path)};
  if (link == nullptr) return libbpf_error("cannot probe " + probe.path, errno);
  links.links().push_back(link);
  return success();
}

/// Whether the kernel loads a program for the start of the function that has this type. If not, it would load
/// none of ours. Whether it can attach the program, too, only attaching tells (arm64 before 6.4 cannot).
bool can_load_for(std::uint32_t function) {
  std::array<bpf_insn, 2> nothing{};  // return 0
  nothing[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  nothing[1].code = BPF_JMP | BPF_EXIT;
  bpf_prog_load_opts options{};
  options.sz = sizeof(options);
  options.expected_attach_type = BPF_TRACE_FENTRY;
  options.attach_btf_id = function;
  const UniqueFd program(
      bpf_prog_load(BPF_PROG_TYPE_TRACING, "can_load", "GPL", nothing.data(), nothing.size(), &options));
  return static_cast<bool>(program);
}

/// Loads the program in which threads take the stacks of a wait after it, if the kernel has a place for it.
void choose_after_switch(offwait_bpf& skeleton, const CaptureOptions& options, const KernelTypes& types) {
  const bool wanted = options.stacks && options.most_overhead > 0;
  const bool at_tracepoint = wanted && types.has_sched_exit;
  const bool at_function =
      wanted && !at_tracepoint && types.event_sched_in != 0 && can_load_for(types.event_sched_in);
  skeleton.rodata->stacks_are_drawn = at_tracepoint || at_function;
  bpf_program__set_autoload(skeleton.progs.on_sched_exit, at_tracepoint);
  bpf_program__set_autoload(skeleton.progs.on_event_sched_in, at_function);
  bpf_program__set_autoload(skeleton.progs.take_open_stacks, at_tracepoint || at_function);
}

/// Loads the programs that count responses by what the kernel has: the tracepoints of all sockets, else
/// functions of TCP and unix sockets.
void choose_response_counters(offwait_bpf& skeleton, const KernelTypes& types) {
  const auto& programs = skeleton.progs;
  for (bpf_program* program : {programs.on_sock_send_length, programs.on_sock_recv_length})
    bpf_program__set_autoload(program, types.has_socket_lengths);
  for (bpf_program* program : {programs.on_tcp_sendmsg, programs.on_tcp_rcv_space_adjust})
    bpf_program__set_autoload(program, !types.has_socket_lengths && types.has_tcp_functions);
  for (bpf_program* program : {programs.on_unix_stream_sendmsg, programs.on_unix_stream_read_actor})
    bpf_program__set_autoload(program, !types.has_socket_lengths && types.has_unix_functions);
}

}  // namespace

void BpfLinks::detach() {
  for (bpf_link* link : links_) bpf_link__destroy(link);
  links_.clear();
}

Status configure(offwait_bpf& skeleton, const CaptureOptions& options, const KernelTypes& types) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return libbpf_error("cannot count the CPUs", cpus);
  skeleton.rodata->record_stacks = options.stacks;
  skeleton.rodata->follow_children = options.follow_children;
  skeleton.rodata->target_is_cgroup = options.cgroup.has_value();
  skeleton.rodata->target_cgroup = options.cgroup.value_or(0);
  skeleton.rodata->sched_switch_has_prev_state = types.sched_switch_has_prev_state;
  skeleton.rodata->block_rq_has_queue = types.block_rq_has_queue;
  skeleton.rodata->kernel_has_rdonly_cast = types.has_rdonly_cast;
#if defined(__x86_64__)
  skeleton.rodata->preempt_count_from_run_queue = types.preempt_count_from_run_queue;
#endif
  // Without this program, mappings are still looked at once a second.
  if (!options.stacks || !types.has_vm_unmapped_area)
    bpf_program__set_autoload(skeleton.progs.on_vm_unmapped_area, false);
  if (!types.has_block_rq_merge) bpf_program__set_autoload(skeleton.progs.on_block_rq_merge, false);
  for (bpf_program* program : {skeleton.progs.on_contention_begin, skeleton.progs.on_contention_end})
    bpf_program__set_autoload(program, types.has_contention);
  choose_after_switch(skeleton, options, types);
  choose_response_counters(skeleton, types);
  bpf_program__set_autoload(skeleton.progs.list_symbols,
                            options.stacks && types.has_symbol_iterator && kernel_symbols_hidden_from_us());
  bpf_map__set_max_entries(skeleton.maps.events_by_cpu, static_cast<__u32>(cpus));
  bpf_map__set_max_entries(skeleton.maps.mappings_wanted, static_cast<__u32>(::sysconf(_SC_PAGESIZE)));
  bpf_program__set_autoload(skeleton.progs.on_cpu_clock, options.stacks && options.sample_hz != 0);
  if (!types.has_bpf_mem_alloc) {
    // Before 6.1, programs that run in a perf event, or while the run queue is locked, may use only maps
    // whose memory is allocated in advance: 32 KiB for each process.
    constexpr __u32 kProcesses = 256;
    bpf_map__set_map_flags(skeleton.maps.unwalked, 0);
    bpf_map__set_map_flags(skeleton.maps.mappings, 0);
    bpf_map__set_max_entries(skeleton.maps.mappings, kProcesses);
  }
  if (options.stacks) {
    bpf_map__set_max_entries(skeleton.maps.stacks, options.stacks_in_kernel);
    bpf_map__set_max_entries(skeleton.maps.known_stacks,
                             bpf_map__max_entries(skeleton.maps.known_stacks) * static_cast<__u32>(cpus));
  } else {
    bpf_map__set_max_entries(skeleton.maps.stacks, 1);
    bpf_map__set_max_entries(skeleton.maps.known_stacks, 1);
  }
  if (options.probes.empty()) {
    // These programs need a kernel with uprobes.
    for (bpf_program* program :
         {skeleton.progs.spin_begin, skeleton.progs.spin_end, skeleton.progs.spin_release,
          skeleton.progs.false_wakeup, skeleton.progs.counted_call})
      bpf_program__set_autoload(program, false);
    bpf_map__set_max_entries(skeleton.maps.calls, 1);
  }
  return success();
}

Status attach_response_counters(offwait_bpf& skeleton, BpfLinks& links) {
  const auto& programs = skeleton.progs;
  if (!bpf_program__autoload(programs.on_sock_send_length) && !bpf_program__autoload(programs.on_tcp_sendmsg))
    return Error{"this kernel has neither the tracepoint sock_send_length nor the function tcp_sendmsg"};
  for (bpf_program* program :
       {programs.on_tcp_sendmsg, programs.on_unix_stream_sendmsg, programs.on_unix_stream_read_actor})
    OFFWAIT_TRY_STATUS(attach_program(program, links));
  return success();
}

Result<UnwindTables::Maps> create_table_maps(offwait_bpf& skeleton) {
  for (bpf_map* map :
       {skeleton.maps.unwind_superblocks, skeleton.maps.mappings, skeleton.maps.address_spaces}) {
    const bpf_map* const inner = bpf_map__inner_map(map);
    const UniqueFd like_inner = inner == nullptr ? UniqueFd() : create_map(inner);
    UniqueFd created;
    if (inner == nullptr || like_inner) created = create_map(map, inner == nullptr ? 0 : like_inner.get());
    if (!created || bpf_map__reuse_fd(map, created.get()) != 0)
      return libbpf_error(std::string("cannot create the map ") + bpf_map__name(map), errno);
  }
  return UnwindTables::Maps{bpf_map__fd(skeleton.maps.unwind_superblocks),
                            bpf_map__fd(skeleton.maps.mappings), bpf_map__fd(skeleton.maps.address_spaces)};
}

Status set_target(offwait_bpf& skeleton, const CaptureOptions& options) {
  const __u8 one = 1;
  for (const auto& [map, ids] : {std::pair(skeleton.maps.target_tgids, &options.tgids),
                                 std::pair(skeleton.maps.target_tids, &options.tids)}) {
    for (const std::int32_t id : *ids) {
      if (const int error = bpf_map_update_elem(bpf_map__fd(map), &id, &one, BPF_ANY))
        return libbpf_error("cannot set the target", error);
    }
  }
  return success();
}

Status attach_tracepoints(offwait_bpf& skeleton, BpfLinks& links) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton.obj) {
    if (bpf_program__expected_attach_type(program) == BPF_TRACE_RAW_TP)
      OFFWAIT_TRY_STATUS(attach_program(program, links));
  }
  return success();
}

Result<UniqueFd> attach_after_switch(offwait_bpf& skeleton, BpfLinks& links) {
  if (!bpf_program__autoload(skeleton.progs.on_event_sched_in)) return UniqueFd();
  perf_event_attr nothing{};
  nothing.type = PERF_TYPE_SOFTWARE;
  nothing.config = PERF_COUNT_SW_DUMMY;
  nothing.disabled = 1;
  nothing.exclude_kernel = 1;
  constexpr pid_t kThisThread = 0;
  constexpr int kAnyCpu = -1;
  UniqueFd event = open_perf_event(nothing, kThisThread, kAnyCpu);
  if (!event) return Error{std::string("perf_event_open: ") + std::strerror(errno)};
  OFFWAIT_TRY_STATUS(attach_program(skeleton.progs.on_event_sched_in, links));
  return event;
}

Status attach_probes(offwait_bpf& skeleton, const std::vector<Probe>& probes, BpfLinks& links,
                     std::vector<std::string>& notes) {
  for (const Probe& probe : probes) {
    const Status attached = attach_probe(skeleton, probe, links);
    if (attached) continue;
    if (probe.asked_for) return attached.error();
    notes.push_back("annotations of the target (annotate.h) were not recorded: " + attached.error().message);
    break;
  }
  return success();
}

}  // namespace offwait
